// SPDX-License-Identifier: BSL-1.0
// IDX files: reading plain and compressed files, and errors.
#include "support/catch.hpp"
#include <shardwise/data.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace shardwise;

namespace {

struct scratch {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("shardwise-idx-" + std::to_string(::getpid()));
  scratch() { std::filesystem::create_directories(folder); }
  ~scratch() { std::filesystem::remove_all(folder); }
  [[nodiscard]] std::string file(const char* name) const { return (folder / name).string(); }
};

std::string header(std::vector<unsigned> sizes, char type = 8) {
  std::string out{'\0', '\0', type, static_cast<char>(sizes.size())};
  for (unsigned size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift & 255U);
  return out;
}
void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}
void pack(const std::string& path, const std::string& bytes) {
  gzFile to = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(to, bytes.data(), static_cast<unsigned>(bytes.size())) == int(bytes.size()));
  REQUIRE(gzclose(to) == Z_OK);
}
violation refusal(const std::string& path) {
  try {
    (void)read_idx(path);
  } catch (const error& refused) {
    return refused.code();
  }
  return violation::nothing;
}

}  // namespace

TEST_CASE("IDX files are read, plain and packed") {
  const scratch at;
  std::string bytes = header({3, 2});
  for (char c : {'\1', '\2', '\3', '\4', '\5', '\xff'}) bytes += c;
  write(at.file("plain"), bytes);
  pack(at.file("packed.gz"), bytes);
  for (const char* name : {"plain", "packed.gz"}) {
    const idx_array read = read_idx(at.file(name));
    REQUIRE(read.extents == extents_desc{3, 2});
    REQUIRE(read.bytes == std::vector<std::uint8_t>{1, 2, 3, 4, 5, 255});
  }
  write(at.file("empty"), header({0, 4}));
  REQUIRE(read_idx(at.file("empty")).bytes.empty());
}

TEST_CASE("memory for an IDX file is bounded by its header and by what its bytes can hold") {
  const scratch at;
  // 4 MiB of zeros, in about 4 KiB.
  const std::string zeros(std::size_t{1} << 22U, '\0');
  pack(at.file("zeros.gz"), header({1U << 22U}) + zeros);
  REQUIRE(read_idx(at.file("zeros.gz")).bytes.size() == zeros.size());
  REQUIRE(read_idx(at.file("zeros.gz")).bytes.capacity() == zeros.size());
  // As many bytes as the packed ones could hold, if they were others, are looked for; more are not.
  pack(at.file("more.gz"), header({(1U << 22U) + 1}) + zeros);
  REQUIRE_THROWS_WITH(read_idx(at.file("more.gz")), contains("it ends before the 4194305 bytes"));
  for (const std::vector<unsigned>& sizes :
       {std::vector<unsigned>{1U << 24U}, {1U << 20U, 1U << 20U}, {3000000000U}}) {
    pack(at.file("header.gz"), header(sizes) + zeros);
    REQUIRE_THROWS_WITH(read_idx(at.file("header.gz")), contains("file_is_malformed") &&
                                                            contains("its header says") &&
                                                            contains("when they are unpacked"));
  }
  write(at.file("plain"), header({1, 7}) + "sixsix");
  REQUIRE_THROWS_WITH(read_idx(at.file("plain")),
                      contains("says 7 bytes, and its 18 bytes hold at most 6 after it"));
  // A pipe has no size: its end tells.
  REQUIRE(::mkfifo(at.file("pipe").c_str(), 0600) == 0);
  std::thread writer([&] { write(at.file("pipe"), header({2, 3}) + "sixsix"); });
  const idx_array piped = read_idx(at.file("pipe"));
  writer.join();
  REQUIRE(piped.bytes == std::vector<std::uint8_t>{'s', 'i', 'x', 's', 'i', 'x'});
}

TEST_CASE("IDX files that do not hold what their header says are refused") {
  const scratch at;
  REQUIRE(refusal(at.file("missing")) == violation::file_is_not_readable);
  write(at.file("right"), header({1}) + "x");
  REQUIRE_THROWS_WITH(
      read_idx(at.file("right") + std::string("\0cut", 4)),
      contains("file_is_not_readable") && contains("a path ends at its first zero"));
  const std::string body(6, 'x');
  const std::vector<std::string> wrong = {
      "", "\1", header({3, 2}) + "short", header({3, 2}) + body + "y", header({3, 2}, 13) + body,
      header({}), header({1, 1, 1, 1, 1, 1, 1, 1, 1}) + "x", header({3, 2}).substr(0, 9),
      "ab" + (header({3, 2}) + body).substr(2),
      // Sizes whose product overflows or exceeds the file.
      header({0xffffffffU, 0xffffffffU, 0xffffffffU}), header({0xffffU, 0xffffU}) + body};
  for (const std::string& bytes : wrong) {
    write(at.file("wrong"), bytes);
    REQUIRE(refusal(at.file("wrong")) == violation::file_is_malformed);
  }
  // A truncated compressed file.
  std::string noise = header({4096});
  for (unsigned i = 0, x = 1; i < 4096; ++i)
    noise += static_cast<char>((x = x * 1664525U + 1013904223U) >> 24);
  pack(at.file("cut.gz"), noise);
  std::filesystem::resize_file(at.file("cut.gz"),
                               std::filesystem::file_size(at.file("cut.gz")) / 2);
  REQUIRE(refusal(at.file("cut.gz")) == violation::file_is_malformed);
}
