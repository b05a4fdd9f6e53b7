// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lower_shapes.hpp"
#include "shardwise/operation/einsum_operation.hpp"
#include "shardwise/operation/reduce.hpp"

namespace shardwise::internal::contraction_lowerings {

using dims = std::vector<index_t>;

inline dims reduced_dims(const attributes& how, int rank) {
  dims out;
  for (int d = 0; d < rank; ++d)
    if ((reduction_operation::reduced(how) >> d & 1U) != 0) out.push_back(d);
  return out;
}
inline mlir_values reduce(lowering& at) {
  const mlir_value made =
      at.reduce(at.in(), reduced_dims(at.how(), at.in().type.rank()), at.how().kind);
  return {at.reshape(made, at.result().extents)};
}
/// Squares in the element type of the result.
inline mlir_values sum_of_squares(lowering& at) {
  const mlir_value x = at.convert(at.in(), at.result().element);
  const mlir_value made =
      at.reduce(at.multiply(x, x), reduced_dims(at.how(), x.type.rank()), reduction::sum);
  return {at.reshape(made, at.result().extents)};
}

/// A value with a letter for each dimension.
struct lettered {
  mlir_value value{};
  std::string letters{};

  [[nodiscard]] index_t dim_of(char letter) const noexcept {
    const std::size_t at = letters.find(letter);
    return at == std::string::npos ? -1 : static_cast<index_t>(at);
  }
};

/// Keeps the diagonal of letters that occur twice: the elements elsewhere become `neutral`, which
/// the reduction of the later dimension leaves out.
inline lettered without_repeated(lowering& at, lettered x, reduction kind) {
  for (std::size_t i = 0; i < x.letters.size(); ++i)
    for (std::size_t k = x.letters.find(x.letters[i], i + 1); k != std::string::npos;
         k = x.letters.find(x.letters[i], i + 1)) {
      const mlir_type places = x.value.type.of("i64");
      const mlir_value is_met = at.compare(at.iota(places, static_cast<int>(i)), "EQ",
                                           at.iota(places, static_cast<int>(k)));
      const mlir_value neutral =
          at.spread(at.identity(kind, x.value.type.element), x.value.type.extents);
      x.value = at.reduce(at.select(is_met, x.value, neutral), {static_cast<index_t>(k)}, kind);
      x.letters.erase(k, 1);
    }
  return x;
}
/// Reduces the letters that `needed` lacks.
inline lettered without_others(lowering& at, lettered x, std::string_view needed, reduction kind) {
  dims reduced;
  std::string left;
  for (std::size_t d = 0; d < x.letters.size(); ++d)
    if (needed.find(x.letters[d]) == std::string_view::npos)
      reduced.push_back(static_cast<index_t>(d));
    else
      left += x.letters[d];
  return {at.reduce(x.value, reduced, kind), left};
}
/// Transposes to an order of letters.
inline mlir_value in_order(lowering& at, const lettered& x, std::string_view letters) {
  dims order;
  for (const char letter : letters) order.push_back(x.dim_of(letter));
  return at.transpose(x.value, order);
}
[[nodiscard]] inline std::string letters_of(std::string_view equation, int k) {
  const text_view own = einsum_operation::letters_of({equation.data(), equation.size()}, k);
  return {own.data(), own.size()};
}

/// The product of two operands, summed over the letters that `needed` lacks.
inline lettered product(lowering& at, const lettered& a, const lettered& b,
                        std::string_view needed) {
  dims batch_a, batch_b, summed_a, summed_b;
  std::string letters;
  for (const char letter : a.letters) {
    if (b.dim_of(letter) < 0) continue;
    const bool is_kept = needed.find(letter) != std::string_view::npos;
    (is_kept ? batch_a : summed_a).push_back(a.dim_of(letter));
    (is_kept ? batch_b : summed_b).push_back(b.dim_of(letter));
    if (is_kept) letters += letter;
  }
  for (const char letter : a.letters)
    if (b.dim_of(letter) < 0) letters += letter;
  for (const char letter : b.letters)
    if (a.dim_of(letter) < 0) letters += letter;
  return {at.dot(a.value, b.value, batch_a, batch_b, summed_a, summed_b), letters};
}

/// Contracts the operands from left to right. What only one of them has is summed first.
inline mlir_values einsum(lowering& at) {
  const std::string_view equation{at.how().words.data(), at.how().words.size()};
  const std::string made = letters_of(equation, at.count());
  lettered left;
  for (int k = 0; k < at.count(); ++k) {
    std::string later = made;
    for (int o = k + 1; o < at.count(); ++o) later += letters_of(equation, o);
    lettered x = without_repeated(at, {at.in(k), letters_of(equation, k)}, reduction::sum);
    x = without_others(at, x, later + left.letters, reduction::sum);
    left = k == 0 ? x : product(at, left, x, later);
  }
  left = without_others(at, left, made, reduction::sum);
  return {in_order(at, left, made)};
}

/// How two elements are combined in a semiring.
enum class semiring_product : std::uint8_t { add_lengths, multiply, both };

/// The sum of two lengths, which the identity of the reduction absorbs. Sums of integers saturate.
inline mlir_value sum_of_lengths(lowering& at, const mlir_value& a, const mlir_value& b,
                                 reduction kind) {
  const mlir_value none = at.spread(at.identity(kind, a.type.element), a.type.extents);
  const mlir_value is_none = at.either(at.compare(a, "EQ", none), at.compare(b, "EQ", none));
  mlir_value sum = at.add(a, b);
  if (!is_mlir_float(a.type.element)) {
    const auto extreme = [&](reduction of) {
      return at.spread(at.identity(of, a.type.element), a.type.extents);
    };
    const mlir_value zero = at.integer(0, a.type);
    if (a.type.element.starts_with('u')) {
      sum = at.select(at.compare(sum, "LT", a), extreme(reduction::min), sum);
    } else {
      const mlir_value a_below = at.compare(a, "LT", zero), b_below = at.compare(b, "LT", zero);
      const mlir_value is_past = at.both(at.compare(a_below, "EQ", b_below),
                                         at.compare(at.compare(sum, "LT", zero), "NE", a_below));
      sum = at.select(is_past, at.select(a_below, extreme(reduction::max), extreme(reduction::min)),
                      sum);
    }
  }
  return at.select(is_none, none, sum);
}
/// Contracts over a semiring: every combination of elements, reduced.
template <semiring_product Product, reduction Reduce>
mlir_values semiring(lowering& at) {
  const std::string_view equation{at.how().words.data(), at.how().words.size()};
  const std::string made = letters_of(equation, at.count());
  std::string all = made;
  extents_desc extents = at.result().extents;
  std::vector<lettered> read;
  for (int k = 0; k < at.count(); ++k) {
    read.push_back(without_repeated(at, {at.in(k), letters_of(equation, k)}, Reduce));
    for (std::size_t d = 0; d < read.back().letters.size(); ++d)
      if (all.find(read.back().letters[d]) == std::string::npos) {
        if (extents.full())
          return at.refuse("its letters are more than the 8 dimensions of a tensor");
        all += read.back().letters[d];
        extents.push_back(read.back().value.type.extents[static_cast<int>(d)]);
      }
  }
  mlir_value product;
  for (const lettered& x : read) {
    // The dimensions of a broadcast ascend.
    std::string ascending;
    for (const char letter : all)
      if (x.dim_of(letter) >= 0) ascending += letter;
    dims places;
    for (const char letter : ascending) places.push_back(static_cast<index_t>(all.find(letter)));
    const mlir_value next = at.spread(in_order(at, x, ascending), extents, places);
    if (product.name.empty())
      product = next;
    else if (Product == semiring_product::add_lengths)
      product = sum_of_lengths(at, product, next, Reduce);
    else
      product = at.each(Product == semiring_product::both ? "and" : "multiply", {product, next});
  }
  dims reduced;
  for (std::size_t d = made.size(); d < all.size(); ++d) reduced.push_back(static_cast<index_t>(d));
  return {at.reduce(product, reduced, Reduce)};
}

}  // namespace shardwise::internal::contraction_lowerings
