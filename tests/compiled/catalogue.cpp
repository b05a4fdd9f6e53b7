// SPDX-License-Identifier: BSL-1.0
// The compiled library has the kernels of all operations of the catalogue and of their gradients,
// for all element types that they accept.
#include <shardwise/kernel/kernel_table.hpp>
#include <shardwise/operation/catalogue.hpp>
#include <shardwise/operation/catalogue_example.hpp>
#include <shardwise/plan.hpp>
#include <shardwise/plan/differentiate.hpp>

#include <cstdio>
#include <memory>
#include <string>

namespace {

using namespace shardwise;

struct one : mesh<axis<"x", 1>> {};

constexpr element all_types[] = {element::f32,     element::f64, element::i32,
                                 element::i64,     element::i8,  element::u8,
                                 element::boolean, element::f16, element::bf16};
int failures = 0;
int found = 0;
int gradients = 0;

/// Looks for the kernel of every instruction that has one.
void check_code(const program_builder& code, const std::string& words) {
  for (value_id i = 0; i < code.size(); ++i) {
    const operation& what = *code[i].what;
    if (what.is_leaf || is_result(what) || is_collective(what)) continue;
    inplace_vector<element, max_operands> types;
    std::string names;
    for (value_id o : code[i].operands) {
      types.push_back(code.value(o).type);
      names += std::string(" ") + to_text(code.value(o).type).data();
    }
    const std::uint64_t key = types_key({types.begin(), types.size()}, code.value(i).type);
    if (const operation_kernel* const kernel = detail::compiled_kernel(what.id, key);
        kernel != nullptr &&
        (what.is_elementwise ? kernel->each.run != nullptr : bool(kernel->whole))) {
      ++found;
      continue;
    }
    ++failures;
    std::printf("FAILED: %s: no kernel of %s on%s\n", words.c_str(), what.name.data(),
                names.c_str());
  }
}

/// One operation on operands like those of its example, and its gradient.
void check_entry(const catalogued_operation& entry, const operation_arguments& given,
                 const tensor_descs& operands) {
  const attributes how = attributes_of(entry, given, operands);
  const bool has_numbers = has_fractions(operands[0].type);
  if (!entry.check_elements(how, operands).ok()) return;
  if (entry.has_fractions && !has_numbers) return;
  if (entry.of_integers && (has_numbers || operands[0].type == element::boolean)) return;
  const auto made = std::make_unique<traced_program<512>>();
  program_builder code(*made);
  code.place(one::value);
  value_ids read;
  for (const tensor_desc& x : operands)
    read.push_back(code.append(operation_of<input_operation>, {}, {}, x));
  const value_id result = code.emit(*entry.what, how, read);
  const std::string words(entry.name.data(), entry.name.size());
  if (!has_numbers || !has_fractions(code.value(result).type) || entry.what->gradient == nullptr)
    return check_code(code, words);
  value_ids wanted;
  for (value_id i : read)
    if (has_fractions(code.value(i).type)) wanted.push_back(i);
  differentiation gradient(code, 0, wanted);
  gradient.seed(result, code.append(operation_of<input_operation>, {}, {}, code.value(result)));
  gradient.run();
  for (value_id i : wanted) (void)gradient.cotangent_of(i, code.value(i).layout);
  ++gradients;
  check_code(code, "the gradient of " + words);
}

}  // namespace

int main() {
  for (const catalogued_operation& entry : catalogue) {
    if (entry.what == nullptr) continue;
    const operation_example example = example_of(one::value, entry);
    for (element type : all_types) {
      // A number beside a tensor has its element type, or the type of the arithmetic.
      for (element number : {type, computed_in(type)})
        for (element index : {element::i32, element::i64, element::i8, element::u8}) {
          tensor_descs operands = example.operands;
          for (int o = 0; o < operands.ssize(); ++o) {
            tensor_desc& x = operands[o];
            if (x.type == element::f32 && x.rank() == 0)
              x.type = number;
            else if (x.type == element::f32 || (o == 0 && x.type == element::i32))
              x.type = type;
            else if (x.type == element::i32 || (x.type == element::i64 && operands.ssize() < 4))
              x.type = entry.of_integers ? type : index;
          }
          try {
            check_entry(entry, example.given, operands);
          } catch (const error& refused) {
            ++failures;
            std::printf("FAILED: %s: %s\n", entry.name.data(), refused.what());
          }
        }
    }
  }
  std::printf("%d kernels of %d gradients and others, %d failures\n", found, gradients, failures);
  return failures == 0 && found > 1000 && gradients > 100 ? 0 : 1;
}
