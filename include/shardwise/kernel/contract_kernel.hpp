// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/expression/fused.hpp"
#include "shardwise/kernel/contraction.hpp"
#include "shardwise/kernel/contraction_arithmetic.hpp"
#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/matrix_product.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"
#include "shardwise/kernel/reduce_kernel.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/strided.hpp"
#include "shardwise/spec/reduction.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {
/// The epilogue that does nothing: then panels have no benefit.
struct no_epilogue {
  constexpr void operator()(index_t, index_t) const noexcept {}
};

/// The local part of a contraction of two operands, in the steps listed by `run`.
template <class T>
class contraction_run {
 public:
  contraction_run(const contraction_arithmetic<T>& how, const contraction_labels& what,
                  const strided<const T>& a, const strided<const T>& b,
                  const strided<T>& out) noexcept
      : how_(how), a_(what.a, a), b_(what.b, b), out_(what.out, out) {
    for (int d = 0; d < a.rank(); ++d) extents_[what.a[d]] = a.extents[d];
    for (int d = 0; d < b.rank(); ++d) extents_[what.b[d]] = b.extents[d];
    if (out.rank() > 0) rows_ = out.extents[0];
    if (out.rank() > 0 && rows_ > 1) first_ = what.out[0];
    empty_ = out.size() == 0;
  }

  template <class Epilogue>
  void run(const Epilogue& epilogue) {
    if (empty_) return;
    reduce_alone(a_, b_, reduced_a_);
    reduce_alone(b_, a_, reduced_b_);
    // The rows of the result are those of the left matrix.
    if (first_ >= 0 && !a_.has(static_cast<std::uint8_t>(first_))) std::swap(a_, b_);
    classify();
    if (k_.labels.empty())
      multiply_elements();
    else if (m_.labels.empty() && n_.labels.empty())
      multiply_and_reduce();
    else if (k_.size(extents_) == 0)
      fill_block(identity_of<T>(how_.reduce),
                 whole(out_.labels).view(out_.data, out_.strides, extents_));
    else
      return multiply_labels(epilogue);
    epilogue(index_t{0}, rows_);
  }

 private:
  using operand = labelled<const T>;

  [[nodiscard]] static dimensions whole(const contraction_labels::labels& labels) noexcept {
    return {labels};
  }

  /// Reduces an operand over the labels that only it has.
  void reduce_alone(operand& mine, const operand& other, std::optional<packed_block<T>>& reduced) {
    std::uint8_t alone = 0;
    for (int i = 0; i < mine.labels.ssize(); ++i)
      if (!other.has(mine.labels[i]) && !out_.has(mine.labels[i]))
        alone = static_cast<std::uint8_t>(alone | 1U << i);
    if (alone == 0) return;
    dimensions kept;
    for (int i = 0; i < mine.labels.ssize(); ++i)
      if ((alone >> i & 1U) == 0) kept.labels.push_back(mine.labels[i]);
    reduced.emplace(kept, extents_);
    reduce_one(*how_.reducer, whole(mine.labels).view(mine.data, mine.strides, extents_),
               whole(mine.labels).view(reduced->data(), reduced->strides, extents_), alone);
    mine.data = reduced->data();
    mine.labels = kept.labels;
    std::copy_n(reduced->strides, max_labels, mine.strides);
  }

  void classify() noexcept {
    for (std::uint8_t label : a_.labels)
      (b_.has(label) ? out_.has(label) ? batch_ : k_ : m_).labels.push_back(label);
    for (std::uint8_t label : b_.labels)
      if (!a_.has(label)) n_.labels.push_back(label);
    batch_.sort(out_.strides);
    m_.sort(out_.strides);
    n_.sort(out_.strides);
    k_.sort(m_.size(extents_) < n_.size(extents_) ? b_.strides : a_.strides);
  }

  /// Nothing is reduced: an elementwise or an outer product.
  void multiply_elements() {
    const dimensions all = whole(out_.labels);
    run_erased<T, 2>(
        how_.product,
        {all.view(a_.data, a_.strides, extents_), all.view(b_.data, b_.strides, extents_)},
        all.view(out_.data, out_.strides, extents_));
  }

  /// Every label is in both operands: a dot product for each element of the result.
  void multiply_and_reduce() {
    const dimensions all = whole(a_.labels);
    std::uint8_t reduced = 0;
    for (int i = 0; i < all.labels.ssize(); ++i)
      if (!out_.has(all.labels[i])) reduced = static_cast<std::uint8_t>(reduced | 1U << i);
    reduce_erased<T, 2>(
        *how_.reducer, how_.product, false,
        {all.view(a_.data, a_.strides, extents_), all.view(b_.data, b_.strides, extents_)},
        all.view(out_.data, out_.strides, extents_), reduced);
  }

  template <class U>
  [[nodiscard]] matrix_view<U> matrix(U* data, const index_t* strides, const dimensions& rows,
                                      const dimensions& columns) const noexcept {
    return {data, rows.size(extents_), columns.size(extents_), rows.stride(strides, extents_),
            columns.stride(strides, extents_)};
  }
  [[nodiscard]] dimensions batched(const dimensions& rows,
                                   const dimensions& columns) const noexcept {
    dimensions all = batch_;
    for (std::uint8_t label : rows.labels) all.labels.push_back(label);
    for (std::uint8_t label : columns.labels) all.labels.push_back(label);
    return all;
  }
  /// Returns the operand as matrices, packed once if its strides are not those of a matrix.
  [[nodiscard]] matrix_view<const T> prepare(operand& mine, const dimensions& rows,
                                             const dimensions& columns,
                                             std::optional<packed_block<T>>& pack) {
    const auto in_place = matrix<const T>(mine.data, mine.strides, rows, columns);
    if (in_place.is_usable()) return in_place;
    const dimensions all = batched(rows, columns);
    pack.emplace(all, extents_);
    copy_block<T>(all.view(mine.data, mine.strides, extents_), pack->view(extents_));
    mine.data = pack->data();
    std::copy_n(pack->strides, max_labels, mine.strides);
    return matrix<const T>(mine.data, mine.strides, rows, columns);
  }

  /// Copies an operand whose elements are not in the order of its labels, such as a transpose.
  void put_in_order(operand& mine, std::optional<packed_block<T>>& pack) {
    index_t least = 1;
    bool is_in_order = true;
    for (int i = mine.labels.ssize() - 1; i >= 0; --i) {
      const index_t stride = mine.strides[mine.labels[i]];
      is_in_order = is_in_order && (i + 1 == mine.labels.ssize() ? stride == 1 : stride >= least);
      least = stride * extents_[mine.labels[i]];
    }
    if (is_in_order) return;
    const dimensions all = whole(mine.labels);
    pack.emplace(all, extents_);
    copy_block<T>(all.view(mine.data, mine.strides, extents_), pack->view(extents_));
    mine.data = pack->data();
    std::copy_n(pack->strides, max_labels, mine.strides);
  }

  template <class Epilogue>
  void multiply_labels(const Epilogue& epilogue) {
    std::optional<packed_block<T>> pack_a, pack_b, pack_out;
    // Products with vectors, and sums over several labels, add in the order of the memory.
    if (k_.labels.ssize() > 1 || m_.size(extents_) == 1 || n_.size(extents_) == 1) {
      put_in_order(a_, ordered_a_);
      put_in_order(b_, ordered_b_);
      k_.sort(m_.size(extents_) < n_.size(extents_) ? b_.strides : a_.strides);
    }
    auto a = prepare(a_, m_, k_, pack_a), b = prepare(b_, k_, n_, pack_b);
    auto out = matrix<T>(out_.data, out_.strides, m_, n_);
    const dimensions all = batched(m_, n_);
    const strided<T> result = all.view(out_.data, out_.strides, extents_);
    if (!out.is_usable()) {
      pack_out.emplace(all, extents_);
      std::copy_n(pack_out->strides, max_labels, out_.strides);
      out = matrix<T>(pack_out->data(), out_.strides, m_, n_);
    }
    if (!pack_out && batch_.labels.empty() && !m_.labels.empty() && m_.labels[0] == first_)
      return multiply_panels(a, b, out, epilogue);
    loop_nest<3> nest;
    for (int label : batch_.labels)
      nest.push({extents_[label], {a_.strides[label], b_.strides[label], out_.strides[label]}});
    const auto a0 = a.data, b0 = b.data;
    const auto out0 = out.data;
    for (index_t i = 0; i < nest.size(); ++i) {
      const auto at = nest.at(i);
      a.data = a0 + at.offsets[0];
      b.data = b0 + at.offsets[1];
      out.data = out0 + at.offsets[2];
      how_.multiply(a, b, out);
    }
    if (pack_out) {
      const strided<T> packed = pack_out->view(extents_);
      copy_block<T>({packed.data, packed.extents, packed.strides}, result);
    }
    epilogue(index_t{0}, rows_);
  }

  /// If few products are summed, the result is finished panel by panel while it is in the cache; if
  /// many are, every panel would pack `b` again.
  template <class Epilogue>
  void multiply_panels(const matrix_view<const T>& a, const matrix_view<const T>& b,
                       const matrix_view<T>& out, const Epilogue& epilogue) {
    constexpr index_t few = 128;
    const index_t row = out.rows / rows_;
    const bool in_panels = !std::is_same_v<Epilogue, no_epilogue> && k_.size(extents_) <= few;
    const index_t panel = in_panels ? std::max<index_t>(1, few / row) : rows_;
    for (index_t begin = 0; begin < rows_; begin += panel) {
      const index_t end = std::min(begin + panel, rows_);
      how_.multiply(a.row_range(begin * row, end * row), b, out.row_range(begin * row, end * row));
      epilogue(begin, end);
    }
  }

  contraction_arithmetic<T> how_;
  operand a_, b_;
  labelled<T> out_;
  index_t extents_[max_labels]{};
  index_t rows_ = 1;
  int first_ = -1;
  bool empty_ = false;
  dimensions batch_, m_, n_, k_;
  std::optional<packed_block<T>> reduced_a_, reduced_b_, ordered_a_, ordered_b_;
};
/// Returns the labels of a single operand that are not in the result.
[[nodiscard]] inline contraction_labels::labels reduced_alone(
    const contraction_labels& what) noexcept {
  contraction_labels::labels alone;
  for (const auto* mine : {&what.a, &what.b})
    for (const std::uint8_t label : *mine) {
      const auto& other = mine == &what.a ? what.b : what.a;
      if (!other.contains(label) && !what.out.contains(label) && !alone.contains(label) &&
          !alone.full())
        alone.push_back(label);
    }
  return alone;
}
/// Selects one index of a label: the operand without the dimensions of that label.
template <class T>
void take_index(std::uint8_t label, index_t index, contraction_labels::labels& names,
                strided<const T>& view) {
  contraction_labels::labels kept;
  strided<const T> rest{view.data, {}, {}};
  for (int d = 0; d < view.rank(); ++d) {
    if (names[d] == label) {
      advance(rest, index * view.strides[d]);
      continue;
    }
    kept.push_back(names[d]);
    rest.extents.push_back(view.extents[d]);
    rest.strides.push_back(view.strides[d]);
  }
  names = kept;
  view = rest;
}
[[nodiscard]] inline index_t extent_of(std::uint8_t label, const contraction_labels::labels& names,
                                       const inplace_vector<index_t, max_rank>& extents) noexcept {
  const int d = names.find(label);
  return d < 0 ? 0 : extents[d];
}
}  // namespace detail

/// Computes `out = einsum(a, b)` on local blocks, overwriting `out`, which must not be an operand.
/// After rows [begin, end) of its first dimension are final, `epilogue(begin, end)` is called: for
/// all of them at once, or for panels if few products are reduced.
///
/// Matrix products are computed in place if the strides permit it, and otherwise on packed copies.
/// The bits depend only on the extents and strides.
template <class T, class Epilogue>
void contract(const contraction_arithmetic<T>& how, const contraction_labels& what,
              const strided<const T>& a, const strided<const T>& b, const strided<T>& out,
              const Epilogue& epilogue) {
  const auto alone = how.distributes ? contraction_labels::labels{} : detail::reduced_alone(what);
  if (alone.empty()) return detail::contraction_run<T>(how, what, a, b, out).run(epilogue);
  // Each index of such a label is computed separately, since products do not distribute over the
  // reduction.
  if (out.size() == 0) return;
  const std::uint8_t label = alone[0];
  const bool in_a = what.a.contains(label);
  const index_t extent = in_a ? detail::extent_of(label, what.a, a.extents)
                              : detail::extent_of(label, what.b, b.extents);
  if (extent == 0) fill_block(identity_of<T>(how.reduce), out);
  const std::unique_ptr<T[]> memory =
      std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(out.size()));
  const strided<T> next{memory.get(), out.extents, row_major(out.extents)};
  for (index_t i = 0; i < extent; ++i) {
    contraction_labels left = what;
    strided<const T> x = a, y = b;
    in_a ? detail::take_index(label, i, left.a, x) : detail::take_index(label, i, left.b, y);
    contract<T>(how, left, x, y, i == 0 ? out : next, detail::no_epilogue{});
    if (i > 0) reduce_block<T>(how.reduce, {next.data, next.extents, next.strides}, out);
  }
  epilogue(index_t{0}, out.rank() > 0 ? out.extents[0] : 1);
}
/// The same for sums of products.
template <class T, class Epilogue>
void contract(const contraction_labels& what, const strided<const T>& a, const strided<const T>& b,
              const strided<T>& out, const Epilogue& epilogue) {
  contract<T>(detail::arithmetic_of<plus_times_semiring, T>(), what, a, b, out, epilogue);
}

/// The same without an epilogue.
template <class T>
void contract(const contraction_labels& what, const strided<const T>& a, const strided<const T>& b,
              const strided<T>& out) {
  contract<T>(what, a, b, out, detail::no_epilogue{});
}

/// Computes the einsum of one operand: reductions, permutations, diagonals. `what.b` is not read.
template <class T>
void contract(const detail::reducer<T>& reduce, const contraction_labels& what,
              const strided<const T>& a, const strided<T>& out) {
  const detail::labelled<const T> from(what.a, a);
  const detail::labelled<T> to(what.out, out);
  index_t extents[detail::max_labels]{};
  for (int d = 0; d < a.rank(); ++d) extents[what.a[d]] = a.extents[d];
  if (out.size() == 0) return;
  const detail::dimensions all{from.labels};
  std::uint8_t reduced = 0;
  for (int i = 0; i < all.labels.ssize(); ++i)
    if (!to.has(all.labels[i])) reduced = static_cast<std::uint8_t>(reduced | 1U << i);
  const auto source = all.view(from.data, from.strides, extents);
  const auto target = all.view(to.data, to.strides, extents);
  if (reduced == 0) return copy_block<T>(source, target);
  detail::reduce_one(reduce, source, target, reduced);
}
/// The same with sums.
template <class T>
void contract(const contraction_labels& what, const strided<const T>& a, const strided<T>& out) {
  contract<T>(detail::reducer_with<T, reduction::sum>, what, a, out);
}

/// The local part of a contraction of one or two operands of `T` over a semiring: the labels of
/// dimensions are the factors of its rule. `bool` elements are bytes of 0 and 1.
template <class S, class T>
void contract_blocks(const kernel_call& call) {
  constexpr bool of_bytes = std::is_same_v<T, bool>;
  using C = std::conditional_t<of_bytes, std::uint8_t, T>;
  const factor_rule& rule = call.rule;
  const auto run_one = [&](const strided<const C>& a, const strided<C>& out) {
    contract<C>(detail::reducer_with<C, S::reduce>, {rule.operands[0], {}, rule.result}, a, out);
  };
  const auto run_two = [&](const strided<const C>& a, const strided<const C>& b,
                           const strided<C>& out) {
    contract<C>(detail::arithmetic_of<S, C>(), {rule.operands[0], rule.operands[1], rule.result}, a,
                b, out, detail::no_epilogue{});
  };
  if (call.operands.size() == 1)
    on_blocks<C, 1>(call, run_one);
  else
    on_blocks<C, 2>(call, run_two);
  // The identity of a minimum of bytes is not a valid `bool`.
  if constexpr (of_bytes && S::reduce == reduction::min) {
    constexpr C most = 1;
    inplace_vector<index_t, max_rank> nowhere;
    const strided<C> out = call.results[0].as<C>();
    nowhere.resize(out.extents.size());
    reduce_block<C>(reduction::min, {&most, out.extents, nowhere}, out);
  }
}

}  // namespace shardwise
