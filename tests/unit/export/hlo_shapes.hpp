// SPDX-License-Identifier: BSL-1.0
// Operations of StableHLO that move elements: each returns its result, whose type it infers from
// the operands and the attributes.
#pragma once

#include "unit/export/hlo_elementwise.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace hlo_text {

/// The attributes of an operation. Each that the operation has must be read; others than those of
/// shardings are refused at the end.
class attribute_reader {
 public:
  explicit attribute_reader(const operation_text& of) : of_(of) {}

  [[nodiscard]] const std::string& text(const std::string& name) {
    const auto found = of_.attributes.find(name);
    demand(found != of_.attributes.end(), of_.name + " has no attribute " + name);
    read_.insert(name);
    return found->second;
  }
  [[nodiscard]] bool has(const std::string& name) const { return of_.attributes.contains(name); }
  /// A list of `array<i64: ...>`, with `count` numbers unless it is negative.
  [[nodiscard]] indices list(const std::string& name, int count = -1) {
    const std::string& words = text(name);
    demand(words.starts_with("array<i64") && words.ends_with('>'),
           name + " of " + of_.name + " is no array<i64>: " + words);
    indices out = numbers_in(words);
    demand(count < 0 || out.size() == static_cast<std::size_t>(count),
           name + " of " + of_.name + " has another length than " + std::to_string(count));
    return out;
  }
  /// The pairs of `dense<[[0, 1], ...]> : tensor<Nx2xi64>`, flat.
  [[nodiscard]] indices pairs(const std::string& name, int count) {
    const std::string& words = text(name);
    demand(words.starts_with("dense<") &&
               words.ends_with(": tensor<" + std::to_string(count) + "x2xi64>"),
           name + " of " + of_.name + " has other pairs: " + words);
    indices out = numbers_in(words);
    // One number stands for all.
    if (out.size() == 1) out.assign(static_cast<std::size_t>(2 * count), out[0]);
    demand(out.size() == static_cast<std::size_t>(2 * count), name + " has not all its pairs");
    return out;
  }
  [[nodiscard]] index count(const std::string& name) {
    const std::string& words = text(name);
    demand(words.ends_with(" : i64"), name + " of " + of_.name + " is no i64: " + words);
    return numbers_in(words).at(0);
  }
  [[nodiscard]] bool flag(const std::string& name) {
    const std::string& words = text(name);
    demand(words == "true" || words == "false", name + " is no truth value");
    return words == "true";
  }
  /// One of the words of an enumeration: `#stablehlo<comparison_direction LT>`.
  [[nodiscard]] std::string word(const std::string& name, const std::string& of) {
    const std::string& words = text(name);
    const std::string begin = "#stablehlo<" + of + ' ';
    demand(words.starts_with(begin) && words.ends_with('>'), name + " is " + words);
    return words.substr(begin.size(), words.size() - begin.size() - 1);
  }
  void finish() const {
    for (const auto& [name, value] : of_.attributes)
      demand(read_.contains(name) || name == "mhlo.sharding" || name == "sdy.sharding",
             of_.name + " has no attribute " + name);
  }

 private:
  const operation_text& of_;
  std::set<std::string> read_{};
};

/// The members of a struct of dimension numbers, `#stablehlo.dot<a = [0], b = 1>`.
inline std::map<std::string, indices> members_of(const std::string& words, const std::string& kind,
                                                 const std::set<std::string>& known) {
  demand(words.starts_with("#stablehlo." + kind + '<') && words.ends_with('>'),
         "these are no numbers of " + kind + ": " + words);
  std::map<std::string, indices> out;
  std::size_t at = words.find('<') + 1;
  while (at + 1 < words.size()) {
    const std::size_t equals = words.find(" = ", at);
    demand(equals != words.npos, "a member has no value: " + words);
    const std::string name = words.substr(at, equals - at);
    std::size_t end = equals + 3;
    const std::size_t close = words[end] == '[' ? words.find(']', end) : end;
    end = std::min(words.find(',', close), words.size() - 1);
    demand(known.contains(name), kind + " has no member " + name);
    out[name] = numbers_in(words.substr(equals + 3, end - equals - 3));
    at = words[end] == ',' ? end + 2 : end;
    if (end == words.size() - 1) break;
  }
  return out;
}

using tensors = std::vector<tensor>;

namespace shapes {

inline tensor made(const tensor& like, const indices& extents) {
  return tensor({like.type.element, extents});
}
inline bool are_distinct_dims(const indices& dims, int rank) {
  std::set<index> seen;
  for (const index d : dims)
    if (d < 0 || d >= rank || !seen.insert(d).second) return false;
  return true;
}
inline std::size_t size(index n) { return static_cast<std::size_t>(n); }

inline tensors transpose(const tensors& x, attribute_reader& in, const tensor_type&) {
  const indices order = in.list("permutation", x[0].rank());
  demand(are_distinct_dims(order, x[0].rank()), "a permutation names every dimension once");
  indices extents;
  for (const index d : order) extents.push_back(x[0].type.extents[size(d)]);
  tensor out = made(x[0], extents);
  for_each_index(extents, [&](const indices& at) {
    indices from(at.size());
    for (std::size_t d = 0; d < at.size(); ++d) from[size(order[d])] = at[d];
    out.at(at) = x[0].at(from);
  });
  return {out};
}
inline tensors reshape(const tensors& x, attribute_reader&, const tensor_type& result) {
  tensor out(result);
  demand(out.elements.size() == x[0].elements.size(), "a reshape keeps the number of elements");
  out.type.element = x[0].type.element;
  out.elements = x[0].elements;
  return {out};
}
inline tensors broadcast_in_dim(const tensors& x, attribute_reader& in, const tensor_type& result) {
  const indices dims = in.list("broadcast_dimensions", x[0].rank());
  demand(are_distinct_dims(dims, static_cast<int>(result.extents.size())),
         "broadcast_dimensions are distinct dimensions of the result");
  tensor out = made(x[0], result.extents);
  for (std::size_t d = 0; d < dims.size(); ++d)
    demand(x[0].type.extents[d] == 1 || x[0].type.extents[d] == result.extents[size(dims[d])],
           "a broadcast keeps extents, or repeats 1");
  for_each_index(result.extents, [&](const indices& at) {
    indices from(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d)
      from[d] = x[0].type.extents[d] == 1 ? 0 : at[size(dims[d])];
    out.at(at) = x[0].at(from);
  });
  return {out};
}
inline tensors slice(const tensors& x, attribute_reader& in, const tensor_type&) {
  const indices begin = in.list("start_indices", x[0].rank());
  const indices end = in.list("limit_indices", x[0].rank());
  const indices step = in.list("strides", x[0].rank());
  indices extents;
  for (std::size_t d = 0; d < begin.size(); ++d) {
    demand(begin[d] >= 0 && begin[d] <= end[d] && end[d] <= x[0].type.extents[d] && step[d] > 0,
           "a slice is inside of its operand");
    extents.push_back((end[d] - begin[d] + step[d] - 1) / step[d]);
  }
  tensor out = made(x[0], extents);
  for_each_index(extents, [&](const indices& at) {
    indices from = at;
    for (std::size_t d = 0; d < at.size(); ++d) from[d] = begin[d] + at[d] * step[d];
    out.at(at) = x[0].at(from);
  });
  return {out};
}
inline tensors pad(const tensors& x, attribute_reader& in, const tensor_type&) {
  const indices low = in.list("edge_padding_low", x[0].rank());
  const indices high = in.list("edge_padding_high", x[0].rank());
  const indices between = in.list("interior_padding", x[0].rank());
  demand(x[1].rank() == 0 && x[1].type.element == x[0].type.element, "padding is one element");
  indices extents;
  for (std::size_t d = 0; d < low.size(); ++d) {
    demand(between[d] >= 0, "interior padding is not negative");
    const index n = x[0].type.extents[d];
    extents.push_back(low[d] + n + std::max<index>(n - 1, 0) * between[d] + high[d]);
    demand(extents.back() >= 0, "a padded extent is not negative");
  }
  tensor out = made(x[0], extents);
  std::fill(out.elements.begin(), out.elements.end(), x[1].elements[0]);
  for_each_index(x[0].type.extents, [&](const indices& at) {
    indices to = at;
    for (std::size_t d = 0; d < at.size(); ++d) to[d] = low[d] + at[d] * (between[d] + 1);
    if (out.has(to)) out.at(to) = x[0].at(at);
  });
  return {out};
}
inline tensors concatenate(const tensors& x, attribute_reader& in, const tensor_type&) {
  const index dim = in.count("dimension");
  demand(dim >= 0 && dim < x[0].rank(), "parts are joined along one of their dimensions");
  indices extents = x[0].type.extents;
  for (std::size_t i = 1; i < x.size(); ++i) {
    demand(x[i].rank() == x[0].rank() && x[i].type.element == x[0].type.element,
           "parts have one rank and one type of elements");
    for (int d = 0; d < x[0].rank(); ++d)
      demand(d == dim || x[i].extent(d) == x[0].extent(d), "parts have the same extents beside");
    extents[size(dim)] += x[i].type.extents[size(dim)];
  }
  tensor out = made(x[0], extents);
  index offset = 0;
  for (const tensor& part : x) {
    for_each_index(part.type.extents, [&](const indices& at) {
      indices to = at;
      to[size(dim)] += offset;
      out.at(to) = part.at(at);
    });
    offset += part.type.extents[size(dim)];
  }
  return {out};
}
inline tensors reverse(const tensors& x, attribute_reader& in, const tensor_type&) {
  const indices dims = in.list("dimensions");
  demand(are_distinct_dims(dims, x[0].rank()), "dimensions are reversed once");
  tensor out = made(x[0], x[0].type.extents);
  for_each_index(x[0].type.extents, [&](const indices& at) {
    indices from = at;
    for (const index d : dims) from[size(d)] = x[0].type.extents[size(d)] - 1 - at[size(d)];
    out.at(at) = x[0].at(from);
  });
  return {out};
}
inline tensors iota(const tensors&, attribute_reader& in, const tensor_type& result) {
  const index dim = in.count("iota_dimension");
  tensor out(result);
  demand(dim >= 0 && dim < out.rank(), "iota counts along a dimension of the result");
  const element_form form = out.form();
  for_each_index(result.extents, [&](const indices& at) {
    out.at(at) = converted(whole_number(at[size(dim)]), form_of("i64"), form);
  });
  return {out};
}
/// Indices of a slice are moved so that it is inside of the operand.
inline indices clamped_start(const tensors& x, std::size_t first, const indices& sizes) {
  demand(x.size() == first + sizes.size(), "a slice has an index for each dimension");
  indices out;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    demand(x[first + d].rank() == 0 && !x[first + d].form().is_float, "an index is an integer");
    demand(sizes[d] >= 0 && sizes[d] <= x[0].type.extents[d], "a slice fits into its operand");
    out.push_back(std::clamp<index>(x[first + d].whole(), 0, x[0].type.extents[d] - sizes[d]));
  }
  return out;
}
inline tensors dynamic_slice(const tensors& x, attribute_reader& in, const tensor_type&) {
  const indices sizes = in.list("slice_sizes", x[0].rank());
  const indices start = clamped_start(x, 1, sizes);
  tensor out = made(x[0], sizes);
  for_each_index(sizes, [&](const indices& at) {
    indices from = at;
    for (std::size_t d = 0; d < at.size(); ++d) from[d] += start[d];
    out.at(at) = x[0].at(from);
  });
  return {out};
}
inline tensors dynamic_update_slice(const tensors& x, attribute_reader&, const tensor_type&) {
  demand(x[1].rank() == x[0].rank() && x[1].type.element == x[0].type.element,
         "an update is a part of the operand");
  const indices start = clamped_start(x, 2, x[1].type.extents);
  tensor out = x[0];
  for_each_index(x[1].type.extents, [&](const indices& at) {
    indices to = at;
    for (std::size_t d = 0; d < at.size(); ++d) to[d] += start[d];
    out.at(to) = x[1].at(at);
  });
  return {out};
}

}  // namespace shapes
}  // namespace hlo_text
