// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/over.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

namespace internal {

/// The common part of Fourier transforms. Their integers are the dimensions; the number is 1 for
/// the adjoint of the inverse transform, which differs from the transform by the factors of the
/// inverse: a gradient is an adjoint. Complex numbers are pairs along a last dimension of size 2.
///
/// Devices need the dimensions and the pairs whole. The transforms are linear, so pending sums stay
/// pending.
struct of_spectra {
  static constexpr views_read reads = views_read::any;

  /// True if results have the factors of the inverse, which divide by the number of elements.
  [[nodiscard]] static constexpr bool has_factors(const attributes& how, bool is_inverse) noexcept {
    return is_inverse != (how.number != 0);
  }
  /// Returns the attributes of the adjoint of the inverse for those of a transform, and vice versa.
  [[nodiscard]] static constexpr attributes adjoint(attributes how) noexcept {
    how.number = how.number != 0 ? 0 : 1;
    return how;
  }
  /// Checks the dimensions of a complex operand, and that its last one has pairs.
  [[nodiscard]] static constexpr diagnosis check_pairs(const attributes& how,
                                                       const tensor_desc& x) noexcept {
    const int rank = x.rank();
    if (rank < 2)
      return {.rule = violation::operand_rank_differs, .operand = 0, .have = rank, .want = 2};
    const index_t pair = x.extents[rank - 1];
    if (pair != 2 && pair != dyn)
      return {.rule = violation::operand_sizes_differ,
              .operand = 0,
              .dim = rank - 1,
              .have = pair,
              .want = 2};
    return check_dims(how, rank - 1);
  }
  /// Checks that there are dimensions, of this many.
  [[nodiscard]] static constexpr diagnosis check_dims(const attributes& how, int rank) noexcept {
    if (how.integers.empty())
      return {.rule = violation::dimension_is_out_of_range, .have = rank, .want = rank};
    return over(how.integers).judge(rank);
  }
  /// Returns the rule of a transform that keeps the dimensions of its operand.
  [[nodiscard]] static constexpr factor_rule whole_rule(const attributes& how, int rank) noexcept {
    factor_rule out = same_dimensions_rule(linearity::additive, rank);
    for (const index_t d : how.integers) out.factors[d] = factor_kind::need_replication;
    return out;
  }
  /// Gives dimension `dim` of the result a factor of its own, of `size` elements.
  static constexpr void resize(factor_rule& rule, index_t dim, index_t size) noexcept {
    const int factor = rule.factors.ssize();
    rule.sizes = rule.given_sizes();
    rule.factors.push_back(factor_kind::need_replication);
    rule.sizes.push_back(size);
    rule.result[static_cast<int>(dim)] = static_cast<std::uint8_t>(factor);
  }
  /// Returns five operations for each element and each halving of the dimensions, `numbers` of
  /// them, for complex elements: the usual measure of a transform.
  [[nodiscard]] static constexpr index_t flops(const attributes& how, const extents_desc& extents,
                                               index_t numbers) noexcept {
    index_t rounds = 0;
    for (const index_t d : how.integers)
      for (index_t n = extents[static_cast<int>(d)]; n > 1; n -= n / 2) ++rounds;
    return 5 * rounds * (numbers / 2);
  }
  [[nodiscard]] static constexpr bounded_text<47> words(text_view name,
                                                        const attributes& how) noexcept {
    bounded_text<47> words = words_of(name, how);
    if (how.number != 0) words << " adjoint";
    return words;
  }
};

}  // namespace internal

namespace detail {

/// The common part of transforms from complex to complex numbers.
template <fixed_string Name>
struct complex_spectra : of_spectra {
  static constexpr text_view name = Name;
  static constexpr dims_among names{.beyond = 1};

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = whole_rule(how, rank);
    out.factors[rank - 1] = factor_kind::need_replication;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return check_pairs(how, operands[0]);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    const tensor_desc& x = operands[0];
    return {.flops = flops(how, x.extents, largest_shard_size(mesh, x.layout, x.extents))};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words(name, how);
  }
};

}  // namespace detail

struct ifft_operation;
struct irfft_operation;

/// The operation that computes the Fourier transform of complex numbers.
struct fft_operation : detail::complex_spectra<"fft"> {
  using emits = emitted_operations<ifft_operation>;
  static constexpr void gradient(gradient_step& at);
};
/// The operation that computes its inverse.
struct ifft_operation : detail::complex_spectra<"ifft"> {
  using emits = emitted_operations<fft_operation>;
  static constexpr void gradient(gradient_step& at) {
    at.give(0, emit<fft_operation>(adjoint(at.how()), at.cotangent()));
  }
};
constexpr void fft_operation::gradient(gradient_step& at) {
  at.give(0, emit<ifft_operation>(adjoint(at.how()), at.cotangent()));
}

/// The operation that computes the Fourier transform of real numbers, as complex ones. The last
/// dimension that it lists has only the first half of its results: the others are their conjugates.
///
///     ([i, j]) -> ([i, k, l])        // along j; l are the pairs
struct rfft_operation : internal::of_spectra {
  static constexpr text_view name = "rfft";
  static constexpr dims_among names{};

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const index_t halved = how.integers.back();
    const index_t size = operands[0].extents[static_cast<int>(halved)];
    factor_rule out = whole_rule(how, rank);
    resize(out, halved, size == dyn ? dyn : size / 2 + 1);
    out.result.push_back(0);
    resize(out, rank, 2);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    if (rank + 1 > max_rank)
      return {.rule = violation::rank_is_too_high, .have = rank + 1, .want = max_rank};
    return check_dims(how, rank);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    const tensor_desc& x = operands[0];
    return {.flops = flops(how, x.extents, largest_shard_size(mesh, x.layout, x.extents))};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words(name, how);
  }
  using emits = emitted_operations<irfft_operation>;
  static constexpr void gradient(gradient_step& at);
};

/// The operation that computes its inverse. Its last integer is the length of the dimension of
/// which only half is given, 0 for the even one.
///
///     ([i, j, k]) -> ([i, l])        // along j; k are the pairs
struct irfft_operation : internal::of_spectra {
  static constexpr text_view name = "irfft";
  static constexpr dims_among names{.others = 1, .beyond = 1};

  /// Returns the dimensions alone, as the attributes of `rfft`.
  [[nodiscard]] static constexpr attributes dims(attributes how) noexcept {
    how.integers.pop_back();
    return how;
  }
  /// Returns the length of the result along the halved dimension of the operand.
  [[nodiscard]] static constexpr index_t length(const attributes& how,
                                                const tensor_desc& x) noexcept {
    if (how.integers.back() != 0) return how.integers.back();
    const index_t half = x.extents[static_cast<int>(dims(how).integers.back())];
    return half == dyn ? dyn : 2 * (half - 1);
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const attributes along = dims(how);
    factor_rule out = whole_rule(along, rank);
    out.factors[rank - 1] = factor_kind::need_replication;
    out.result.pop_back();
    resize(out, along.integers.back(), length(how, operands[0]));
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const tensor_desc& x = operands[0];
    if (const diagnosis pairs = check_pairs(dims(how), x); !pairs.ok()) return pairs;
    const auto halved = static_cast<int>(dims(how).integers.back());
    const index_t half = x.extents[halved], made = length(how, x);
    if (how.integers.back() < 0)
      return {.rule = violation::extent_is_negative, .have = how.integers.back()};
    if (half == dyn || made == dyn) return {};
    if (half > 0 && half == made / 2 + 1) return {};
    return {.rule = violation::operand_sizes_differ,
            .operand = 0,
            .dim = halved,
            .have = half,
            .want = half == 0 ? 1 : made / 2 + 1};
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs&,
                                                     const tensor_desc& made) noexcept {
    return {.flops = flops(dims(how), made.extents,
                           largest_shard_size(mesh, made.layout, made.extents))};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words(name, how.integers.back() == 0 ? dims(how) : how);
  }
  using emits = emitted_operations<rfft_operation>;
  static constexpr void gradient(gradient_step& at) {
    at.give(0, emit<rfft_operation>(adjoint(dims(at.how())), at.cotangent()));
  }
};
constexpr void rfft_operation::gradient(gradient_step& at) {
  attributes how = adjoint(at.how());
  how.integers.push_back(at.operand(0).tensor().extents[static_cast<int>(how.integers.back())]);
  at.give(0, emit<irfft_operation>(how, at.cotangent()));
}

}  // namespace shardwise
