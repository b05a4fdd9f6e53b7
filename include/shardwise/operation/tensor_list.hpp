// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

/// A list of tensors of one type: an array, a vector, a span.
template <class X>
concept TensorList = !NamedOperand<X> && requires(const std::remove_cvref_t<X>& x) {
  x.size();
  requires NamedOperand<decltype(*x.data())>;
};

namespace internal {

/// The length of a list, or `dyn` if its type does not determine it.
template <class List>
inline constexpr index_t list_length = dyn;
template <class List>
  requires requires { std::tuple_size<List>::value; }
inline constexpr index_t list_length<List> = static_cast<index_t>(std::tuple_size<List>::value);
template <class List>
  requires requires { List::extent; }
inline constexpr index_t list_length<List> = static_cast<index_t>(List::extent);

/// The extents of `Length` tensors in a row along `Dim`, given those of two.
template <class OfTwo, int Dim, index_t Length>
struct extents_in_a_row {
  static constexpr extents_desc extents_value = [] {
    extents_desc out = OfTwo::value;
    index_t& size = out[counted_from_front(Dim, out.ssize())];
    if (size != dyn) size = Length == dyn ? dyn : size / 2 * Length;
    return out;
  }();
};
/// The type of `Length` tensors in a row along `Dim`, given that of two.
template <class OfTwo, int Dim, index_t Length>
struct tensors_in_a_row {
  using type = typename OfTwo::domain::template tensor<
      typename OfTwo::value_type,
      extents_from_value<extents_in_a_row<typename OfTwo::extents_type, Dim, Length>>,
      typename OfTwo::layout_type>;
};
template <ValueOperand OfTwo, int Dim, index_t Length>
struct tensors_in_a_row<OfTwo, Dim, Length> {
  using type = OfTwo;
};

/// Applies an operation to `count` tensors of one type, after they have been gathered over
/// permitted axes, a bit mask.
template <class Operation, class Made, class X>
[[nodiscard]] constexpr Made apply_to_list(unsigned permitted, const X* const* list, int count) {
  if constexpr (ValueOperand<X>)
    return X::value_domain::template apply_to_list<Operation, Made>(permitted, list, count);
  else
    return X::domain::template apply_to_list<Operation, Made>(permitted, list, count);
}

/// At most as many values as an operation has operands.
template <class X>
class operand_group {
 public:
  [[nodiscard]] constexpr int size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool is_full() const noexcept { return size_ == max_operands; }
  constexpr void add(const X& x) { slots_[size_++].emplace(x); }
  /// Removes all values and returns `f(list, count)` of them, reversed or not.
  template <class Made, class F>
  [[nodiscard]] constexpr Made take(bool is_reversed, const F& f) {
    const X* list[max_operands]{};
    for (int i = 0; i < size_; ++i) list[is_reversed ? size_ - 1 - i : i] = &*slots_[i];
    Made made = f(list, size_);
    for (std::optional<X>& slot : slots_) slot.reset();
    size_ = 0;
    return made;
  }

 private:
  std::optional<X> slots_[max_operands];
  int size_ = 0;
};

/// Combines any number of values with operations that have few operands: groups of values become
/// parts, and groups of parts become larger parts. So each element is copied once for each level,
/// of which there are few, and values are released early. `Combine` has functions
/// `leaf<Made>(values, count)` and `join<Made>(parts, count)`.
template <class Value, class Part, class Combine>
class growing_combination {
 public:
  /// Combines values that are added from the last to the first if `is_reversed`.
  constexpr explicit growing_combination(const Combine& combine, bool is_reversed = false)
      : combine_(combine), is_reversed_(is_reversed) {}

  constexpr void add(const Value& value) {
    if (values_.is_full()) add_part(0, made_of_values<Part>());
    values_.add(value);
  }
  /// Returns all values combined; there is at least one.
  template <class Made>
  [[nodiscard]] constexpr Made finish() {
    if (levels_ == 0) return made_of_values<Made>();
    add_part(0, made_of_values<Part>());
    int level = 0;
    for (; level + 1 < levels_; ++level) add_part(level + 1, made_of_parts<Part>(level));
    return made_of_parts<Made>(level);
  }

 private:
  /// Enough for more values than memory has bytes.
  static constexpr int most_levels = 20;

  template <class Made>
  [[nodiscard]] constexpr Made made_of_values() {
    return values_.template take<Made>(is_reversed_, [&](const Value* const* list, int count) {
      return combine_.template leaf<Made>(list, count);
    });
  }
  template <class Made>
  [[nodiscard]] constexpr Made made_of_parts(int level) {
    return parts_[level].template take<Made>(is_reversed_,
                                             [&](const Part* const* list, int count) -> Made {
                                               if constexpr (std::is_same_v<Made, Part>)
                                                 if (count == 1) return *list[0];
                                               return combine_.template join<Made>(list, count);
                                             });
  }
  constexpr void add_part(int level, const Part& part) {
    if (level == levels_) ++levels_;
    if (parts_[level].is_full()) add_part(level + 1, made_of_parts<Part>(level));
    parts_[level].add(part);
  }

  const Combine& combine_;
  bool is_reversed_;
  operand_group<Value> values_;
  operand_group<Part> parts_[most_levels];
  int levels_ = 0;
};

/// The call that combines the tensors of a list along `Dim` by the operation `Leaf`. If there are
/// more than an operation takes, `Leaf` combines groups of them, and `Join` the results.
template <int Dim, class Leaf, class Join, class Permitted>
struct list_call {
  template <class List>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using list = std::remove_cvref_t<List>;
    using of_two = decltype(judge_two<decltype(*std::declval<const list&>().data())>());
    if constexpr (list_length<list> == 0)
      return answer_to<Leaf>([] { return none_at_all; });
    else if constexpr (of_two::ok)
      return allowed<
          typename tensors_in_a_row<typename of_two::type, Dim, list_length<list>>::type>{};
    else
      return of_two{};
  }
  template <class List>
  [[nodiscard]] static constexpr auto apply(const List& list) {
    require_some(list.size());
    const auto* each = list.data();
    using X = std::remove_cvref_t<decltype(*each)>;
    if constexpr (ValueOperand<X>) require(Permitted::check(each->mesh()));
    const combine_tensors<X> combine{Permitted::bits(each->mesh())};
    growing_combination<const X*, part_of<X>, combine_tensors<X>> all(combine);
    for (auto left = list.size(); left > 0; --left) all.add(each++);
    return all.template finish<typename decltype(judge<List>())::type>();
  }

  /// Checks two tensors of one type.
  template <class X>
  [[nodiscard]] static constexpr auto judge_two() noexcept {
    return judge_part<fetching_call<Leaf, Permitted>, const X&, const X&>();
  }
  /// The type of `Length` tensors of type `X` combined.
  template <class X, index_t Length>
  using made_of =
      typename tensors_in_a_row<typename decltype(judge_two<X>())::type, Dim, Length>::type;
  template <class X>
  using part_of = made_of<X, dyn>;
  /// Reports an empty list.
  static constexpr void require_some(auto count) {
    if (count == 0) fail(none_at_all, "a list of tensors that are combined is not empty");
  }

 private:
  static constexpr diagnosis none_at_all{
      .rule = violation::operand_count_differs, .have = 0, .want = 1};

  template <class X>
  struct combine_tensors {
    unsigned permitted = 0;

    template <class Made>
    [[nodiscard]] constexpr Made leaf(const X* const* const* values, int count) const {
      const X* list[max_operands]{};
      for (int i = 0; i < count; ++i) list[i] = *values[i];
      return apply_to_list<Leaf, Made>(permitted, list, count);
    }
    template <class Made>
    [[nodiscard]] constexpr Made join(const part_of<X>* const* parts, int count) const {
      return apply_to_list<Join, Made>(permitted, parts, count);
    }
  };
};

}  // namespace internal

}  // namespace shardwise
