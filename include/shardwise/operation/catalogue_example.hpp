// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/jax_type.hpp"
#include "shardwise/operation/infer_operation.hpp"

namespace shardwise {

/// The example of an operation in the catalogue, read on a mesh.
struct operation_example {
  tensor_descs operands{};
  operation_arguments given{};
};

[[nodiscard]] constexpr operation_example example_of(const mesh_desc& mesh,
                                                     const catalogued_operation& entry) noexcept {
  operation_example out;
  const auto each_word = [](text_view all, const auto& f) {
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t end = begin;
      while (end < all.size() && all[end] != ' ') ++end;
      f(all.substr(begin, end - begin));
      begin = end + 1;
    }
  };
  // The axis y of an example is the last one of this mesh.
  const int last = mesh.rank() - 1;
  each_word(entry.operands, [&](text_view words) {
    std::size_t end = 0;
    while (end < words.size() && words[end] != '{') ++end;
    out.operands.push_back(parse_type(words.substr(0, end), mesh).tensor);
    if (end < words.size())
      out.operands[out.operands.ssize() - 1].layout.manual = static_cast<std::uint8_t>(1U << last);
  });
  each_word(entry.arguments, [&](text_view words) {
    std::size_t equals = 0;
    while (words[equals] != '=') ++equals;
    const text_view value = words.substr(equals + 1, words.size());
    out.given.set(words.substr(0, equals), value == "y" ? text_view(mesh.axes[last].label) : value);
  });
  return out;
}

/// Returns true if a reduction of this kind may be pending over the first axis of the mesh, in one
/// operand of the example or in all of them.
[[nodiscard]] constexpr bool passes_pending(const mesh_desc& mesh,
                                            const catalogued_operation& entry, reduction kind) {
  const operation_example example = example_of(mesh, entry);
  const auto make_pending = [&](tensor_desc& x) {
    x.layout.kind = kind;
    x.layout.pending = 1;
  };
  tensor_descs all = example.operands;
  for (int o = 0; o < all.ssize(); ++o) {
    make_pending(all[o]);
    tensor_descs one = example.operands;
    make_pending(one[o]);
    if (infer_operation(mesh, entry, example.given, one).ok()) return true;
  }
  return infer_operation(mesh, entry, example.given, all).ok();
}

/// Returns the result of the operation on its example with one dimension of one operand split over
/// the first axis of the mesh.
[[nodiscard]] constexpr operation_inference infer_split(const mesh_desc& mesh,
                                                        const catalogued_operation& entry,
                                                        int operand, int dim) {
  operation_example example = example_of(mesh, entry);
  example.operands[operand].layout.dims[dim].push_back(std::uint8_t{0});
  return infer_operation(mesh, entry, example.given, example.operands);
}

}  // namespace shardwise
