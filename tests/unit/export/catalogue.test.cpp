// SPDX-License-Identifier: BSL-1.0
// Every operation of the catalogue has a counterpart, in every form.
#include "support/catch.hpp"
#include "unit/export/exported.hpp"
#include <shardwise/export/lowering_table.hpp>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace shardwise;

namespace {

std::string text_of(text_view words) { return {words.data(), words.size()}; }

/// The rows of the table in the docs, by operation.
std::set<std::string> documented() {
  std::ifstream file("docs/reference/exported_operations.md");
  std::set<std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (line.rfind("| `", 0) == 0) rows.insert(line);
  return rows;
}

}  // namespace

TEST_CASE("every operation of the catalogue is written in every form") {
  const mesh_desc mesh = exported::mesh_of_examples();
  int written = 0;
  for (const catalogued_operation& entry : catalogue) {
    const operation_example example = example_of(mesh, entry);
    const exported::example_program whole = exported::program_of(mesh, entry, example.operands);
    if (!whole.is_made) {
      // A composition is written by its steps; only `reshard` has none.
      CHECK(entry.what == nullptr);
      continue;
    }
    CAPTURE(text_of(entry.name));
    CHECK(exported::keep_all_forms(text_of(entry.name), whole.code.view()) == "");
    const exported_text local =
        export_stablehlo(whole.code.view(), {.form = export_form::per_device});
    CHECK(local.advice == "");
    ++written;
    for (int o = 0; o < example.operands.ssize(); ++o)
      for (int d = 0; d < example.operands[o].rank(); ++d) {
        // All operands of the same rank are split alike, or only one of them is.
        for (const bool alike : {true, false}) {
          tensor_descs split = example.operands;
          for (int k = 0; k < split.ssize(); ++k)
            if (k == o || (alike && split[k].rank() == split[o].rank()))
              split[k].layout.dims[d].push_back(0);
          const exported::example_program parts = exported::program_of(mesh, entry, split);
          if (!parts.is_made) continue;
          const std::string name = text_of(entry.name) + (alike ? " split " : " alone ") +
                                   std::to_string(o) + std::to_string(d);
          CAPTURE(name);
          CHECK(exported::keep_all_forms(name, parts.code.view()) == "");
        }
      }
  }
  CHECK(written > 150);
}

TEST_CASE("the gradient of every operation is written, of every element type") {
  const mesh_desc mesh = exported::mesh_of_examples();
  int written = 0;
  for (const catalogued_operation& entry : catalogue)
    for (const element type : {element::f32, element::f64, element::bf16, element::f16}) {
      tensor_descs operands = example_of(mesh, entry).operands;
      for (tensor_desc& each : operands)
        if (each.type == element::f32) each.type = each.rank() == 0 ? computed_in(type) : type;
      exported::example_program program = exported::gradient_of(mesh, entry, operands);
      if (!program.is_made) continue;
      const std::string name = "gradient of " + text_of(entry.name) + ' ' + text_of(to_text(type));
      CAPTURE(name);
      CHECK(exported::keep_all_forms(name, program.code.view()) == "");
      ++written;
    }
  CHECK(written > 300);
}

TEST_CASE("every operation is written for integers and truth values that it takes") {
  const mesh_desc mesh = exported::mesh_of_examples();
  int written = 0;
  for (const catalogued_operation& entry : catalogue)
    for (const element type : {element::i32, element::i64, element::i8, element::u8,
                               element::boolean, element::f64, element::bf16, element::f16}) {
      tensor_descs operands = example_of(mesh, entry).operands;
      for (tensor_desc& each : operands)
        if (each.type == element::f32) each.type = type;
      const exported::example_program program = exported::program_of(mesh, entry, operands);
      if (!program.is_made) continue;
      const std::string name = text_of(entry.name) + " of " + text_of(to_text(type));
      CAPTURE(name);
      CHECK(exported::keep_all_forms(name, program.code.view()) == "");
      ++written;
    }
  CHECK(written > 500);
}

TEST_CASE("only operations without a counterpart are custom calls") {
  const mesh_desc mesh = exported::mesh_of_examples();
  for (const catalogued_operation& entry : catalogue) {
    const exported::example_program program =
        exported::program_of(mesh, entry, example_of(mesh, entry).operands);
    if (!program.is_made || entry.called != nullptr) continue;
    CAPTURE(text_of(entry.name));
    const internal::lowering_row* const row = internal::find_lowering(entry.what->name);
    REQUIRE(row != nullptr);
    const bool calls = to_stablehlo(program.code.view()).find("custom_call") != std::string::npos;
    CHECK(calls == (row->becomes.find("custom_call") != std::string::npos));
  }
}

TEST_CASE("the table in the docs says what each operation becomes") {
  std::ostringstream wanted;
  const std::set<std::string> rows = documented();
  for (const catalogued_operation& entry : catalogue) {
    std::string becomes = "its steps";
    if (entry.called != nullptr) becomes = "a collective in a manual region";
    if (entry.what != nullptr) becomes = internal::find_lowering(entry.what->name)->becomes;
    if (entry.name == "reshard") becomes = "custom_call @Sharding, or sdy.reshard";
    wanted << "| `" << text_of(entry.name) << "` | " << becomes << " |\n";
    const std::string row = "| `" + text_of(entry.name) + "` | " + becomes + " |";
    CHECK(rows.count(row) == 1);
  }
  if (rows.size() != catalogue.size()) exported::keep_module("exported operations", wanted.str());
  CHECK(rows.size() == catalogue.size());
}
