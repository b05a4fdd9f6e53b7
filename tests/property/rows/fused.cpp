// SPDX-License-Identifier: BSL-1.0
// Rows of composed operations: normalisations, losses, attention.
#include "property/rows/tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace generated {

/// All axes of the meshes, over which the operations may communicate.
inline constexpr auto over_all_axes = across<"x", "y", "z">;

/// The softmax of a line, and its logarithm.
inline std::vector<double> softmax_of_line(const std::vector<double>& line, bool logarithm) {
  const double high = *std::max_element(line.begin(), line.end());
  double total = 0;
  for (double x : line) total += std::exp(x - high);
  std::vector<double> out;
  for (double x : line)
    out.push_back(logarithm ? x - high - std::log(total) : std::exp(x - high) / total);
  return out;
}
/// A line minus its mean, if `centred`, divided by its standard deviation.
inline std::vector<double> normalised(const std::vector<double>& line, bool centred) {
  double mean = 0, squares = 0;
  if (centred)
    for (double x : line) mean += x / static_cast<double>(line.size());
  for (double x : line) squares += (x - mean) * (x - mean) / static_cast<double>(line.size());
  std::vector<double> out;
  for (double x : line) out.push_back((x - mean) / std::sqrt(squares + 0.25));
  return out;
}

/// Attention head by head. Query `i` attends to `keys_of(i)` keys, and `mask(head, i, j)` is added
/// to a score.
template <class Keys, class Mask>
auto attention_loop(Keys keys_of, Mask mask) {
  return [=](const row_arrays& x) {
    const host_array &q = x[0], &k = x[1], &v = x[2];
    host_array out({q.extents[0], q.extents[1], v.extents[2]}, q.type);
    const index_t group = q.extents[0] / k.extents[0], width = q.extents[2];
    for (index_t h = 0; h < q.extents[0]; ++h)
      for (index_t i = 0; i < q.extents[1]; ++i) {
        std::vector<double> scores;
        for (index_t j = 0; j < std::min(keys_of(i), k.extents[1]); ++j) {
          double score = 0;
          for (index_t e = 0; e < width; ++e) score += q.at({h, i, e}) * k.at({h / group, j, e});
          scores.push_back(score / std::sqrt(static_cast<double>(width)) + mask(x, h, i, j));
        }
        const double lowest = -std::numeric_limits<double>::infinity();
        if (std::count(scores.begin(), scores.end(), lowest) == static_cast<long>(scores.size()))
          continue;
        const std::vector<double> weights = softmax_of_line(scores, false);
        for (std::size_t j = 0; j < weights.size(); ++j)
          for (index_t e = 0; e < v.extents[2]; ++e)
            out.at({h, i, e}) += weights[j] * v.at({h / group, static_cast<index_t>(j), e});
      }
    return row_arrays{out};
  };
}

std::vector<operation_row> fused_rows() {
  std::vector<operation_row> rows;
  const auto add = [&](std::string name, std::vector<row_operand> operands, auto f, auto loop) {
    rows.push_back(differentiable_row(std::move(name), std::move(operands), f, loop, 1e-13));
  };
  using lines = std::vector<std::vector<double>>;
  using line = std::vector<double>;
  const draw some = between(-4, 4);
  add(
      "softmax", {{{5, 3}, some}}, [](const row_tensors& x) { return softmax<1>(x[0].as<>()); },
      line_loop(1, [](const line& x) { return lines{softmax_of_line(x, false)}; }));
  add(
      "softmax across", {{{5, 3}, some}},
      [](const row_tensors& x) { return softmax<0>(x[0].as<>(), over_all_axes); },
      line_loop(0, [](const line& x) { return lines{softmax_of_line(x, false)}; }));
  add(
      "log_softmax across", {{{2, 5}, some}},
      [](const row_tensors& x) { return log_softmax<1>(x[0].as<>(), over_all_axes); },
      line_loop(1, [](const line& x) { return lines{softmax_of_line(x, true)}; }));
  add(
      "layer_norm", {{{4, 5}, some}},
      [](const row_tensors& x) { return layer_norm<1>(x[0].as<>(), 0.25); },
      line_loop(1, [](const line& x) { return lines{normalised(x, true)}; }));
  add(
      "layer_norm across", {{{5, 3}, some}, {{3}, some}, {{3}, some}},
      [](const row_tensors& x) {
        return layer_norm<1>(x[0].as<>(), x[1].as<>(), x[2].as<>(), 0.25, over_all_axes);
      },
      [](const row_arrays& x) {
        row_arrays out =
            line_loop(1, [](const line& y) { return lines{normalised(y, true)}; })({x[0]});
        for (index_t i = 0; i < out[0].size(); ++i)
          out[0][i] = out[0][i] * x[1][i % 3] + x[2][i % 3];
        return out;
      });
  add(
      "rms_norm across", {{{5, 3}, some}, {{5, 1}, some}},
      [](const row_tensors& x) {
        return rms_norm<0>(x[0].as<>(), x[1].as<>(), 0.25, over_all_axes);
      },
      [](const row_arrays& x) {
        row_arrays out =
            line_loop(0, [](const line& y) { return lines{normalised(y, false)}; })({x[0]});
        for (index_t i = 0; i < out[0].size(); ++i) out[0][i] *= x[1][i / 3];
        return out;
      });
  const auto gated = [](const line& x) {
    line out;
    for (std::size_t i = 0; 2 * i < x.size(); ++i)
      out.push_back(x[i] / (1 + std::exp(-x[i + x.size() / 2])));
    return lines{out};
  };
  add(
      "glu", {{{5, 4}, some}}, [](const row_tensors& x) { return glu<1>(x[0].as<>()); },
      line_loop(1, gated));
  add(
      "glu across", {{{6, 2}, some}},
      [](const row_tensors& x) { return glu<0>(x[0].as<>(), over_all_axes); }, line_loop(0, gated));
  // The loop of a norm of channels; `same(a, b)` states whether two elements are in one group.
  const auto channel_norm = [](auto same) {
    return [=](const row_arrays& x) {
      host_array out = x[0];
      for (index_t i = 0; i < out.size(); ++i) {
        const std::vector<index_t> at = out.index_of(i);
        std::vector<double> group{x[0][i]};
        for (index_t k = 0; k < out.size(); ++k)
          if (k != i && same(at, out.index_of(k))) group.push_back(x[0][k]);
        out[i] = normalised(group, true)[0];
        if (x.size() > 1) out[i] = out[i] * x[1][at[1]] + x[2][at[1]];
      }
      return row_arrays{out};
    };
  };
  using place = std::vector<index_t>;
  add(
      "batch_norm across", {{{5, 2, 3}, some}, {{2}, some}, {{2}, some}},
      [](const row_tensors& x) {
        return batch_norm(x[0].as<>(), x[1].as<>(), x[2].as<>(), 0.25, over_all_axes);
      },
      channel_norm([](const place& a, const place& b) { return a[1] == b[1]; }));
  add(
      "instance_norm", {{{2, 3, 2, 2}, some}},
      [](const row_tensors& x) { return instance_norm(x[0].as<>(), 0.25); },
      channel_norm([](const place& a, const place& b) { return a[0] == b[0] && a[1] == b[1]; }));
  add(
      "group_norm", {{{3, 4, 2}, some}, {{4}, some}, {{4}, some}},
      [](const row_tensors& x) {
        return group_norm<2>(x[0].as<>(), x[1].as<>(), x[2].as<>(), 0.25, over_all_axes);
      },
      channel_norm(
          [](const place& a, const place& b) { return a[0] == b[0] && a[1] / 2 == b[1] / 2; }));
  const auto entropy = [](int dim) {
    return [=](const row_arrays& x) {
      const row_arrays logs =
          line_loop(dim, [](const line& y) { return lines{softmax_of_line(y, true)}; })({x[0]});
      host_array out(x[1].extents, x[0].type);
      for (index_t i = 0; i < out.size(); ++i) {
        std::vector<index_t> at = out.index_of(i);
        at.insert(at.begin() + dim, static_cast<index_t>(x[1][i]));
        out[i] = -logs[0].at(at);
      }
      return row_arrays{out};
    };
  };
  add(
      "cross_entropy", {{{4, 5}, some}, {{4}, whole(0, 4), element::i32}},
      [](const row_tensors& x) { return cross_entropy<1>(x[0].as<>(), x[1].as<std::int32_t>()); },
      entropy(1));
  add(
      "cross_entropy across", {{{2, 5, 3}, some}, {{2, 3}, whole(0, 4), element::i64}},
      [](const row_tensors& x) {
        return cross_entropy<1>(x[0].as<>(), x[1].as<std::int64_t>(), over_all_axes);
      },
      entropy(1));
  const auto soft_entropy = [](const row_arrays& x) {
    const row_arrays logs =
        line_loop(1, [](const line& y) { return lines{softmax_of_line(y, true)}; })({x[0]});
    extents_desc shape;
    for (int d = 0; d < x[0].extents.ssize(); ++d)
      if (d != 1) shape.push_back(x[0].extents[d]);
    host_array out(shape, x[0].type);
    for (index_t i = 0; i < x[0].size(); ++i) {
      std::vector<index_t> at = x[0].index_of(i), to = at;
      to.erase(to.begin() + 1);
      out.at(to) -= x[1].at(at) * logs[0].at(at);
    }
    return row_arrays{out};
  };
  add(
      "cross_entropy of probabilities", {{{4, 5}, some}, {{4, 5}, some}},
      [](const row_tensors& x) { return cross_entropy<1>(x[0].as<>(), x[1].as<>()); },
      soft_entropy);
  add(
      "cross_entropy of probabilities across", {{{2, 5, 3}, some}, {{2, 5, 3}, some}},
      [](const row_tensors& x) {
        return cross_entropy<1>(x[0].as<>(), x[1].as<>(), over_all_axes);
      },
      soft_entropy);
  const auto turned = [](bool halves) {
    return [=](const row_arrays& x) {
      host_array out(x[0].extents, x[0].type);
      for (index_t i = 0; i < out.size(); ++i) {
        std::vector<index_t> at = out.index_of(i);
        const index_t pair = halves ? at[2] % 3 : at[2] / 2;
        const bool second = halves ? at[2] >= 3 : at[2] % 2 == 1;
        const double cosine = x[1].at({at[1], pair}), sine = x[2].at({at[1], pair});
        std::vector<index_t> other = at;
        other[2] += (second ? -1 : 1) * (halves ? 3 : 1);
        out[i] = x[0].at(at) * cosine + (second ? 1 : -1) * x[0].at(other) * sine;
      }
      return row_arrays{out};
    };
  };
  add(
      "rotary", {{{2, 5, 6}, some}, {{5, 3}, some}, {{5, 3}, some}},
      [](const row_tensors& x) { return rotary(x[0].as<>(), x[1].as<>(), x[2].as<>()); },
      turned(true));
  add(
      "rotary of neighbours", {{{2, 5, 6}, some}, {{5, 3}, some}, {{5, 3}, some}},
      [](const row_tensors& x) {
        return rotary<rotary_pairs::neighbours>(x[0].as<>(), x[1].as<>(), x[2].as<>());
      },
      turned(false));
  const auto all = [](index_t) { return std::numeric_limits<index_t>::max(); };
  const auto up_to = [](index_t i) { return i + 1; };
  const auto no_mask = [](const row_arrays&, index_t, index_t, index_t) { return 0.0; };
  add(
      "attention", {{{4, 5, 3}, some}, {{4, 6, 3}, some}, {{4, 6, 2}, some}},
      [](const row_tensors& x) { return attention(x[0].as<>(), x[1].as<>(), x[2].as<>()); },
      attention_loop(all, no_mask));
  add(
      "attention to earlier positions of groups",
      {{{4, 5, 3}, some}, {{2, 5, 3}, some}, {{2, 5, 2}, some}},
      [](const row_tensors& x) {
        return attention<attends::to_earlier>(x[0].as<>(), x[1].as<>(), x[2].as<>(), over_all_axes);
      },
      attention_loop(up_to, no_mask));
  add(
      "attention of one type", {{{4, 6, 3}, some}, {{4, 6, 3}, some}, {{4, 6, 3}, some}},
      [](const row_tensors& x) {
        return attention<attends::to_earlier>(x[0].as<>(), x[1].as<>(), x[2].as<>(), over_all_axes);
      },
      attention_loop(up_to, no_mask));
  add(
      "attention of groups whose positions are alike",
      {{{4, 5, 3}, some}, {{2, 5, 3}, some}, {{2, 5, 3}, some}},
      [](const row_tensors& x) {
        return attention<attends::to_earlier>(x[0].as<>(), x[1].as<>(), x[2].as<>(), over_all_axes);
      },
      attention_loop(up_to, no_mask));
  add(
      "attention from a position",
      {{{4, 2, 3}, some}, {{4, 6, 3}, some}, {{4, 6, 2}, some}, {{}, whole(0, 4), element::i32}},
      [](const row_tensors& x) {
        return attention<attends::to_earlier>(x[0].as<>(), x[1].as<>(), x[2].as<>(),
                                              x[3].as<std::int32_t>());
      },
      [=](const row_arrays& x) {
        const auto start = static_cast<index_t>(x[3][0]);
        return attention_loop([=](index_t i) { return start + i + 1; }, no_mask)(x);
      });
  add(
      "attention with an added mask",
      {{{2, 3, 2}, some}, {{2, 4, 2}, some}, {{2, 4, 2}, some}, {{2, 1, 4}, some}},
      [](const row_tensors& x) {
        return attention(x[0].as<>(), x[1].as<>(), x[2].as<>(), x[3].as<>());
      },
      attention_loop(all, [](const row_arrays& x, index_t h, index_t, index_t j) {
        return x[3].at({h, 0, j});
      }));
  add(
      "attention of groups with numbers added for each query and key",
      {{{4, 3, 2}, some}, {{2, 4, 2}, some}, {{2, 4, 3}, some}, {{3, 4}, some}},
      [](const row_tensors& x) {
        return attention(x[0].as<>(), x[1].as<>(), x[2].as<>(), x[3].as<>());
      },
      attention_loop(all, [](const row_arrays& x, index_t, index_t i, index_t j) {
        return x[3].at({i, j});
      }));
  add(
      "attention of groups to earlier positions with numbers added for each head",
      {{{4, 3, 2}, some}, {{2, 4, 2}, some}, {{2, 4, 3}, some}, {{4, 3, 1}, some}},
      [](const row_tensors& x) {
        return attention<attends::to_earlier>(x[0].as<>(), x[1].as<>(), x[2].as<>(), x[3].as<>());
      },
      attention_loop(up_to, [](const row_arrays& x, index_t h, index_t i, index_t) {
        return x[3].at({h, i, 0});
      }));
  add(
      "attention with a mask of truth values",
      {{{2, 3, 2}, some},
       {{1, 4, 2}, some},
       {{1, 4, 2}, some},
       {{3, 4}, truth(), element::boolean}},
      [](const row_tensors& x) {
        return attention(x[0].as<>(), x[1].as<>(), x[2].as<>(), x[3].as<bool>());
      },
      attention_loop(all, [](const row_arrays& x, index_t, index_t i, index_t j) {
        return x[3].at({i, j}) != 0 ? 0 : -std::numeric_limits<double>::infinity();
      }));
  rows.push_back({.name = "dropout",
                  .operands = {{{5, 7}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {dropout(x[0].as<>(), random_key{7}, 0.5)};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        host_array out = x[0];
                        for (index_t i = 0; i < out.size(); ++i) {
                          const auto n = static_cast<std::uint64_t>(i);
                          const auto words = shardwise::internal::random_words<1>(
                              7, shardwise::internal::stream::dropout, n / 4);
                          out[i] = words.words[n % 4][0] >= 1U << 31U ? 2 * out[i] : 0;
                        }
                        return row_arrays{out};
                      },
                  .is_differentiable = true});
  const auto numbers_of_key = [](auto at) {
    return [=](const row_arrays& x) {
      host_array out = x[0];
      for (index_t i = 0; i < out.size(); ++i) out[i] = at(random_key{7}, i);
      return row_arrays{out};
    };
  };
  rows.push_back(
      {.name = "uniform_like",
       .operands = {{{5, 7}}},
       .apply = [](const row_tensors& x) -> row_tensors {
         return {uniform_like(x[0].as<>(), random_key{7})};
       },
       .loop = numbers_of_key([](random_key key, index_t i) { return uniform<double>(key, i); }),
       .is_differentiable = true});
  rows.push_back(
      {.name = "normal_like",
       .operands = {{{5, 7}}},
       .apply = [](const row_tensors& x) -> row_tensors {
         return {normal_like(x[0].as<>(), random_key{7})};
       },
       .loop = numbers_of_key([](random_key key, index_t i) { return normal<double>(key, i); }),
       .is_differentiable = true});
  return rows;
}

}  // namespace generated
