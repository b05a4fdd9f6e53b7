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

TEST_CASE("IDX files of several members, and files that are none, are told apart by their bytes") {
  const scratch at;
  const std::string bytes = header({2, 3}) + "sixsix";
  pack(at.file("one.gz"), bytes.substr(0, 7));
  pack(at.file("two.gz"), bytes.substr(7));
  const auto read = [&](const char* name) {
    std::ifstream in(at.file(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  write(at.file("both.gz"), read("one.gz") + read("two.gz"));
  pack(at.file("plain"), bytes);  // packed all the same
  for (const char* name : {"both.gz", "plain"}) {
    const idx_array whole = read_idx(at.file(name));
    REQUIRE(whole.extents == extents_desc{2, 3});
    REQUIRE(std::string(whole.bytes.begin(), whole.bytes.end()) == "sixsix");
    std::string row(3, ' ');
    open_idx(at.file(name))
        .read_rows(1, std::span(reinterpret_cast<std::uint8_t*>(row.data()), row.size()));
    REQUIRE(row == "six");
  }
  write(at.file("page.gz"), "<!doctype html><title>404</title>");
  const auto refused = [](const auto& call) {
    REQUIRE_THROWS_WITH(
        call(), contains("file_is_malformed") && contains("3c 21 64 6f (\"<!do\")") &&
                    contains("not as an IDX file does") && contains("packed by gzip, with 1f 8b"));
  };
  refused([&] { (void)read_idx(at.file("page.gz")); });
  refused([&] { (void)open_idx(at.file("page.gz")); });
  write(at.file("short"), "ab");
  REQUIRE_THROWS_WITH(read_idx(at.file("short")), contains("61 62 (\"ab\"), and is shorter"));
}

TEST_CASE("an IDX file is opened as an array of any elements, and nothing is read before") {
  const scratch at;
  write(at.file("floats"), header({2, 2}, 13) + std::string("\x3f\x80\0\0\xbf\x80\0\0"
                                                            "\x40\0\0\0\x40\x49\x0f\xdb",
                                                            16));
  const file_array floats = open_idx(at.file("floats"));
  REQUIRE(floats.type == element::f32);
  REQUIRE(floats.is_swapped);
  float rows[4]{};
  floats.read_rows(0, std::span<float>(rows));
  REQUIRE(std::vector<float>(rows, rows + 4) == std::vector<float>{1, -1, 2, 3.14159274F});
  std::int32_t whole[2]{};
  floats.read_rows(1, std::span<std::int32_t>(whole), stored_elements::converted);
  REQUIRE((whole[0] == 2 && whole[1] == 3));
  REQUIRE_THROWS_WITH(floats.read_rows(1, std::span<std::int32_t>(whole)),
                      contains("stored_tensor_differs") && contains("elements of f32, not i32"));
  REQUIRE_THROWS_WITH(floats.read_rows(0, std::span<float>(rows, 3)), contains("no whole rows"));
  REQUIRE_THROWS_WITH(floats.read_rows(1, std::span<float>(rows)),
                      contains("index_is_out_of_range"));
  REQUIRE_THROWS_WITH(read_idx(at.file("floats")), contains("open_idx reads others"));

  write(at.file("shorts"), header({1, 2}, 11) + "abcd");
  const file_array shorts = open_idx(at.file("shorts"));
  REQUIRE(!shorts.is_loadable());
  REQUIRE_THROWS_WITH(shorts.require_elements(element::i32), contains("elements of i16"));

  write(at.file("bytes"), header({0, 4}));
  REQUIRE(open_idx(at.file("bytes")).rows() == 0);
  write(at.file("bytes"), header({3, 2}) + "abcdef");
  const auto in_place = open_idx(at.file("bytes")).in_place<std::uint8_t>();
  REQUIRE(in_place.size() == 6);
  write(at.file("bytes"), header({3, 2}) + "abcdefg");
  REQUIRE_THROWS_WITH(open_idx(at.file("bytes")), contains("says 6 bytes, and it has 7 after it"));
}
