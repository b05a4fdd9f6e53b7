// SPDX-License-Identifier: BSL-1.0
// NPZ files: zip files that are written and read, of zip64 too, and files that are refused.
#include "support/catch.hpp"
#include "support/temporary.hpp"
#include <shardwise/io.hpp>
#include <shardwise/io/npz.hpp>
#include <shardwise/shardwise.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace shardwise;
using detail::zip_writer;
using support::temporary;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 3>> {};
using W = sharded_tensor<float, extents<4, 3>, layout<pod, P<"data", "model">>>;
using B = sharded_tensor<std::int8_t, extents<dyn>, layout<pod, P<none>>>;

struct model {
  std::vector<W> layers;
  B bias;
  std::optional<W> scale;
};

/// A member as the test wants it, and what its entry of the directory says.
struct member {
  std::string name{};
  std::string bytes{};
  std::string shown = bytes;  ///< what its checksum is of
  std::uint64_t says_bytes = bytes.size();
  int method = 0, flags = 0;
  bool local_is_zip64 = false;  ///< as NumPy writes even small ones
};

/// A zip file of members; `is_zip64` writes each number of the directory elsewhere.
std::string zip_of(const std::vector<member>& members, bool is_zip64 = false) {
  std::string out, directory;
  for (const member& each : members) {
    const std::uint32_t checksum = detail::add_to_checksum(0, std::as_bytes(std::span(each.shown)));
    const std::uint64_t size = each.bytes.size(), place = out.size();
    zip_writer local;
    const bool has_extra = each.local_is_zip64;
    local.four(detail::zip_member).two(45).two(0).two(0).two(0).two(33).four(checksum);
    local.four(has_extra ? detail::zip_elsewhere : size);
    local.four(has_extra ? detail::zip_elsewhere : size);
    local.two(each.name.size()).two(has_extra ? 20 : 0).text(each.name);
    if (has_extra) local.two(1).two(16).eight(size).eight(size);
    out += local.words() + each.bytes;
    zip_writer entry;
    entry.four(detail::zip_entry).two(45).two(45).two(unsigned(each.flags));
    entry.two(unsigned(each.method)).two(0).two(33).four(checksum);
    entry.four(is_zip64 ? detail::zip_elsewhere : size);
    entry.four(is_zip64 ? detail::zip_elsewhere : each.says_bytes);
    entry.two(each.name.size()).two(is_zip64 ? 4 + 28 : 0).two(0).two(0).two(0).four(0);
    entry.four(is_zip64 ? detail::zip_elsewhere : place).text(each.name);
    // Another field may come before.
    if (is_zip64)
      entry.two(7).two(0).two(1).two(24).eight(each.says_bytes).eight(size).eight(place);
    directory += entry.words();
  }
  const std::uint64_t begin = out.size(), end = begin + directory.size();
  zip_writer last;
  if (is_zip64) {
    last.four(detail::zip64_end).eight(44).two(45).two(45).four(0).four(0);
    last.eight(members.size()).eight(members.size()).eight(directory.size()).eight(begin);
    last.four(detail::zip64_locator).four(0).eight(end).four(1);
  }
  last.four(detail::zip_end).two(0).two(0);
  last.two(is_zip64 ? 0xffff : members.size()).two(is_zip64 ? 0xffff : members.size());
  last.four(is_zip64 ? detail::zip_elsewhere : directory.size());
  last.four(is_zip64 ? detail::zip_elsewhere : begin).two(0);
  return out + directory + last.words();
}
std::string npy_of(const std::vector<std::uint8_t>& numbers) {
  return write_npy_header(element::u8, {static_cast<index_t>(numbers.size())}) +
         std::string(numbers.begin(), numbers.end());
}
std::vector<std::uint8_t> numbers_of(const file_array& array) {
  const host_tensor<std::uint8_t> all = read_array<std::uint8_t>(array);
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("the tensors of a nest are saved as NPZ and loaded by name, stored or packed") {
  const temporary file("saved.npz");
  const device_pool pool{pod{}};
  const W w = iota<W>(pool);
  const B bias = generate<B>(
      pool, [](const global_index& at) { return static_cast<std::int8_t>(at[0] % 100); }, 5000);
  const model saved{{w, w * 2.0F}, bias, std::nullopt};
  std::size_t sizes[2]{};
  for (const zip_method how : {zip_method::stored, zip_method::deflated}) {
    save_npz(file.path(), saved, how);
    sizes[how == zip_method::stored ? 0 : 1] = file.read().size();
    const npz_file open(file.path());
    REQUIRE(open.names() == std::vector<std::string>{"layers.0", "layers.1", "bias"});
    REQUIRE(open.contains("bias"));
    REQUIRE(!open.contains("bias.npy"));
    REQUIRE(open.header("layers.1").shape == std::vector<index_t>{4, 3});
    REQUIRE(open.header("bias").type == element::i8);
    REQUIRE(to_host(load_array<W>(pool, open["layers.1"])) == to_host(saved.layers[1]));
    REQUIRE(to_host(load_array<B>(pool, open["bias"])) == to_host(bias));
    // What is packed may be unpacked into a file.
    const npz_file bounded(file.path(), {.memory = 0});
    REQUIRE(to_host(load_array<B>(pool, bounded["bias"])) == to_host(bias));
  }
  REQUIRE(sizes[1] * 2 < sizes[0]);
  save_npz(file.path(), w);
  REQUIRE(npz_file(file.path()).names() == std::vector<std::string>{"tensor"});
  save_npz(file.path(), state_dict(saved, "model").matching("*.bias"));
  REQUIRE(npz_file(file.path()).names() == std::vector<std::string>{"model.bias"});
  REQUIRE_THROWS_WITH(save_npz(file.path(), state_dict(saved).matching("none")),
                      contains("pattern_matches_nothing"));
}

TEST_CASE("sizes of an NPZ file are those of its directory, also of zip64") {
  const temporary file("zip64.npz");
  const std::vector<member> members = {
      {.name = "a.npy", .bytes = npy_of({1}), .local_is_zip64 = true},
      {.name = "b.npy", .bytes = npy_of({}), .local_is_zip64 = true},
      {.name = "c.npy", .bytes = npy_of({2, 3})}};
  for (const bool is_zip64 : {false, true}) {
    file.write(zip_of(members, is_zip64));
    const npz_file open(file.path());
    REQUIRE(open.names() == std::vector<std::string>{"a", "b", "c"});
    REQUIRE(numbers_of(open["a"]) == std::vector<std::uint8_t>{1});
    REQUIRE(numbers_of(open["b"]).empty());
    REQUIRE(numbers_of(open["c"]) == std::vector<std::uint8_t>{2, 3});
  }
  // A comment, which may look like an end.
  std::string with_comment = zip_of(members);
  const std::string comment = "PK\5\6 and more";
  with_comment[with_comment.size() - 2] = static_cast<char>(comment.size());
  file.write(with_comment + comment);
  REQUIRE(npz_file(file.path()).names().size() == 3);
  file.write(zip_of({}));
  REQUIRE(npz_file(file.path()).names().empty());
}

TEST_CASE("NPZ files that NumPy has written are read, all arrays") {
  for (const char* name : {"stored.npz", "packed.npz"}) {
    const npz_file open(std::string("tests/unit/io/fixtures/") + name);
    REQUIRE(open.names() == std::vector<std::string>{"a", "b", "c"});
    REQUIRE(open.header("b").is_fortran);
    REQUIRE(read_array<float>(open["a"])(1, 2) == 5.0F);
    REQUIRE(read_array<std::int32_t>(open["b"])(2, 0) == 4);
    REQUIRE(read_array<bool>(open["c"]).value());
  }
}

TEST_CASE("NPZ files that are none are refused with the place or the member") {
  const temporary file("refused.npz");
  const std::string right = zip_of({{.name = "a.npy", .bytes = npy_of({1, 2})}});
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    file.write(bytes);
    REQUIRE_THROWS_WITH(npz_file(file.path())["a"],
                        contains("file_is_malformed") && contains(file.path()) && contains(why));
  };
  refused("", "it begins with nothing");
  refused("<!doctype html><title>404</title>", "3c 21 64 6f");
  refused(right.substr(0, right.size() - 1), "the end of a zip file, 50 4b 05 06");
  // Each number of the end and of the entry, with another value.
  const std::size_t end = right.size() - 22, entry = end - 46 - 5;
  const auto changed = [&](std::size_t place, char value) {
    std::string out = right;
    out[place] = value;
    return out;
  };
  refused(changed(end + 4, 1), "a zip file in one part");
  refused(changed(end + 10, 2), "has 51 bytes, and says 2 members");
  refused(changed(end + 11, 1), "has 51 bytes, and says 257 members");
  refused(changed(end + 12, 1), "a directory that ends here");
  refused(changed(end + 19, 127), "the place of the directory was expected");
  refused(changed(entry, 'x'), "an entry of the directory, 50 4b 01 02");
  refused(changed(entry + 8, 1), "a.npy: it is encrypted");
  refused(changed(entry + 10, 12), "it is packed by method 12 of zip");
  refused(changed(entry + 16, '\x7f'), "another checksum, CRC-32");
  refused(changed(entry + 20, 0), "the directory says 130 bytes, and its 0 bytes hold 0");
  refused(changed(entry + 23, 127), "a member whose bytes are in the file");
  refused(changed(entry + 24, 0), "the directory says 0 bytes");
  refused(changed(entry + 28, 99), "a whole entry of the directory");
  refused(changed(entry + 42, 1), "the header of a member, 50 4b 03 04");
  refused(changed(entry + 45, 127), "a member whose place is in the file");
  refused(changed(0, 'x'), "not as a zip file does");
  refused(changed(3, 'x'), "the header of a member, 50 4b 03 04");
  refused(changed(26, 99), "bytes of 'a.npy'");
  // Four bytes of each number of zip64 are missing.
  std::string zip64 = zip_of({{.name = "a.npy", .bytes = npy_of({1, 2})}}, true);
  zip64[zip64.size() - 22 - 20 - 56 - 26] = 20;
  refused(zip64, "an entry with all numbers of zip64");
  zip64[zip64.size() - 22 - 20 - 56 - 26] = 99;
  refused(zip64, "an entry whose extra fields end in it");

  const auto packed = [&](const std::string& bytes, std::uint64_t says, const std::string& why) {
    refused(zip_of({{.name = "a.npy", .bytes = bytes, .says_bytes = says, .method = 8}}), why);
  };
  packed("\xff\xff", 100, "its packed data are damaged before byte");
  packed(std::string("\3\0", 2), 100, "the directory says 100 bytes, and it has 0");
  packed(std::string("\3\0", 2), 100000, "says 100000 bytes, and its 2 bytes hold at most 2064");
  packed(std::string("\3\0more", 6), 100, "its packed data end at byte 2, and it has 6");
  packed("\3", 100, "its packed data go on after its end");

  refused(zip_of({{.name = "a.npy", .bytes = "text"}}), "a.npy: it begins with 74 65 78 74");
  refused(zip_of({{.name = "a.npy"}, {.name = "a"}}), "two of its members are called 'a'");
  file.write(right);
  REQUIRE_THROWS_WITH(npz_file(file.path())["b"],
                      contains("tensor_is_not_in_file") && contains("'b'; it has 'a'"));
  REQUIRE_THROWS_WITH(npz_file(file.path()).header("b"), contains("tensor_is_not_in_file"));
}
