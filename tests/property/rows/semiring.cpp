// SPDX-License-Identifier: BSL-1.0
// Rows of contractions over semirings.
#include "property/rows/tables.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace generated {

/// The loop of a contraction: reduces `times` of all operands by `reduce`, starting with `empty`,
/// over the letters of an equation.
template <class Times, class Reduce>
auto contraction_loop(const std::string& equation, double empty, Times times, Reduce reduce) {
  return [=](const row_arrays& x) {
    const std::size_t arrow = equation.find("->");
    const std::string made = equation.substr(arrow + 2);
    std::vector<std::string> words{""};
    for (const char c : equation.substr(0, arrow))
      if (c == ',')
        words.emplace_back();
      else
        words.back() += c;
    std::string letters;
    extents_desc all, left;
    for (std::size_t o = 0; o < words.size(); ++o)
      for (std::size_t d = 0; d < words[o].size(); ++d)
        if (letters.find(words[o][d]) == std::string::npos) {
          letters += words[o][d];
          all.push_back(x[o].extents[static_cast<int>(d)]);
        }
    for (const char c : made) left.push_back(all[static_cast<int>(letters.find(c))]);
    host_array out(left, x[0].type);
    std::fill(out.values.begin(), out.values.end(), empty);
    const host_array points(all, x[0].type);
    for (index_t i = 0; i < points.size(); ++i) {
      const std::vector<index_t> at = points.index_of(i);
      const auto index_in = [&](const std::string& word) {
        std::vector<index_t> own;
        for (const char c : word) own.push_back(at[letters.find(c)]);
        return own;
      };
      double product = x[0].at(index_in(words[0]));
      for (std::size_t o = 1; o < words.size(); ++o)
        product = times(product, x[o].at(index_in(words[o])));
      double& into = out.at(index_in(made));
      into = reduce(into, product);
    }
    return row_arrays{out};
  };
}

template <Semiring auto Over, Element T = double>
operation_row semiring_row(std::string equation, std::vector<extents_desc> extents,
                           const draw& numbers_of, reduction pending,
                           std::function<row_arrays(const row_arrays&)> loop) {
  operation_row row;
  row.name = std::string(Over.name.data(), Over.name.size()) + " " + equation;
  for (const extents_desc& e : extents) row.operands.push_back({e, numbers_of, element_of<T>});
  row.apply = [equation](const row_tensors& x) -> row_tensors {
    if (x.size() == 1) return {einsum<Over>(text_view(equation), x[0].as<T>())};
    if (x.size() == 2) return {einsum<Over>(text_view(equation), x[0].as<T>(), x[1].as<T>())};
    return {einsum<Over>(text_view(equation), x[0].as<T>(), x[1].as<T>(), x[2].as<T>())};
  };
  row.loop = std::move(loop);
  row.pending = pending;
  row.is_differentiable = std::is_same_v<T, double>;
  return row;
}

std::vector<operation_row> semiring_rows() {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto plus = [](double a, double b) { return a + b; };
  const auto times = [](double a, double b) { return a * b; };
  const auto least = [](double a, double b) { return std::min(a, b); };
  const auto most = [](double a, double b) { return std::max(a, b); };
  const draw lengths = one_of({-2, -1, 0, 1, 2, 5, infinite});
  const draw factors = one_of({-3, -2, -1, 1, 2, 3});  // of zeros with signs the loop has either
  const auto shortest = [=](const std::string& equation) {
    return contraction_loop(equation, infinite, plus, least);
  };
  const auto longest = [=](const std::string& equation) {
    return contraction_loop(equation, -infinite, plus, most);
  };
  const auto largest = [=](const std::string& equation) {
    return contraction_loop(equation, -infinite, times, most);
  };
  const auto reached = [=](const std::string& equation) {
    return contraction_loop(equation, 0, least, most);
  };
  constexpr int no_path = std::numeric_limits<std::int32_t>::max();
  const auto whole_lengths = contraction_loop(
      "ij,jk->ik", no_path,
      [=](double a, double b) { return a == no_path || b == no_path ? no_path : a + b; }, least);
  const reduction min = reduction::min, max = reduction::max;
  return {
      semiring_row<min_plus>("ij,jk->ik", {{4, 5}, {5, 3}}, lengths, min, shortest("ij,jk->ik")),
      semiring_row<min_plus>("ij,jk->ik", {{3, 5}, {5, 70}}, lengths, min, shortest("ij,jk->ik")),
      semiring_row<min_plus>("ij,kj->", {{3, 4}, {2, 4}}, lengths, min, shortest("ij,kj->")),
      semiring_row<min_plus>("ij->i", {{3, 5}}, lengths, min, shortest("ij->i")),
      semiring_row<min_plus>("ab,bc,cd->ad", {{3, 4}, {4, 2}, {2, 5}}, lengths, min,
                             shortest("ab,bc,cd->ad")),
      semiring_row<min_plus>("ij,jk->ik", {{3, 0}, {0, 2}}, lengths, min, shortest("ij,jk->ik")),
      semiring_row<min_plus, std::int32_t>("ij,jk->ik", {{4, 3}, {3, 4}},
                                           one_of({-3, 0, 4, double{no_path}}), min, whole_lengths),
      semiring_row<max_plus>("bij,bj->b", {{3, 2, 4}, {3, 4}}, whole(), max, longest("bij,bj->b")),
      semiring_row<max_times>("ij,jk->ik", {{4, 5}, {5, 3}}, factors, max, largest("ij,jk->ik")),
      semiring_row<max_times>("bij,bk->b", {{2, 3, 4}, {2, 3}}, factors, max, largest("bij,bk->b")),
      semiring_row<max_times>("ij,jk,k->i", {{3, 4}, {4, 2}, {2}}, factors, max,
                              largest("ij,jk,k->i")),
      semiring_row<or_and, bool>("ij,jk->ik", {{4, 5}, {5, 3}}, truth(), max,
                                 reached("ij,jk->ik"))};
}

}  // namespace generated
