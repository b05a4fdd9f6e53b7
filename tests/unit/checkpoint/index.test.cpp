// SPDX-License-Identifier: BSL-1.0
// The texts of lists of pieces and of indices.
#include "support/catch.hpp"
#include <shardwise/checkpoint/checkpoint_index.hpp>
#include <shardwise/shardwise.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

/// A dimension of a piece: a range of indices.
held_range indices(index_t begin, index_t end) { return {{begin, end}, {}, 0}; }

checkpoint_piece piece_of(std::vector<held_range> dimensions, index_t begin, std::uint64_t sum) {
  checkpoint_piece piece;
  for (const held_range& each : dimensions) piece.box.push_back(each);
  piece.begin = begin;
  piece.checksums = {sum};
  return piece;
}

checkpoint_part some_part() {
  checkpoint_part part{.file = "part-1-of-2.safetensors", .header = 120, .bytes = 64};
  checkpoint_tensor& w = part.tensors["w"];
  w.extents = {6, 4};
  w.layout = "f32[6@x, 4]";
  w.pieces.push_back(piece_of({indices(0, 2), indices(0, 4)}, 0, 0x0123456789abcdefU));
  const grained_split blocks{grain::cyclic(2), 6, 2};
  w.pieces.push_back(piece_of({indices(2, 4), indices(1, 3)}, 48, 7));
  checkpoint_tensor& g = part.tensors["g"];
  g.type = element::i8;
  g.extents = {6};
  g.pieces.push_back(piece_of({{{blocks.offset(1), blocks.offset(2)}, blocks, 1}}, 32, 1));
  part.tensors["empty"].extents = {0, 3};
  part.tensors["scalar"].pieces.push_back(piece_of({}, 36, 2));
  return part;
}

}  // namespace

TEST_CASE("a list of pieces reads back equal") {
  const std::string text = write_checkpoint_part(some_part());
  const read_json<checkpoint_part> read = parse_checkpoint_part(text);
  REQUIRE(read.reason.empty());
  REQUIRE(read.value.file == "part-1-of-2.safetensors");
  REQUIRE(read.value.header == 120);
  REQUIRE(read.value.bytes == 64);
  REQUIRE(read.value.tensors.size() == 4);
  const checkpoint_tensor& w = read.value.tensors.at("w");
  REQUIRE(w.extents == extents_desc{6, 4});
  REQUIRE(w.layout == "f32[6@x, 4]");
  REQUIRE(w.pieces[0].checksums[0] == 0x0123456789abcdefU);
  REQUIRE(w.pieces[1].box[1].range.begin == 1);
  const held_range& held = read.value.tensors.at("g").pieces[0].box[0];
  REQUIRE(held.size() == 2);
  REQUIRE(held.global(0) == 2);
  REQUIRE(held.global(1) == 3);
  REQUIRE(write_checkpoint_part(read.value) == text);
  checkpoint_part wrong = some_part();
  wrong.tensors["\xff"] = {};
  REQUIRE(write_checkpoint_part(wrong).empty());
}

TEST_CASE("a list whose sizes or names cannot be is refused, with the tensor and the reason") {
  const std::string text = write_checkpoint_part(some_part());
  const auto reason = [&](const std::string& from, const std::string& to) {
    return parse_checkpoint_part(replaced(text, from, to)).reason;
  };
  REQUIRE_THAT(parse_checkpoint_part("").reason, contains("JSON"));
  REQUIRE_THAT(parse_checkpoint_part("[]").reason, contains("JSON"));
  REQUIRE_THAT(parse_checkpoint_part(text.substr(0, text.size() - 3)).reason, contains("JSON"));
  REQUIRE_THAT(parse_checkpoint_part("{\"a\":" + std::string(100, '[')).reason,
               contains("nested too deeply"));
  for (const char* file : {"../x", "/x", "x/y", "..", ".", "", "a\\u0000b"})
    REQUIRE_THAT(reason("part-1-of-2.safetensors", file), contains("'file'"));
  REQUIRE_THAT(reason("\"g\":", "\"w\":"), contains("'w'") && contains("twice"));
  REQUIRE_THAT(reason("\"bytes\":64", "\"bytes\":64,\"bytes\":64"), contains("twice"));
  REQUIRE_THAT(reason("\"bytes\":64", "\"bytes\":-1"), contains("'bytes'"));
  REQUIRE_THAT(reason("\"bytes\":64", "\"bytes\":63"), contains("'w'"));
  REQUIRE_THAT(reason("\"bytes\":64", "\"bytes\":6.4e1"), contains("'bytes'"));
  REQUIRE_THAT(reason("[6,4]", "[6,4,1]"), contains("'w'"));
  REQUIRE_THAT(reason("[6,4]", "[4294967296,4294967296]"), contains("'w'") && contains("shape"));
  REQUIRE_THAT(reason("[6,4]", "[1,1,1,1,1,1,1,1,1]"), contains("8 dimensions"));
  REQUIRE_THAT(reason("[6,4]", "[3,4]"), contains("'w'") && contains("range"));
  REQUIRE_THAT(reason("[[0,2],[0,4]]", "[[2,2],[0,4]]"), contains("'w'") && contains("empty"));
  REQUIRE_THAT(reason("[[0,2],[0,4]]", "[[0,2],[4,0]]"), contains("'w'"));
  REQUIRE_THAT(reason("[[0,2],[0,4]]", "[[0,2]]"), contains("'w'"));
  REQUIRE_THAT(reason("\"I8\"", "\"I9\""), contains("'g'") && contains("I9"));
  REQUIRE_THAT(reason("0123456789abcdef", "0123456789ABCDEF"), contains("16"));
  REQUIRE_THAT(reason("0123456789abcdef", "123456789abcdef"), contains("16"));
  REQUIRE_THAT(reason("[\"0123456789abcdef\"]", "[]"), contains("'w'") && contains("MiB"));
  // Blocks: grain, parts, position.
  for (const char* blocks :
       {"[2,2,2]", "[2,0,0]", "[0,2,1]", "[-1,2,1]", "[2,2,-1]", "[2,2]", "[2,2,1,1]", "[1e3,2,1]",
        "[4294967298,2,1]", "[-1073741825,2,1]", "[2,9223372036854775807,1]"})
    REQUIRE_THAT(reason("[2,2,1]", blocks), contains("'g'"));
  // Positions that have nothing: those of strided splits divide by their size.
  for (const char* nothing : {"[2,9,5]", "[-3,4,3]", "[-6,2,1]"})
    REQUIRE_THAT(reason("[2,2,1]", nothing), contains("'g'"));
}

TEST_CASE("an index reads back equal, and a change to its text is refused") {
  checkpoint_index index;
  index.parts = {{"part-1-of-2.json", 1}, {"part-2-of-2.json", 0xffffffffffffffffU}};
  index.metadata = {{"", ""}, {"step", "7\n\""}};
  index.managed = managed_step{1000, 0.1};
  const std::string text = write_checkpoint_index(index);
  const read_json<checkpoint_index> read = parse_checkpoint_index(text);
  REQUIRE(read.reason.empty());
  REQUIRE(read.value.metadata == index.metadata);
  REQUIRE(read.value.managed == index.managed);
  REQUIRE(read.value.parts[1].list == "part-2-of-2.json");
  REQUIRE(read.value.parts[1].checksum == 0xffffffffffffffffU);
  REQUIRE(write_checkpoint_index(read.value) == text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    REQUIRE(!parse_checkpoint_index(changed).ok());
    REQUIRE(!parse_checkpoint_index(text.substr(0, i)).ok());
  }
  REQUIRE(!parse_checkpoint_index(text + "\n").ok());
  index.parts[1].list = "part-1-of-2.json";
  REQUIRE_THAT(parse_checkpoint_index(write_checkpoint_index(index)).reason, contains("twice"));
  index.parts[1].list = "../x";
  REQUIRE_THAT(parse_checkpoint_index(write_checkpoint_index(index)).reason, contains("'list'"));
  index.metadata["\xff"] = "";
  REQUIRE(write_checkpoint_index(index).empty());
}
