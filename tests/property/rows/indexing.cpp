// SPDX-License-Identifier: BSL-1.0
// Rows of operations that read and write elements by their index.
#include "property/rows/tables.hpp"

#include <algorithm>
#include <optional>

namespace generated {

/// The position of an index among `size` elements; nothing if it is out of range and filled.
inline std::optional<index_t> looked_up(double at, index_t size, out_of_range mode) {
  auto i = static_cast<index_t>(at);
  if (mode == out_of_range::clamp) return std::clamp(i, index_t{0}, size - 1);
  if (i < 0) i += size;
  if (i >= 0 && i < size) return i;
  return std::nullopt;
}

/// The loop of `take`: the dimensions of the indices replace one dimension.
inline auto take_loop(int dim, out_of_range mode) {
  return [=](const row_arrays& x) {
    extents_desc extents;
    for (int d = 0; d < x[0].rank(); ++d) {
      if (d != dim) extents.push_back(x[0].extents[d]);
      if (d == dim)
        for (index_t n : x[1].extents) extents.push_back(n);
    }
    host_array out(extents, x[0].type);
    for (index_t i = 0; i < out.size(); ++i) {
      const std::vector<index_t> at = out.index_of(i);
      const auto begin = at.begin() + dim, end = begin + x[1].rank();
      std::vector<index_t> from(at.begin(), begin);
      const auto found = looked_up(x[1].at({begin, end}), x[0].extents[dim], mode);
      from.push_back(found.value_or(0));
      from.insert(from.end(), end, at.end());
      out[i] = found ? x[0].at(from) : 0;
    }
    return row_arrays{out};
  };
}
inline auto take_along_loop(int dim, out_of_range mode) {
  return [=](const row_arrays& x) {
    host_array out(x[1].extents, x[0].type);
    for (index_t i = 0; i < out.size(); ++i) {
      std::vector<index_t> at = out.index_of(i);
      const auto found = looked_up(x[1].at(at), x[0].extents[dim], mode);
      at[static_cast<std::size_t>(dim)] = found.value_or(0);
      out[i] = found ? x[0].at(at) : 0;
    }
    return row_arrays{out};
  };
}
/// The loop of `scatter`: element by element, in the order of the updates.
template <class Put>
auto scatter_loop(int dim, out_of_range mode, Put put) {
  return [=](const row_arrays& x) {
    host_array out = x[0];
    for (index_t i = 0; i < x[2].size(); ++i) {
      const std::vector<index_t> at = x[2].index_of(i);
      const auto begin = at.begin() + dim, end = begin + x[1].rank();
      const auto found = looked_up(x[1].at({begin, end}), x[0].extents[dim], mode);
      if (!found) continue;
      std::vector<index_t> to(at.begin(), begin);
      to.push_back(*found);
      to.insert(to.end(), end, at.end());
      out.at(to) = put(out.at(to), x[2][i]);
    }
    return row_arrays{out};
  };
}
/// The loop of `put_along`: in row-major order, so in the order along each dimension.
template <class Put>
auto put_along_loop(int dim, out_of_range mode, Put put) {
  return [=](const row_arrays& x) {
    host_array out = x[0];
    for (index_t i = 0; i < x[2].size(); ++i) {
      std::vector<index_t> at = x[2].index_of(i);
      const auto found = looked_up(x[1].at(at), x[0].extents[dim], mode);
      if (!found) continue;
      at[static_cast<std::size_t>(dim)] = *found;
      out.at(at) = put(out.at(at), x[2][i]);
    }
    return row_arrays{out};
  };
}
/// The loop of `repeat_each`: the copies of each element, and then those of the last.
inline auto repeat_each_loop(int dim, index_t total) {
  return [=](const row_arrays& x) {
    extents_desc extents = x[0].extents;
    extents[dim] = total;
    host_array out(extents, x[0].type);
    for (index_t i = 0; i < out.size(); ++i) {
      std::vector<index_t> at = out.index_of(i);
      index_t& place = at[static_cast<std::size_t>(dim)];
      auto left = static_cast<double>(place);
      for (place = 0; place + 1 < x[0].extents[dim] && left >= x[1][place]; ++place)
        left -= x[1][place];
      out[i] = x[0].at(at);
    }
    return row_arrays{out};
  };
}

std::vector<operation_row> indexing_rows() {
  std::vector<operation_row> rows;
  const auto add = [&](std::string name, std::vector<row_operand> operands, auto f, auto loop) {
    rows.push_back(differentiable_row(std::move(name), std::move(operands), f, loop));
  };
  using enum out_of_range;
  add(
      "take", {{{5, 3}}, {{4}, whole(-5, 4), element::i32}},
      [](const row_tensors& x) { return take<0>(x[0].as<>(), x[1].as<std::int32_t>()); },
      take_loop(0, error));
  add(
      "take of the last by a matrix", {{{3, 5}}, {{2, 3}, whole(0, 4), element::i64}},
      [](const row_tensors& x) { return take<1>(x[0].as<>(), x[1].as<std::int64_t>()); },
      take_loop(1, error));
  add(
      "take of the middle, filled", {{{2, 5, 3}}, {{4}, whole(-9, 9), element::i64}},
      [](const row_tensors& x) { return take<1, fill>(x[0].as<>(), x[1].as<std::int64_t>()); },
      take_loop(1, fill));
  add(
      "take, clamped", {{{5, 3}}, {{4}, whole(-9, 9), element::i64}},
      [](const row_tensors& x) { return take<0, clamp>(x[0].as<>(), x[1].as<std::int64_t>()); },
      take_loop(0, clamp));
  add(
      "take of one", {{{5, 3}}, {{}, whole(0, 4), element::i64}},
      [](const row_tensors& x) { return take<0>(x[0].as<>(), x[1].as<std::int64_t>()); },
      take_loop(0, error));
  add(
      "embedding", {{{7, 4}}, {{3, 2}, whole(0, 6), element::i32}},
      [](const row_tensors& x) { return embedding(x[0].as<>(), x[1].as<std::int32_t>()); },
      take_loop(0, error));
  add(
      "take_along", {{{4, 5}}, {{4, 3}, whole(-5, 4), element::i64}},
      [](const row_tensors& x) { return take_along<1>(x[0].as<>(), x[1].as<std::int64_t>()); },
      take_along_loop(1, error));
  add(
      "take_along, of a part", {{{4, 5, 3}}, {{3, 2, 2}, whole(-5, 4), element::i64}},
      [](const row_tensors& x) { return take_along<1>(x[0].as<>(), x[1].as<std::int64_t>()); },
      take_along_loop(1, error));
  add(
      "take_along, filled", {{{5, 4}}, {{3, 4}, whole(-9, 9), element::i32}},
      [](const row_tensors& x) {
        return take_along<0, fill>(x[0].as<>(), x[1].as<std::int32_t>());
      },
      take_along_loop(0, fill));
  add(
      "scatter sets", {{{5, 3}}, {{4}, whole(-5, 4), element::i64}, {{4, 3}}},
      [](const row_tensors& x) {
        return scatter<0>(x[0].as<>(), x[1].as<std::int64_t>(), x[2].as<>());
      },
      scatter_loop(0, error, [](double, double b) { return b; }));
  add(
      "scatter adds", {{{3, 5}}, {{2, 2}, whole(-9, 9), element::i64}, {{3, 2, 2}}},
      [](const row_tensors& x) {
        return scatter<1, scatter_mode::add, fill>(x[0].as<>(), x[1].as<std::int64_t>(),
                                                   x[2].as<>());
      },
      scatter_loop(1, fill, [](double a, double b) { return a + b; }));
  add(
      "scatter takes the larger", {{{5}}, {{6}, whole(-9, 9), element::i32}, {{6}}},
      [](const row_tensors& x) {
        return scatter<0, scatter_mode::max, clamp>(x[0].as<>(), x[1].as<std::int32_t>(),
                                                    x[2].as<>());
      },
      scatter_loop(0, clamp, [](double a, double b) { return std::max(a, b); }));
  add(
      "scatter takes the smaller", {{{2, 5, 3}}, {{}, whole(0, 4), element::i64}, {{2, 3}}},
      [](const row_tensors& x) {
        return scatter<1, scatter_mode::min>(x[0].as<>(), x[1].as<std::int64_t>(), x[2].as<>());
      },
      scatter_loop(1, error, [](double a, double b) { return std::min(a, b); }));
  add(
      "scatter multiplies", {{{5, 2}}, {{7}, whole(-5, 4), element::i32}, {{7, 2}}},
      [](const row_tensors& x) {
        return scatter<0, scatter_mode::multiply>(x[0].as<>(), x[1].as<std::int32_t>(),
                                                  x[2].as<>());
      },
      scatter_loop(0, error, [](double a, double b) { return a * b; }));
  add(
      "put_along sets", {{{4, 3}}, {{4, 5}, whole(-3, 2), element::i64}, {{4, 5}}},
      [](const row_tensors& x) {
        return put_along<1>(x[0].as<>(), x[1].as<std::int64_t>(), x[2].as<>());
      },
      put_along_loop(1, error, [](double, double b) { return b; }));
  add(
      "put_along sets, of a part",
      {{{5, 4, 3}}, {{6, 2, 3}, whole(-5, 4), element::i32}, {{6, 2, 3}}},
      [](const row_tensors& x) {
        return put_along<0>(x[0].as<>(), x[1].as<std::int32_t>(), x[2].as<>());
      },
      put_along_loop(0, error, [](double, double b) { return b; }));
  add(
      "put_along adds", {{{4, 5, 3}}, {{3, 4, 2}, whole(-9, 9), element::i64}, {{3, 4, 2}}},
      [](const row_tensors& x) {
        return put_along<1, scatter_mode::add, fill>(x[0].as<>(), x[1].as<std::int64_t>(),
                                                     x[2].as<>());
      },
      put_along_loop(1, fill, [](double a, double b) { return a + b; }));
  add(
      "put_along takes the larger", {{{5, 2}}, {{7, 2}, whole(-9, 9), element::i32}, {{7, 2}}},
      [](const row_tensors& x) {
        return put_along<0, scatter_mode::max, clamp>(x[0].as<>(), x[1].as<std::int32_t>(),
                                                      x[2].as<>());
      },
      put_along_loop(0, clamp, [](double a, double b) { return std::max(a, b); }));
  add(
      "put_along takes the smaller", {{{3, 5}}, {{2, 5}, whole(0, 4), element::i64}, {{2, 5}}},
      [](const row_tensors& x) {
        return put_along<1, scatter_mode::min>(x[0].as<>(), x[1].as<std::int64_t>(), x[2].as<>());
      },
      put_along_loop(1, error, [](double a, double b) { return std::min(a, b); }));
  add(
      "put_along multiplies", {{{3, 4}}, {{7, 4}, whole(-3, 2), element::i32}, {{7, 4}}},
      [](const row_tensors& x) {
        return put_along<0, scatter_mode::multiply>(x[0].as<>(), x[1].as<std::int32_t>(),
                                                    x[2].as<>());
      },
      put_along_loop(0, error, [](double a, double b) { return a * b; }));
  add(
      "repeat_each", {{{4, 3}}, {{4}, whole(0, 3), element::i32}},
      [](const row_tensors& x) { return repeat_each<0, 7>(x[0].as<>(), x[1].as<std::int32_t>()); },
      repeat_each_loop(0, 7));
  add(
      "repeat_each across", {{{2, 5}}, {{5}, whole(0, 2), element::i64}},
      [](const row_tensors& x) {
        return repeat_each<1, 3>(x[0].as<>(), x[1].as<std::int64_t>(), across<"x", "y", "z">);
      },
      repeat_each_loop(1, 3));
  add(
      "repeat by a list", {{{3, 4}}},
      [](const row_tensors& x) {
        return repeat<1>(x[0].as<>(), {2, 0, 1, 3});
      },
      [](const row_arrays& x) {
        host_array out({3, 6}, x[0].type);
        constexpr index_t from[] = {0, 0, 2, 3, 3, 3};
        for (index_t i = 0; i < out.size(); ++i) out[i] = x[0].at({i / 6, from[i % 6]});
        return row_arrays{out};
      });
  add(
      "segment_sum", {{{6, 2}}, {{6}, whole(0, 3), element::i64}},
      [](const row_tensors& x) { return segment_sum<0, 4>(x[0].as<>(), x[1].as<std::int64_t>()); },
      [](const row_arrays& x) {
        return scatter_loop(0, error, [](double a, double b) { return a + b; })(
            {host_array({4, 2}, x[0].type), x[1], x[0]});
      });
  add(
      "segment_sum of the last two", {{{2, 3, 2}}, {{3, 2}, whole(0, 9), element::i32}},
      [](const row_tensors& x) {
        return segment_sum<1, 3, fill>(x[0].as<>(), x[1].as<std::int32_t>());
      },
      [](const row_arrays& x) {
        return scatter_loop(1, fill, [](double a, double b) { return a + b; })(
            {host_array({2, 3}, x[0].type), x[1], x[0]});
      });
  rows.push_back({.name = "one_hot",
                  .operands = {{{4, 3}, whole(-1, 5), element::i64}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {one_hot<5, double>(x[0].as<std::int64_t>())};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        host_array out({4, 3, 5}, element::f64);
                        for (index_t i = 0; i < out.size(); ++i)
                          out[i] = x[0][i / 5] == static_cast<double>(i % 5) ? 1 : 0;
                        return row_arrays{out};
                      }});
  return rows;
}

}  // namespace generated
