// SPDX-License-Identifier: BSL-1.0
// Mapped files, their parts, and files that are unpacked.
#include "support/catch.hpp"
#include "support/temporary.hpp"
#include "support/watched.hpp"
#include <shardwise/io.hpp>
#include <shardwise/io/unpack.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <vector>
#include <zlib.h>

using namespace shardwise;

using support::temporary;

namespace {

std::string text_of(const file_bytes& bytes) { return std::string(bytes.text()); }

/// One member of gzip.
std::string packed(const std::string& bytes) {
  const temporary file("packed-member.gz");
  gzFile to = gzopen(file.path().c_str(), "wb");
  REQUIRE(gzwrite(to, bytes.data(), static_cast<unsigned>(bytes.size())) == int(bytes.size()));
  REQUIRE(gzclose(to) == Z_OK);
  return file.read();
}
/// Bytes that deflate does not make much shorter.
std::string noise(std::size_t count) {
  std::string out(count, ' ');
  unsigned x = 1;
  for (char& c : out) c = static_cast<char>((x = x * 1664525U + 1013904223U) >> 24);
  return out;
}
/// Private memory of this process that can be written, in bytes.
rlim_t written_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmData:") {
      rlim_t kib = 0;
      status >> kib;
      return kib * 1024;
    }
  return 0;
}
std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("a file is mapped, and so is an empty one") {
  const temporary file("mapped");
  file.write("seven b");
  const file_bytes all(file.path());
  REQUIRE(all.size() == 7);
  REQUIRE(all.name() == file.path());
  REQUIRE(text_of(all) == "seven b");
  REQUIRE(text_of(all.part(2, 3)) == "ven");
  REQUIRE(text_of(all.part(2, 5, "a part").part(4, 1)) == "b");
  // What is at the end of the file, and has no bytes.
  REQUIRE(all.part(7, 0).bytes().empty());
  REQUIRE(all.bytes(7, 0).empty());
  REQUIRE_THROWS_WITH(all.part(1, 5, "a part").bytes(3, 3),
                      contains("file_is_malformed") &&
                          contains("a part: it has 5 bytes, and 3 from byte 3 on were expected"));
  REQUIRE_THROWS_WITH(all.bytes(-1, 3), contains("from byte -1"));
  REQUIRE_THROWS_WITH(all.bytes(1, INT64_MAX), contains("from byte 1 on"));

  file.write("");
  const file_bytes nothing(file.path());
  REQUIRE(nothing.size() == 0);
  REQUIRE(nothing.bytes().empty());
  REQUIRE(file_bytes().bytes().empty());

  REQUIRE_THROWS_WITH(mapped_file("/no/such/file"),
                      contains("file_is_not_readable") && contains("No such file"));
  REQUIRE_THROWS_WITH(mapped_file("/tmp"), contains("it is no regular file"));
}

TEST_CASE("a file that is cut while it is mapped is an error that names it") {
  const temporary file("mapped-cut");
  file.write(std::string(10000, 'x'));
  const file_bytes all(file.path());
  const file_bytes part = all.part(0, 1);
  std::filesystem::resize_file(file.path(), 9999);
  for (const file_bytes& each : {all, part})
    REQUIRE_THROWS_WITH(each.bytes(), contains("file_is_not_readable") && contains(file.path()) &&
                                          contains("it had 10000 bytes when it was opened, and "
                                                   "has 9999"));
  std::filesystem::resize_file(file.path(), 10001);
  REQUIRE(all.bytes().size() == 10000);
}

TEST_CASE("more files are mapped than a process may have open") {
  const temporary folder("many-mapped");
  std::filesystem::create_directory(folder.path());
  constexpr int many = 500;
  const auto name = [&](int i) { return folder.path() + "/" + std::to_string(i); };
  for (int i = 0; i < many; ++i) std::ofstream(name(i)) << i;
  rlimit old{}, lower{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &old) == 0);
  lower = {256, old.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &lower) == 0);
  const std::size_t before = descriptors();
  std::vector<file_bytes> all;
  std::string failure;
  try {
    for (int i = 0; i < many; ++i) all.emplace_back(name(i));
  } catch (const error& refused) {
    failure = refused.what();
  }
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &old) == 0);
  REQUIRE(failure.empty());
  REQUIRE(descriptors() == before);
  for (int i = 0; i < many; ++i)
    REQUIRE(text_of(all[static_cast<std::size_t>(i)]) == std::to_string(i));
  // A file that another one has replaced stays as it was.
  std::ofstream(name(many)) << "";
  std::filesystem::rename(name(many), name(17));
  REQUIRE(text_of(all[17]) == "17");
  std::filesystem::remove_all(folder.path());
}

TEST_CASE("what is packed by gzip is unpacked, all members, under any name") {
  const temporary file("members");
  const std::string first = noise(100000), second(300000, 'z');
  file.write(packed(first) + packed("") + packed(second) + std::string(512, '\0'));
  const std::string both = first + second;
  REQUIRE(text_of(open_unpacked(file.path())) == both);
  for (const index_t memory : {0_KiB, 64_KiB, 390_KiB, 391_KiB, 1_MiB})
    REQUIRE(text_of(open_unpacked(file.path(), {.memory = memory})) == both);

  file.write(packed(""));
  REQUIRE(open_unpacked(file.path()).bytes().empty());
  file.write("\x1f");
  REQUIRE(text_of(open_unpacked(file.path())) == "\x1f");

  const std::string whole = packed(first);
  file.write(whole + "more");
  REQUIRE_THROWS_WITH(
      open_unpacked(file.path()),
      contains("at byte " + std::to_string(whole.size())) && contains("6d 6f 72 65 (\"more\")"));
  file.write(whole.substr(0, whole.size() - 1));
  REQUIRE_THROWS_WITH(open_unpacked(file.path()),
                      contains("go on after its end, at byte " + std::to_string(whole.size() - 1)));
  std::string damaged = whole;
  damaged[whole.size() - 6] ^= 1;  // of the checksum
  file.write(damaged);
  REQUIRE_THROWS_WITH(open_unpacked(file.path()),
                      contains("file_is_malformed") && contains("incorrect data check"));
  file.write("\x1f\x8b nothing");
  REQUIRE_THROWS_WITH(open_unpacked(file.path()), contains("damaged before byte"));
}

TEST_CASE("tables that are packed are read as others are") {
  const temporary file("table.csv.gz");
  file.write(packed("a,b\n1,2\n") + packed("3,\"4\"\n"));
  const csv_file table(open_unpacked(file.path()));
  REQUIRE(table.rows() == 2);
  REQUIRE(table.get<int>(1, table.column("b")) == 4);
}

TEST_CASE("what is unpacked needs no more memory than the bound, and leaves nothing") {
  const temporary file("bound.gz");
  const std::string part = noise(1U << 20U);
  std::string parts;
  for (int i = 0; i < 48; ++i) parts += packed(part);
  file.write(parts);
  const std::size_t before = descriptors();
  const temporary folder("bound-folder");
  std::filesystem::create_directory(folder.path());
  if (!support::is_watched) {
    // Of memory of its own, the process may have 8 MiB more than it has now.
    rlimit old{}, lower{};
    REQUIRE(::getrlimit(RLIMIT_DATA, &old) == 0);
    lower = {written_memory() + (8U << 20U), old.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_DATA, &lower) == 0);
    bool failed = false;
    index_t size = 0;
    try {
      size = open_unpacked(file.path(), {.memory = 1_MiB, .folder = folder.path()}).size();
      (void)open_unpacked(file.path(), {.memory = 32_MiB});
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    REQUIRE(::setrlimit(RLIMIT_DATA, &old) == 0);
    REQUIRE(size == 48_MiB);
    REQUIRE(failed);
  }
  {
    const file_bytes all = open_unpacked(file.path(), {.memory = 1_MiB, .folder = folder.path()});
    REQUIRE(std::filesystem::is_empty(folder.path()));
    for (index_t i = 0; i < 48; ++i) REQUIRE(text_of(all.part(i << 20, 1_MiB)) == part);
  }
  REQUIRE(descriptors() == before);
  REQUIRE_THROWS_WITH(open_unpacked(file.path(), {.memory = 1_MiB, .folder = "/no/such/folder"}),
                      contains("file_is_not_writable") && contains("/no/such/folder"));
  std::filesystem::remove(folder.path());
}
