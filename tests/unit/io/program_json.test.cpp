// SPDX-License-Identifier: BSL-1.0
// Programs as JSON: the form, what may be left out, and where a text is wrong. That all programs
// read back equal is a property; see tests/property/round_trip.hpp.
#include "support/catch.hpp"
#include <shardwise/io/program_json.hpp>
#include <shardwise/operation/catalogue.hpp>
#include <shardwise/plan/listing.hpp>
#include <shardwise/shardwise.hpp>

#include <bit>
#include <limits>
#include <sstream>
#include <string>

namespace {

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<16, 32>, layout<pod, P<none, "model">>>;

/// A program of one input and these steps, whose result is the last one.
std::string text_of(const std::string& steps, const std::string& result = "y",
                    const std::string& mesh = "data=2,model=4") {
  return R"({"version": 1, "mesh": ")" + mesh +
         R"(", "inputs": [{"name": "x", "type": "f32[8@data, 16]"}], "steps": [)" + steps +
         R"(], "results": [")" + result + "\"]}";
}
std::string listing_of(const program_view& program) {
  std::ostringstream out;
  write_instructions(out, program);
  return out.str();
}
/// The place and the reason of a text that is no program.
std::string fault_of(const std::string& text) {
  const read_program read = parse_program(text);
  REQUIRE(!read.ok());
  REQUIRE(read.made.view().count == 0);
  return read.where + ": " + read.reason;
}

const std::string layer = R"json({
  "version": 1,
  "mesh": "mesh(data=2, model=4)",
  "inputs": [
    {"name": "%0", "type": "f32[8@data, 16]"},
    {"name": "%1", "type": "f32[16, 32@model]"}
  ],
  "steps": [
    {"name": "%2", "op": "einsum", "operands": ["%0", "%1"], "equation": "bi,io->bo", "out": "f32[8@data, 32@model]"},
    {"name": "%3", "op": "constant", "value": 0.5, "out": "f32[]"},
    {"name": "%4", "op": "multiply", "operands": ["%2", "%3"], "out": "f32[8@data, 32@model]"},
    {"name": "%5", "op": "relu", "operands": ["%4"], "out": "f32[8@data, 32@model]", "named": true},
    {"name": "%6", "op": "sum", "operands": ["%5"], "dims": [1], "keep_dims": true, "out": "f32[8@data, 1]{partial sum: model}"},
    {"name": "%7", "op": "reshard", "operands": ["%6"], "collective": "all_reduce", "axes": ["model"], "out": "f32[8@data, 1]"}
  ],
  "results": ["%7"]
}
)json";

TEST_CASE("a program is written a step a line, with the parameters of the catalogue") {
  constexpr auto f = [](const auto& x, const auto& w) {
    auto h = relu(einsum<"bi,io->bo">(x, w) * 0.5F);
    return reshard<P<"data", none>>(sum<1>(h, keep_dims));
  };
  const auto program = trace_program(f, abstract<X>(), abstract<W>());
  CHECK(program_to_json(program.view()) == layer);
}

TEST_CASE("types follow from the operands, and reshards from the layouts") {
  const imported_program made = program_from_json(text_of(
      R"({"name": "s", "op": "sum", "operands": ["x"], "dims": [-2]},
         {"name": "y", "op": "reshard", "operands": ["s"], "out": "f32[16@model]"})"));
  CHECK(listing_of(made.view()) ==
        "%0 = input : f32[8@data, 16]\n"
        "%1 = sum %0 : f32[16]{partial sum: data}\n"
        "%2 = slice %1 : f32[16@model]{partial sum: data}\n"
        "%3** = all_reduce %2 : f32[16@model]\n");
}

/// The example of an operation of the catalogue, as the one step of a program.
std::string text_of_example(const catalogued_operation& entry) {
  std::string inputs, names, step, word;
  const auto each_word = [&](text_view all, const auto& f) {
    std::istringstream in{std::string(all)};
    while (in >> word) f();
  };
  int count = 0;
  each_word(entry.operands, [&] {
    const std::string name = '"' + std::string(1, static_cast<char>('a' + count++)) + '"';
    if (const std::size_t at = word.find("{V:"); at != word.npos) word.replace(at, 3, "{manual: ");
    inputs +=
        (inputs.empty() ? "" : ", ") + ("{\"name\": " + name) + ", \"type\": \"" + word + "\"}";
    names += (names.empty() ? "" : ", ") + name;
  });
  each_word(entry.arguments, [&] {
    const std::size_t equals = word.find('=');
    const std::string value = word.substr(equals + 1);
    const parameter_form form = find_parameter(word.substr(0, equals))->form;
    const bool is_list = form == parameter_form::integers;
    const bool is_number = form == parameter_form::integer;
    step += ", \"" + word.substr(0, equals) + "\": ";
    if (is_list)
      step += '[' + value + ']';
    else
      step += is_number ? value : '"' + value + '"';
  });
  return R"({"version": 1, "mesh": "x=2,y=2", "inputs": [)" + inputs +
         R"(], "steps": [{"name": "r", "op": ")" + std::string(entry.name) + R"(", "operands": [)" +
         names + ']' + step + R"(}], "results": ["r"]})";
}

TEST_CASE("each operation of the catalogue that is an instruction is read by its name") {
  int read = 0, composed = 0;
  for (const catalogued_operation& entry : catalogue) {
    const std::string text = text_of_example(entry);
    const read_program made = parse_program(text);
    INFO(text << '\n' << made.where << ": " << made.reason);
    if (made.reason.find("composed") != std::string::npos || entry.name == "reshard") {
      ++composed;
      REQUIRE((entry.what == nullptr && entry.called == nullptr));
      continue;
    }
    ++read;
    REQUIRE(made.ok());
    const std::string written = program_to_json(made.made.view());
    REQUIRE(program_from_json(written).view() == made.made.view());
    // Collectives on manual axes are written as they are stored.
    if (entry.called == nullptr && entry.name != "interpolate")
      CHECK(written.find("attributes") == std::string::npos);
  }
  CHECK(read > 150);
  CHECK(composed > 60);
}

TEST_CASE("numbers read back to the last bit, and the text is strict JSON") {
  const double all[] = {1e-8,
                        1.0 / 3,
                        -0.0,
                        0.0,
                        5e-324,
                        std::numeric_limits<double>::max(),
                        std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::quiet_NaN(),
                        std::bit_cast<double>(std::uint64_t{0x7ff8000000000123}),
                        std::bit_cast<double>(std::uint64_t{0xfff8000000000000})};
  for (const double number : all) {
    traced_program<4> program;
    program_builder to(program);
    to.place(pod::value);
    to.keep(to.constant(number, element::f64));
    const std::string text = program_to_json(program.view());
    CAPTURE(text);
    const imported_program read = program_from_json(text);
    CHECK(read.view() == program.view());
    CHECK(std::bit_cast<std::uint64_t>(read.view().how(0).number) ==
          std::bit_cast<std::uint64_t>(number));
    CHECK(text.find("value\": inf") == std::string::npos);
    CHECK(text.find("value\": nan") == std::string::npos);
  }
  for (const index_t number : {INT64_MAX, INT64_MIN, index_t{0}}) {
    traced_program<4> program;
    program_builder to(program);
    to.place(pod::value);
    to.keep(to.constant(number, element::i64));
    CHECK(program_from_json(program_to_json(program.view())).view() == program.view());
  }
}

TEST_CASE("a mesh with an order of its devices belongs to the program that was read") {
  const std::string text = text_of(R"({"name": "y", "op": "exp", "operands": ["x"]})", "y",
                                   "mesh(data=2, b=2)[3,1,2,0]");
  imported_program first = program_from_json(text);
  const imported_program made = std::move(first);
  CHECK(made.view().mesh->order.at(0) == 3);
  CHECK(program_from_json(program_to_json(made.view())).view() == made.view());
}

TEST_CASE("what is malformed is named by its place") {
  CHECK(fault_of("{") == ": it is no JSON");
  CHECK(fault_of("[]") == ": an object, {...}, stands here");
  CHECK(fault_of(R"({"version": 2})") == "version: it is a whole number from 1 to 1");
  CHECK(fault_of(R"({"version": 1, "version": 1})") ==
        ": an object has the member \"version\" twice");
  CHECK(fault_of(text_of("", "x", "data=2,model")).starts_with("mesh: "));
  CHECK(fault_of(text_of("", "z")) == "results[0]: no value has this name");
  const auto step = [](const std::string& words) { return fault_of(text_of(words)); };
  CHECK(step(R"({"name": "y"})") == "steps[0].op: it is missing");
  CHECK(step(R"({"name": "y", "op": "exq", "operands": ["x"]})").starts_with("steps[0].op: "));
  CHECK(step(R"({"name": "y", "op": "add", "operands": ["x", "q"]})") ==
        "steps[0].operands[1]: no value before has this name");
  CHECK(step(R"({"name": "x", "op": "exp", "operands": ["x"]})") ==
        "steps[0].name: another value has this name");
  CHECK(step(R"({"name": "y", "op": "exp", "operands": ["x"], "dims": [1]})")
            .starts_with("steps[0].\"dims\": "));
  CHECK(step(R"({"name": "y", "op": "sum", "operands": ["x"], "dims": [2]})")
            .starts_with("steps[0].dims: dimension_is_out_of_range"));
  CHECK(step(R"({"name": "y", "op": "sum", "operands": ["x"], "dims": [1.5]})")
            .starts_with("steps[0].dims: "));
  CHECK(step(R"({"name": "y", "op": "exp", "operands": ["x"], "out": "f32[8]"})") ==
        "steps[0].out: the result is f32[8@data, 16]");
  CHECK(step(R"({"name": "y", "op": "exp", "operands": ["x"], "out": "f32[8@rows]"})")
            .starts_with("steps[0].out: "));
  CHECK(step(R"({"name": "y", "op": "softmax", "operands": ["x"], "dim": 1})")
            .starts_with("steps[0].op: softmax is composed"));
  CHECK(step(R"({"name": "y", "op": "cumsum", "operands": ["x"], "dim": 0})")
            .starts_with("steps[0].operands: dimension_is_split"));
  CHECK(step(R"({"name": "y", "op": "constant", "value": "one", "out": "f32[]"})")
            .starts_with("steps[0].value: "));
  CHECK(step(R"({"name": "y", "op": "reshard", "operands": ["x"], "collective": "all_gather",
                 "axes": ["model"], "from": 0, "out": "f32[8, 16]"})")
            .starts_with("steps[0].out: "));
  CHECK(step(R"({"name": "y", "op": "call", "body": 0, "operands": ["x"]})")
            .starts_with("steps[0].body: "));
  CHECK(step(R"({"name": "y", "op": "exp", "operands": ["x"], "donated": true})") ==
        "steps[0].donated: only inputs are donated");
  CHECK(step(R"({"name": "y", "op": "reduce", "operands": ["x"], "attributes":
                 {"integers": [256, 0]}})")
            .starts_with("steps[0].operands: dimension_is_out_of_range"));
  CHECK_THROWS_WITH(program_from_json(text_of("", "z")), contains("results[0]"));
}

}  // namespace
