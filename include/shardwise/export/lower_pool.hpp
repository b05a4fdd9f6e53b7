// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lowering.hpp"
#include "shardwise/operation/pool.hpp"

#include <string>
#include <vector>

namespace shardwise::internal::window_lowerings {

inline mlir_values pool(lowering& at) {
  const mlir_value& x = at.in();
  const int leading = x.type.rank() - pooled::dimensions(at.how());
  std::vector<index_t> sizes, strides, spacing, ones, padding;
  for (int d = 0; d < x.type.rank(); ++d) {
    const dimension_window reads =
        d < leading ? dimension_window{} : pooled::forward(at.how(), d - leading);
    sizes.push_back(reads.span);
    strides.push_back(reads.stride);
    spacing.push_back(reads.spacing);
    ones.push_back(1);
    padding.push_back(reads.low);
    padding.push_back(reads.high);
  }
  const mlir_value begin = at.identity(at.how().kind, x.type.element);
  const std::string body = at.combining(stablehlo_ops::name_of(at.how().kind), x.type.element);
  const mlir_value made = at.text().append(
      "stablehlo.reduce_window", {x, begin}, {at.result()},
      "window_dimensions = " + mlir_array(sizes) + ", window_strides = " + mlir_array(strides) +
          ", base_dilations = " + mlir_array(spacing) + ", window_dilations = " + mlir_array(ones) +
          ", padding = " + mlir_pairs(padding),
      body)[0];
  const index_t divisor = at.integer_at(15);
  if (divisor == 1) return {made};
  return {at.divide(made, at.integer(divisor, made.type))};
}

/// The windows of a pooling, one position of all windows after the other.
class window_positions {
 public:
  window_positions(lowering& at, const extents_desc& have, const extents_desc& windows)
      : at_(at), have_(have), windows_(windows) {
    leading_ = have.ssize() - pooled::dimensions(at.how());
    for (int d = 0; d < have.ssize(); ++d) {
      reads_.push_back(d < leading_ ? dimension_window{} : pooled::forward(at.how(), d - leading_));
      low_.push_back(reads_[static_cast<std::size_t>(d)].low);
      high_.push_back(reads_[static_cast<std::size_t>(d)].high);
    }
  }
  [[nodiscard]] bool is_spaced() const noexcept {
    for (const dimension_window& reads : reads_)
      if (reads.spacing != 1) return true;
    return false;
  }
  /// Returns a tensor with the padding that the windows read.
  mlir_value padded(const mlir_value& x) {
    return at_.pad(x, at_.scalar(index_t{0}, x.type.element), low_, high_);
  }
  /// Calls `f(place)` for each position in a window.
  template <class F>
  void for_each(const F& f) const {
    extents_desc place = have_;
    for (int d = 0; d < place.ssize(); ++d) place[d] = 0;
    for (;;) {
      f(place);
      int d = place.ssize() - 1;
      while (d >= leading_ && ++place[d] == reads_[static_cast<std::size_t>(d)].span)
        place[d--] = 0;
      if (d < leading_) return;
    }
  }
  /// Returns the elements at a position of all windows.
  mlir_value at_place(const mlir_value& padded, const extents_desc& place) {
    mlir_value out = padded;
    for (int d = leading_; d < place.ssize(); ++d)
      out = at_.slice(out, d, place[d], place[d] + reach(d),
                      reads_[static_cast<std::size_t>(d)].stride);
    return out;
  }
  /// Returns values of all windows at a position of theirs, among zeros, without the padding.
  mlir_value onto_elements(const mlir_value& values, const extents_desc& place) {
    extents_desc low = place, high = place, between = place, whole = have_;
    for (int d = 0; d < place.ssize(); ++d) {
      const bool is_read = d >= leading_;
      between[d] = is_read ? reads_[static_cast<std::size_t>(d)].stride - 1 : 0;
      low[d] = is_read ? place[d] - low_[d] : 0;
      high[d] = is_read ? have_[d] - reach(d) - low[d] : 0;
    }
    return at_.op(
        "pad", {values, at_.scalar(index_t{0}, values.type.element)}, values.type.sized(whole),
        "edge_padding_low = " + mlir_array(low) + ", edge_padding_high = " + mlir_array(high) +
            ", interior_padding = " + mlir_array(between));
  }
  /// Returns where elements of windows equal the numbers of these; those of the padding do not.
  mlir_value matches(const mlir_value& elements, const mlir_value& of_window,
                     const mlir_value& is_element) {
    mlir_value out = at_.compare(elements, "EQ", of_window);
    if (is_mlir_float(elements.type.element))
      out = at_.either(out, at_.both(at_.is_nan(elements), at_.is_nan(of_window)));
    return at_.both(out, is_element);
  }

 private:
  /// The number of elements from the first to the last window.
  [[nodiscard]] index_t reach(int d) const noexcept {
    return windows_[d] == 0 ? 0
                            : (windows_[d] - 1) * reads_[static_cast<std::size_t>(d)].stride + 1;
  }
  lowering& at_;
  extents_desc have_, windows_, low_, high_;
  int leading_ = 0;
  std::vector<dimension_window> reads_;
};

/// Sums, over windows, the elements of the third operand, or ones, where those of the first equal
/// the number of the window.
inline mlir_values pool_matches(lowering& at) {
  window_positions windows(at, at.in(0).type.extents, at.in(1).type.extents);
  if (windows.is_spaced()) return at.refuse("elements of its windows are apart");
  const mlir_value x = windows.padded(at.in(0));
  const mlir_value is_element = windows.padded(at.integer(1, at.in(0).type.of("i1")));
  const mlir_value added = at.count() > 2 ? windows.padded(at.in(2)) : mlir_value{};
  mlir_value sum = at.integer(0, at.result());
  windows.for_each([&](const extents_desc& place) {
    const mlir_value is_met =
        windows.matches(windows.at_place(x, place), at.in(1), windows.at_place(is_element, place));
    const mlir_value term =
        at.count() > 2 ? windows.at_place(added, place) : at.integer(1, at.result());
    sum = at.add(sum, at.select(is_met, term, at.integer(0, at.result())));
  });
  return {sum};
}
/// Adds the numbers of windows to the elements that equal those of the windows.
inline mlir_values pool_spread(lowering& at) {
  window_positions windows(at, at.in(0).type.extents, at.in(1).type.extents);
  if (windows.is_spaced()) return at.refuse("elements of its windows are apart");
  const mlir_value x = windows.padded(at.in(0));
  const mlir_value is_element = windows.padded(at.integer(1, at.in(0).type.of("i1")));
  mlir_value sum = at.integer(0, at.result());
  windows.for_each([&](const extents_desc& place) {
    const mlir_value is_met =
        windows.matches(windows.at_place(x, place), at.in(1), windows.at_place(is_element, place));
    const mlir_value share = at.select(is_met, at.in(2), at.integer(0, at.in(2).type));
    sum = at.add(sum, windows.onto_elements(share, place));
  });
  return {sum};
}

}  // namespace shardwise::internal::window_lowerings
