// SPDX-License-Identifier: BSL-1.0
// Rows of operations that rearrange elements, and of contractions.
#include "property/rows/tables.hpp"

namespace generated {

std::vector<operation_row> shape_rows() {
  std::vector<operation_row> rows;
  using index = std::vector<index_t>;
  const auto add = [&](std::string name, const extents_desc& extents, auto f, auto loop) {
    rows.push_back(differentiable_row_of_one(std::move(name), extents, f, loop));
  };
  add(
      "transpose", {5, 3, 2}, [](const auto& x) { return transpose<2, 0, 1>(x); },
      moved_loop({2, 5, 3}, [](const index& at) {
        return index{at[1], at[2], at[0]};
      }));
  add(
      "reshape merges", {4, 2, 3},
      [](const auto& x) {
        return reshape(x, extents_desc{8, 3});
      },
      moved_loop({8, 3}, [](const index& at) {
        return index{at[0] / 2, at[0] % 2, at[1]};
      }));
  add(
      "reshape splits", {6, 4},
      [](const auto& x) {
        return reshape(x, extents_desc{6, 2, 2});
      },
      moved_loop({6, 2, 2}, [](const index& at) {
        return index{at[0], at[1] * 2 + at[2]};
      }));
  add(
      "flip", {5, 3}, [](const auto& x) { return flip<0>(x); },
      moved_loop({5, 3}, [](const index& at) {
        return index{4 - at[0], at[1]};
      }));
  add(
      "propagation_barrier", {5, 3}, [](const auto& x) { return propagation_barrier(x); },
      moved_loop({5, 3}, [](const index& at) { return at; }));
  rows.push_back({.name = "concatenate",
                  .operands = {{{3, 4}}, {{2, 4}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {concatenate<0>(x[0].as<>(), x[1].as<>())};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        host_array out({5, 4}, x[0].type);
                        for (index_t i = 0; i < out.size(); ++i)
                          out[i] = i < x[0].size() ? x[0][i] : x[1][i - x[0].size()];
                        return row_arrays{out};
                      },
                  .is_differentiable = true});
  return rows;
}

std::vector<operation_row> contraction_rows() {
  std::vector<operation_row> rows;
  rows.push_back({.name = "einsum bi,io->bo",
                  .operands = {{{4, 5}}, {{5, 3}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {einsum("bi,io->bo", x[0].as<>(), x[1].as<>())};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        host_array out({4, 3}, x[0].type);
                        for (index_t b = 0; b < 4; ++b)
                          for (index_t o = 0; o < 3; ++o)
                            for (index_t i = 0; i < 5; ++i)
                              out.at({b, o}) += x[0].at({b, i}) * x[1].at({i, o});
                        return row_arrays{out};
                      },
                  .is_differentiable = true});
  rows.push_back({.name = "einsum bij,bj->b",
                  .operands = {{{3, 2, 4}}, {{3, 4}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {einsum("bij,bj->b", x[0].as<>(), x[1].as<>())};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        host_array out({3}, x[0].type);
                        for (index_t b = 0; b < 3; ++b)
                          for (index_t i = 0; i < 2; ++i)
                            for (index_t j = 0; j < 4; ++j)
                              out.at({b}) += x[0].at({b, i, j}) * x[1].at({b, j});
                        return row_arrays{out};
                      },
                  .is_differentiable = true});
  rows.push_back(
      {.name = "einsum ab,bc,cd->ad",
       .operands = {{{3, 4}}, {{4, 2}}, {{2, 5}}},
       .apply = [](const row_tensors& x) -> row_tensors {
         return {einsum("ab,bc,cd->ad", x[0].as<>(), x[1].as<>(), x[2].as<>())};
       },
       .loop =
           [](const row_arrays& x) {
             host_array out({3, 5}, x[0].type);
             for (index_t a = 0; a < 3; ++a)
               for (index_t d = 0; d < 5; ++d)
                 for (index_t b = 0; b < 4; ++b)
                   for (index_t c = 0; c < 2; ++c)
                     out.at({a, d}) += x[0].at({a, b}) * x[1].at({b, c}) * x[2].at({c, d});
             return row_arrays{out};
           },
       .is_differentiable = true});
  rows.push_back({.name = "einsum ...ij,jk->...ik",
                  .operands = {{{2, 3, 4}}, {{4, 2}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {einsum("...ij,jk->...ik", x[0].as<>(), x[1].as<>())};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        host_array out({2, 3, 2}, x[0].type);
                        for (index_t b = 0; b < 2; ++b)
                          for (index_t i = 0; i < 3; ++i)
                            for (index_t k = 0; k < 2; ++k)
                              for (index_t j = 0; j < 4; ++j)
                                out.at({b, i, k}) += x[0].at({b, i, j}) * x[1].at({j, k});
                        return row_arrays{out};
                      },
                  .is_differentiable = true});
  rows.push_back(
      {.name = "einsum ii->i",
       .operands = {{{4, 4}}},
       .apply = [](const row_tensors& x) -> row_tensors { return {einsum("ii->i", x[0].as<>())}; },
       .loop =
           [](const row_arrays& x) {
             host_array out({4}, x[0].type);
             for (index_t i = 0; i < 4; ++i) out[i] = x[0].at({i, i});
             return row_arrays{out};
           },
       .is_differentiable = true});
  rows.push_back({.name = "matmul",
                  .operands = {{{2, 3, 4}}, {{4, 2}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {matmul(x[0].as<>(), x[1].as<>())};
                  },
                  .loop = rows[rows.size() - 2].loop,  // that of ...ij,jk->...ik
                  .is_differentiable = true});
  rows.push_back(
      {.name = "matmul of batches of size 1",
       .operands = {{{2, 1, 2, 3}}, {{1, 2, 3, 2}}},
       .apply = [](const row_tensors& x) -> row_tensors {
         return {matmul(x[0].as<>(), x[1].as<>())};
       },
       .loop =
           [](const row_arrays& x) {
             host_array out({2, 2, 2, 2}, x[0].type);
             for (index_t a = 0; a < 2; ++a)
               for (index_t b = 0; b < 2; ++b)
                 for (index_t i = 0; i < 2; ++i)
                   for (index_t k = 0; k < 2; ++k)
                     for (index_t j = 0; j < 3; ++j)
                       out.at({a, b, i, k}) += x[0].at({a, 0, i, j}) * x[1].at({0, b, j, k});
             return row_arrays{out};
           },
       .is_differentiable = true});
  rows.push_back({.name = "matmul of a vector",
                  .operands = {{{4}}, {{2, 4, 3}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    const auto once = matmul(x[0].as<>(), x[1].as<>());
                    return {once, matmul(einsum("bjk->bkj", x[1].as<>()), x[0].as<>())};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        host_array out({2, 3}, x[0].type);
                        for (index_t b = 0; b < 2; ++b)
                          for (index_t k = 0; k < 3; ++k)
                            for (index_t j = 0; j < 4; ++j)
                              out.at({b, k}) += x[0][j] * x[1].at({b, j, k});
                        return row_arrays{out, out};
                      },
                  .is_differentiable = true});
  rows.push_back(
      {.name = "diagonal",
       .operands = {{{2, 4, 4}}},
       .apply = [](const row_tensors& x) -> row_tensors { return {diagonal(x[0].as<>())}; },
       .loop =
           [](const row_arrays& x) {
             host_array out({2, 4}, x[0].type);
             for (index_t b = 0; b < 2; ++b)
               for (index_t i = 0; i < 4; ++i) out.at({b, i}) = x[0].at({b, i, i});
             return row_arrays{out};
           },
       .is_differentiable = true});
  rows.push_back({.name = "dot and outer",
                  .operands = {{{4}}, {{4}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {dot(x[0].as<>(), x[1].as<>()), outer(x[0].as<>(), x[1].as<>())};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        host_array sum({}, x[0].type), all({4, 4}, x[0].type);
                        for (index_t i = 0; i < 4; ++i) {
                          sum[0] += x[0][i] * x[1][i];
                          for (index_t j = 0; j < 4; ++j) all.at({i, j}) = x[0][i] * x[1][j];
                        }
                        return row_arrays{sum, all};
                      }});
  return rows;
}

}  // namespace generated
