// SPDX-License-Identifier: BSL-1.0
// Rows of operations on windows: convolutions, poolings and interpolations.
#include "property/rows/tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace generated {

/// The parameters of the windows of one dimension, for a plain loop.
struct loop_window {
  index_t stride = 1;
  index_t low = 0;
  index_t high = 0;
  index_t dilation = 1;
};

/// Calls `f(index)` for every index of these extents, in row-major order.
template <class F>
void for_each_index(const extents_desc& extents, F f) {
  const host_array shape(extents, element::f64);
  for (index_t i = 0; i < shape.size(); ++i) f(shape.index_of(i));
}

/// The element of `x` in a batch and a channel that element `k` of window `p` reads, or 0.
inline double read_by_window(const host_array& x, index_t n, index_t c,
                             const std::vector<index_t>& p, const std::vector<index_t>& k,
                             const std::vector<loop_window>& how) {
  std::vector<index_t> at{n, c};
  for (std::size_t d = 0; d < how.size(); ++d) {
    const index_t place = p[d] * how[d].stride - how[d].low + k[d] * how[d].dilation;
    if (place < 0 || place >= x.extents[static_cast<int>(d) + 2]) return 0;
    at.push_back(place);
  }
  return x.at(at);
}

/// The spatial extents of the result of windows of `sizes` on `x`.
inline extents_desc positions_of(const host_array& x, const extents_desc& sizes,
                                 const std::vector<loop_window>& how) {
  extents_desc positions;
  for (std::size_t d = 0; d < how.size(); ++d) {
    const int s = static_cast<int>(d);
    const index_t reach = (sizes[s] - 1) * how[d].dilation + 1;
    positions.push_back((x.extents[2 + s] + how[d].low + how[d].high - reach) / how[d].stride + 1);
  }
  return positions;
}

/// A reduction of windows: `reduce(elements)`, in which `nothing` stands for padding.
template <class F>
auto pool_loop(extents_desc sizes, std::vector<loop_window> how, double nothing, F reduce) {
  return [=](const row_arrays& x) {
    const extents_desc positions = positions_of(x[0], sizes, how);
    extents_desc made{x[0].extents[0], x[0].extents[1]};
    for (index_t n : positions) made.push_back(n);
    host_array out(made, x[0].type);
    host_array inside(x[0].extents, x[0].type);
    for (double& one : inside.values) one = 1;
    for_each_index(made, [&](const std::vector<index_t>& at) {
      const std::vector<index_t> p(at.begin() + 2, at.end());
      std::vector<double> elements;
      for_each_index(sizes, [&](const std::vector<index_t>& k) {
        const bool is_there = read_by_window(inside, at[0], at[1], p, k, how) == 1;
        elements.push_back(is_there ? read_by_window(x[0], at[0], at[1], p, k, how) : nothing);
      });
      out.at(at) = reduce(elements);
    });
    return row_arrays{out};
  };
}

/// A convolution by its definition.
inline auto convolution_loop(std::vector<loop_window> how, index_t groups = 1) {
  return [how = std::move(how), groups](const row_arrays& x) {
    extents_desc sizes;
    for (int d = 2; d < x[1].rank(); ++d) sizes.push_back(x[1].extents[d]);
    const extents_desc positions = positions_of(x[0], sizes, how);
    extents_desc made{x[0].extents[0], x[1].extents[0]};
    for (index_t n : positions) made.push_back(n);
    host_array out(made, x[0].type);
    const index_t in_group = x[1].extents[1], out_group = x[1].extents[0] / groups;
    for_each_index(made, [&](const std::vector<index_t>& at) {
      const std::vector<index_t> p(at.begin() + 2, at.end());
      double sum = 0;
      for (index_t c = 0; c < in_group; ++c)
        for_each_index(sizes, [&](const std::vector<index_t>& k) {
          std::vector<index_t> weight{at[1], c};
          weight.insert(weight.end(), k.begin(), k.end());
          sum += x[1].at(weight) *
                 read_by_window(x[0], at[0], at[1] / out_group * in_group + c, p, k, how);
        });
      out.at(at) = sum;
    });
    return row_arrays{out};
  };
}

/// A transposed convolution by its definition: each input is added, times the weights, at the
/// positions of its window.
inline auto transposed_loop(std::vector<loop_window> how, index_t groups = 1) {
  return [how = std::move(how), groups](const row_arrays& x) {
    extents_desc sizes, made{x[0].extents[0], x[1].extents[1] * groups};
    for (int d = 2; d < x[1].rank(); ++d) {
      const loop_window& one = how[static_cast<std::size_t>(d) - 2];
      sizes.push_back(x[1].extents[d]);
      made.push_back((x[0].extents[d] - 1) * one.stride + (sizes[d - 2] - 1) * one.dilation + 1 -
                     one.low - one.high);
    }
    host_array out(made, x[0].type);
    const index_t in_group = x[1].extents[0] / groups, out_group = x[1].extents[1];
    for_each_index(x[0].extents, [&](const std::vector<index_t>& from) {
      for (index_t o = 0; o < out_group; ++o)
        for_each_index(sizes, [&](const std::vector<index_t>& k) {
          std::vector<index_t> to{from[0], from[1] / in_group * out_group + o};
          std::vector<index_t> weight{from[1], o};
          for (std::size_t d = 0; d < how.size(); ++d) {
            to.push_back(from[d + 2] * how[d].stride + k[d] * how[d].dilation - how[d].low);
            weight.push_back(k[d]);
            if (to.back() < 0 || to.back() >= made[static_cast<int>(d) + 2]) return;
          }
          out.at(to) += x[0].at(from) * x[1].at(weight);
        });
    });
    return row_arrays{out};
  };
}

/// A stencil by its definition, with as many spatial dimensions as `how` has.
inline auto stencil_loop(std::vector<loop_window> how) {
  return [how = std::move(how)](const row_arrays& x) {
    const auto spatial = static_cast<int>(how.size());
    const int leading = x[0].rank() - spatial;
    extents_desc made = x[0].extents;
    for (int d = 0; d < spatial; ++d) {
      const loop_window& one = how[static_cast<std::size_t>(d)];
      made[leading + d] += one.low + one.high - (x[1].extents[d] - 1) * one.dilation;
    }
    host_array out(made, x[0].type);
    for_each_index(made, [&](const std::vector<index_t>& at) {
      double sum = 0;
      for_each_index(x[1].extents, [&](const std::vector<index_t>& k) {
        std::vector<index_t> place = at;
        for (std::size_t d = 0; d < how.size(); ++d) {
          const auto dim = static_cast<std::size_t>(leading) + d;
          place[dim] += k[d] * how[d].dilation - how[d].low;
          if (place[dim] < 0 || place[dim] >= x[0].extents[static_cast<int>(dim)]) return;
        }
        sum += x[1].at(k) * x[0].at(place);
      });
      out.at(at) = sum;
    });
    return row_arrays{out};
  };
}

/// An interpolation by its definition, one dimension after the other: `influence(distance)` of each
/// element, where those beyond the edges are copies.
template <class F>
auto interpolate_loop(std::vector<index_t> new_sizes, bool is_aligned, F influence) {
  return [=](const row_arrays& x) {
    row_arrays out = x;
    for (std::size_t d = 0; d < new_sizes.size(); ++d) {
      const int dim = x[0].rank() - static_cast<int>(new_sizes.size() - d);
      out = line_loop(dim, [&](const std::vector<double>& line) {
        const auto size = static_cast<index_t>(line.size()), count = new_sizes[d];
        std::vector<double> made;
        for (index_t i = 0; i < count; ++i) {
          const double place =
              !is_aligned
                  ? static_cast<double>((2 * i + 1) * size) / static_cast<double>(2 * count) - 0.5
              : count > 1 ? static_cast<double>(i * (size - 1)) / static_cast<double>(count - 1)
                          : 0;
          double sum = 0;
          for (index_t j = -2; j < size + 2; ++j)
            sum += influence(static_cast<double>(j) - place) *
                   line[static_cast<std::size_t>(std::clamp<index_t>(j, 0, size - 1))];
          made.push_back(sum);
        }
        return std::vector<std::vector<double>>{made};
      })(out);
    }
    return out;
  };
}
/// The nearest element before a position, at half of the distance the one behind it.
inline double nearest_influence(double distance) {
  return distance > -0.5 && distance <= 0.5 ? 1 : 0;
}
inline double linear_influence(double distance) { return std::max(0.0, 1 - std::abs(distance)); }
inline double cubic_influence(double distance) {
  const double x = std::abs(distance);
  if (x <= 1) return 1 - 2.25 * x * x + 1.25 * x * x * x;
  return x < 2 ? 3 - 6 * x + 3.75 * x * x - 0.75 * x * x * x : 0;
}

/// Rows of interpolations, whose weights are rounded.
void add_interpolations(std::vector<operation_row>& rows) {
  const auto over_all = across<"x", "y", "z">;
  const auto add = [&](std::string name, extents_desc extents, auto f, auto loop) {
    rows.push_back(differentiable_row(
        std::move(name), {{extents, between(-4, 4)}},
        [f](const row_tensors& x) {
          const any_tensor<double> given = x[0].as<>();
          return f(given);
        },
        loop, 1e-12));
  };
  add(
      "interpolate linear", {3, 2, 5},
      [](const auto& x) { return interpolate<interpolation::linear, 8>(x); },
      interpolate_loop({8}, false, &linear_influence));
  add(
      "interpolate linear of two dimensions across", {2, 4, 7},
      [=](const auto& x) {
        return interpolate<interpolation::linear, 9, 3>(x, align_corners, over_all);
      },
      interpolate_loop({9, 3}, true, &linear_influence));
  add(
      "interpolate cubic", {4, 7},
      [](const auto& x) { return interpolate<interpolation::cubic, 4>(x); },
      interpolate_loop({4}, false, &cubic_influence));
  add(
      "interpolate cubic of three dimensions across", {2, 3, 4, 2},
      [=](const auto& x) { return interpolate<interpolation::cubic, 5, 4, 3>(x, over_all); },
      interpolate_loop({5, 4, 3}, false, &cubic_influence));
  add(
      "interpolate cubic with aligned corners", {3, 5},
      [](const auto& x) { return interpolate<interpolation::cubic, 7>(x, align_corners); },
      interpolate_loop({7}, true, &cubic_influence));
  add(
      "interpolate nearest_exact across", {2, 5, 4},
      [=](const auto& x) { return interpolate<interpolation::nearest_exact, 3, 8>(x, over_all); },
      interpolate_loop({3, 8}, false, &nearest_influence));
  rows.push_back(differentiable_row(
      "interpolate nearest", {{{3, 5}}},
      [](const row_tensors& x) { return interpolate<interpolation::nearest, 8>(x[0].as<>()); },
      moved_loop({3, 8}, [](std::vector<index_t> at) {
        at[1] = at[1] * 5 / 8;
        return at;
      })));
}

std::vector<operation_row> window_rows() {
  std::vector<operation_row> rows;
  const auto add = [&](std::string name, std::vector<row_operand> operands, auto f, auto loop) {
    rows.push_back(differentiable_row(std::move(name), std::move(operands), f, loop, 1e-12));
  };
  add(
      "convolution", {{{3, 2, 6}}, {{4, 2, 3}}},
      [](const row_tensors& x) { return convolution(x[0].as<>(), x[1].as<>()); },
      convolution_loop({{}}));
  add(
      "convolution of two dimensions", {{{2, 2, 5, 6}}, {{3, 2, 2, 3}}},
      [](const row_tensors& x) {
        return convolution<strides<2, 1>, paddings<1, 0, 2, 1>, dilations<1, 2>>(x[0].as<>(),
                                                                                 x[1].as<>());
      },
      convolution_loop({{2, 1, 0, 1}, {1, 2, 1, 2}}));
  add(
      "convolution of groups", {{{2, 4, 5}}, {{6, 2, 3}}},
      [](const row_tensors& x) {
        return convolution<feature_groups<2>, paddings<1>>(x[0].as<>(), x[1].as<>());
      },
      convolution_loop({{1, 1, 1, 1}}, 2));
  add(
      "convolution of each channel", {{{2, 4, 5}}, {{4, 1, 2}}},
      [](const row_tensors& x) {
        return convolution<feature_groups<4>, strides<2>>(x[0].as<>(), x[1].as<>());
      },
      convolution_loop({{2, 0, 0, 1}}, 4));
  add(
      "convolution of three dimensions", {{{2, 2, 3, 2, 4}}, {{2, 2, 2, 2, 3}}},
      [](const row_tensors& x) {
        return convolution<strides<1, 1, 2>, paddings<0, 1, 1>>(x[0].as<>(), x[1].as<>());
      },
      convolution_loop({{}, {1, 1, 1, 1}, {2, 1, 1, 1}}));
  add(
      "convolution of windows that end where parts do", {{{2, 2, 12}}, {{2, 2, 2}}},
      [](const row_tensors& x) { return convolution<strides<2>>(x[0].as<>(), x[1].as<>()); },
      convolution_loop({{2, 0, 0, 1}}));
  const auto over_all = across<"x", "y", "z">;
  add(
      "convolution across", {{{2, 2, 7}}, {{2, 2, 3}}},
      [=](const row_tensors& x) {
        return convolution<paddings<1>>(x[0].as<>(), x[1].as<>(), over_all);
      },
      convolution_loop({{1, 1, 1, 1}}));
  add(
      "convolution across, wider than a part", {{{1, 2, 8}}, {{2, 2, 6}}},
      [=](const row_tensors& x) {
        return convolution<paddings<3, 1>>(x[0].as<>(), x[1].as<>(), over_all);
      },
      convolution_loop({{1, 3, 1, 1}}));
  add(
      "convolution across two dimensions", {{{2, 2, 6, 5}}, {{2, 2, 3, 2}}},
      [=](const row_tensors& x) {
        return convolution<strides<2, 1>, paddings<1, 0, 1, 2>, dilations<1, 2>>(
            x[0].as<>(), x[1].as<>(), over_all);
      },
      convolution_loop({{2, 1, 0, 1}, {1, 1, 2, 2}}));
  // The number of positions behind a dimension is subtracted from the padding there.
  add(
      "convolution_transpose", {{{3, 2, 4}}, {{2, 3, 3}}},
      [](const row_tensors& x) {
        return convolution_transpose<strides<2>, paddings<1>, output_paddings<1>>(x[0].as<>(),
                                                                                  x[1].as<>());
      },
      transposed_loop({{2, 1, 0, 1}}));
  add(
      "convolution_transpose of groups across two dimensions", {{{2, 4, 3, 4}}, {{4, 2, 2, 3}}},
      [=](const row_tensors& x) {
        return convolution_transpose<feature_groups<2>, strides<1, 3>, dilations<2, 1>,
                                     paddings<1, 0, 0, 2>>(x[0].as<>(), x[1].as<>(), over_all);
      },
      transposed_loop({{1, 1, 0, 2}, {3, 0, 2, 1}}, 2));
  add(
      "stencil", {{{3, 7}}, {{3}}},
      [](const row_tensors& x) { return stencil(x[0].as<>(), x[1].as<>()); },
      stencil_loop({{1, 1, 1, 1}}));
  add(
      "stencil of even size across", {{{2, 7, 5}}, {{4, 2}}},
      [=](const row_tensors& x) { return stencil(x[0].as<>(), x[1].as<>(), over_all); },
      stencil_loop({{1, 1, 2, 1}, {1, 0, 1, 1}}));
  add(
      "stencil of three dimensions across", {{{4, 3, 5}}, {{2, 1, 3}}},
      [=](const row_tensors& x) {
        return stencil<paddings<0, 1, 0, 0, 2, 0>, dilations<1, 1, 2>>(x[0].as<>(), x[1].as<>(),
                                                                       over_all);
      },
      stencil_loop({{1, 0, 1, 1}, {}, {1, 2, 0, 2}}));
  const double lowest = -std::numeric_limits<double>::infinity();
  const auto largest = [](const std::vector<double>& all) {
    return *std::max_element(all.begin(), all.end());
  };
  const auto mean_of = [](const std::vector<double>& all) {
    double sum = 0;
    for (double one : all) sum += one;
    return sum / static_cast<double>(all.size());
  };
  const draw some = between(-4, 4);
  add(
      "max_pool", {{{2, 3, 8}, some}},
      [](const row_tensors& x) { return max_pool<windows<2>>(x[0].as<>()); },
      pool_loop({2}, {{2, 0, 0, 1}}, lowest, largest));
  add(
      "max_pool across", {{{1, 2, 7, 5}, some}},
      [=](const row_tensors& x) {
        return max_pool<windows<3, 2>, strides<2, 1>, paddings<1, 0>>(x[0].as<>(), over_all);
      },
      pool_loop({3, 2}, {{2, 1, 1, 1}, {1, 0, 0, 1}}, lowest, largest));
  rows.back().pending = reduction::max;
  add(
      "average_pool", {{{2, 1, 5, 4}, some}},
      [](const row_tensors& x) {
        return average_pool<windows<2, 3>, strides<1, 2>, paddings<0, 0, 1, 1>>(x[0].as<>());
      },
      pool_loop({2, 3}, {{1, 0, 0, 1}, {2, 1, 1, 1}}, 0, mean_of));
  add(
      "average_pool across", {{{2, 2, 9}, some}},
      [=](const row_tensors& x) {
        return average_pool<windows<4>, strides<2>, paddings<3, 0>>(x[0].as<>(), over_all);
      },
      pool_loop({4}, {{2, 3, 0, 1}}, 0, mean_of));
  add_interpolations(rows);
  return rows;
}

}  // namespace generated
