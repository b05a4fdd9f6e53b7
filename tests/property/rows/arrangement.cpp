// SPDX-License-Identifier: BSL-1.0
// Rows of operations that repeat, cut, pad and roll dimensions.
#include "property/rows/tables.hpp"

namespace generated {

/// Element `at` of the result is element `from(at)` of the operand, or `value` if there is none.
template <class F>
auto padded_loop(const extents_desc& extents, double value, F from) {
  return [=](const row_arrays& x) {
    host_array out(extents, x[0].type);
    for (index_t i = 0; i < out.size(); ++i) {
      const std::vector<index_t> at = from(out.index_of(i));
      out[i] = at.empty() ? value : x[0].at(at);
    }
    return row_arrays{out};
  };
}

std::vector<operation_row> arrangement_rows() {
  std::vector<operation_row> rows;
  using index = std::vector<index_t>;
  const auto add = [&](std::string name, const extents_desc& extents, auto f, auto loop) {
    rows.push_back(differentiable_row_of_one(std::move(name), extents, f, loop));
  };
  add(
      "broadcast_to", {3, 1, 4},
      [](const auto& x) { return broadcast_to<extents<2, dyn, 5, 4>>(x); },
      moved_loop({2, 3, 5, 4}, [](const index& at) {
        return index{at[1], 0, at[3]};
      }));
  add(
      "squeeze", {5, 1, 3, 1}, [](const auto& x) { return squeeze<1, 3>(x); },
      moved_loop({5, 3}, [](const index& at) {
        return index{at[0], 0, at[1], 0};
      }));
  add(
      "unsqueeze", {5, 3}, [](const auto& x) { return unsqueeze<0, 2, 4>(x); },
      moved_loop({1, 5, 1, 3, 1}, [](const index& at) {
        return index{at[1], at[3]};
      }));
  add(
      "roll", {5, 3}, [](const auto& x) { return roll<0, 7>(x); },
      moved_loop({5, 3}, [](const index& at) {
        return index{(at[0] + 3) % 5, at[1]};
      }));
  add(
      "roll back", {3, 4}, [](const auto& x) { return roll<1, -1>(x); },
      moved_loop({3, 4}, [](const index& at) {
        return index{at[0], (at[1] + 1) % 4};
      }));
  add(
      "roll by whole turns", {4, 3}, [](const auto& x) { return roll<0, -8>(x); },
      moved_loop({4, 3}, [](const index& at) { return at; }));
  add(
      "tile", {3, 1, 4}, [](const auto& x) { return tile<2, 1, 3, 2>(x); },
      moved_loop({2, 3, 3, 8}, [](const index& at) {
        return index{at[1], 0, at[3] % 4};
      }));
  add(
      "tile the first", {5, 3}, [](const auto& x) { return tile<2, 1>(x); },
      moved_loop({10, 3}, [](const index& at) {
        return index{at[0] % 5, at[1]};
      }));
  add(
      "repeat", {6, 3}, [](const auto& x) { return repeat<0, 2>(x); },
      moved_loop({12, 3}, [](const index& at) {
        return index{at[0] / 2, at[1]};
      }));
  add(
      "repeat often", {2, 5}, [](const auto& x) { return repeat<1, 7>(x); },
      moved_loop({2, 35}, [](const index& at) {
        return index{at[0], at[1] / 7};
      }));
  add(
      "repeat by counts", {5, 3}, [](const auto& x) { return repeat<0, 2, 0, 1, 1, 3>(x); },
      moved_loop({7, 3}, [](const index& at) {
        constexpr index_t from[] = {0, 0, 2, 3, 4, 4, 4};
        return index{from[at[0]], at[1]};
      }));
  add(
      "repeat by counts across", {4, 3},
      [](const auto& x) { return repeat<-2, 0, 2, 2, 0>(x, across<"x", "y", "z">); },
      moved_loop({4, 3}, [](const index& at) {
        return index{1 + at[0] / 2, at[1]};
      }));
  add(
      "slice", {5, 8}, [](const auto& x) { return slice_in_dim<1, 2, 7>(x); },
      moved_loop({5, 5}, [](const index& at) {
        return index{at[0], at[1] + 2};
      }));
  add(
      "slice of all", {5, 8}, [](const auto& x) { return slice_in_dim<1, 0, 8>(x); },
      moved_loop({5, 8}, [](const index& at) { return at; }));
  add(
      "slice in steps from the end", {5, 8},
      [](const auto& x) { return slice_in_dim<0, -4, open_end, 3>(x); },
      moved_loop({2, 8}, [](const index& at) {
        return index{1 + 3 * at[0], at[1]};
      }));
  add(
      "slice backwards", {5, 8}, [](const auto& x) { return slice_in_dim<1, -2, open_end, -3>(x); },
      moved_loop({5, 3}, [](const index& at) {
        return index{at[0], 6 - 3 * at[1]};
      }));
  add(
      "slice of nothing", {5, 8}, [](const auto& x) { return slice_in_dim<1, 6, 6>(x); },
      moved_loop({5, 0}, [](const index& at) { return at; }));
  add(
      "index_at", {4, 5, 3}, [](const auto& x) { return index_at<1, -1>(x); },
      moved_loop({4, 3}, [](const index& at) {
        return index{at[0], 4, at[1]};
      }));
  add(
      "pad with zeros", {3, 4}, [](const auto& x) { return pad<0, 0, 1, 2>(x); },
      padded_loop({3, 7}, 0, [](const index& at) {
        return at[1] < 1 || at[1] > 4 ? index{} : index{at[0], at[1] - 1};
      }));
  add(
      "pad both with a number", {3, 4}, [](const auto& x) { return pad<2, 0, 1, 1>(x, -2); },
      padded_loop({5, 6}, -2, [](const index& at) {
        return at[0] < 2 || at[1] < 1 || at[1] > 4 ? index{} : index{at[0] - 2, at[1] - 1};
      }));
  add(
      "pad by the edge", {3, 4}, [](const auto& x) { return pad<pad_mode::edge, 1, 2, 2, 1>(x); },
      moved_loop({6, 7}, [](const index& at) {
        const auto within = [](index_t i, index_t n) { return i < 0 ? 0 : (i < n ? i : n - 1); };
        return index{within(at[0] - 1, 3), within(at[1] - 2, 4)};
      }));
  add(
      "pad by reflection", {3, 1, 4},
      [](const auto& x) { return pad<pad_mode::reflect, 0, 0, 1, 0, 5, 4>(x); },
      moved_loop({3, 2, 13}, [](const index& at) {
        index_t i = at[2] - 5;
        while (i < 0 || i > 3) i = i < 0 ? -i : 6 - i;
        return index{at[0], 0, i};
      }));
  add(
      "split_at", {3, 6},
      [](const auto& x) {
        const auto [a, b, c] = split_at<1, 1, 3>(x);
        return concatenate<1>(c, a, b);
      },
      moved_loop({3, 6}, [](const index& at) {
        return index{at[0], (at[1] + 3) % 6};
      }));
  rows.push_back({.name = "stack",
                  .operands = {{{3, 4}}, {{3, 4}}, {{3, 4}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {stack<1>(x[0].as<>(), x[1].as<>(), x[2].as<>())};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        host_array out({3, 3, 4}, x[0].type);
                        for (index_t i = 0; i < out.size(); ++i) {
                          const index at = out.index_of(i);
                          out[i] = x[static_cast<std::size_t>(at[1])].at({at[0], at[2]});
                        }
                        return row_arrays{out};
                      },
                  .is_differentiable = true});
  // Starts from -2 to 7: those beyond either end are clamped.
  const auto clamped = [](double start, index_t last) {
    return std::clamp(static_cast<index_t>(start), index_t{0}, last);
  };
  rows.push_back({.name = "dynamic_slice",
                  .operands = {{{6, 4}}, {{}, whole(-2, 7), element::i32}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {dynamic_slice<0, 3>(x[0].as<>(), x[1].as<std::int32_t>())};
                  },
                  .loop =
                      [=](const row_arrays& x) {
                        host_array out({3, 4}, x[0].type);
                        for (index_t i = 0; i < out.size(); ++i)
                          out[i] = x[0][i + 4 * clamped(x[1][0], 3)];
                        return row_arrays{out};
                      },
                  .is_differentiable = true});
  rows.push_back({.name = "dynamic_slice from a number",
                  .operands = {{{2, 6}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {dynamic_slice<1, 3>(x[0].as<>(), 5)};
                  },
                  .loop = moved_loop({2, 3},
                                     [](const index& at) {
                                       return index{at[0], at[1] + 3};
                                     }),
                  .is_differentiable = true});
  rows.push_back({.name = "update_slice",
                  .operands = {{{3, 6}}, {{3, 2}}, {{}, whole(-2, 7), element::i64}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {update_slice<1>(x[0].as<>(), x[1].as<>(), x[2].as<std::int64_t>())};
                  },
                  .loop =
                      [=](const row_arrays& x) {
                        host_array out = x[0];
                        const index_t start = clamped(x[2][0], 4);
                        for (index_t i = 0; i < 3; ++i)
                          for (index_t j = 0; j < 2; ++j) out.at({i, start + j}) = x[1].at({i, j});
                        return row_arrays{out};
                      },
                  .is_differentiable = true});
  const auto steps = [](const std::vector<double>& line) {
    std::vector<double> out;
    for (std::size_t i = 1; i < line.size(); ++i) out.push_back(line[i] - line[i - 1]);
    return std::vector<std::vector<double>>{out};
  };
  rows.push_back(
      {.name = "diff",
       .operands = {{{5, 4}}},
       .apply = [](const row_tensors& x) -> row_tensors { return {diff<1>(x[0].as<>())}; },
       .loop = line_loop(1, steps),
       .is_differentiable = true});
  rows.push_back({.name = "diff across",
                  .operands = {{{5, 2}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {diff<0>(x[0].as<>(), across<"x", "y", "z">)};
                  },
                  .loop = line_loop(0, steps),
                  .is_differentiable = true});
  rows.push_back({.name = "full_like",
                  .operands = {{{5, 4}}, {{}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {full_like(x[0].as<>(), x[1].as<>())};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        host_array out(x[0].extents, element::f64);
                        for (double& e : out.values) e = x[1][0];
                        return row_arrays{out};
                      },
                  .is_differentiable = true});
  rows.push_back({.name = "bincount",
                  .operands = {{{3, 4}, whole(0, 4), element::i32}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {bincount<5>(x[0].as<std::int32_t>())};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        host_array out({5}, element::i64);
                        for (double one : x[0].values) ++out[static_cast<index_t>(one)];
                        return row_arrays{out};
                      }});
  return rows;
}

}  // namespace generated
