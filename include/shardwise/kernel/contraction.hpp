// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/core/inplace_vector.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/strided.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace shardwise {

/// The dimensions of the operands of an einsum: one label, a number below 16, for each. A label
/// that is repeated in an operand selects its diagonal; one that is not in `out` is summed.
///
///     "bi,io->bo":  a = {0, 1}, b = {1, 2}, out = {0, 2}
struct contraction_labels {
  using labels = inplace_vector<std::uint8_t, max_rank>;
  labels a{};
  labels b{};
  labels out{};
};

namespace detail {
inline constexpr int max_labels = 16;

/// A view by labels instead of dimensions. Labels of size 1 have no stride and are omitted.
template <class T>
struct labelled {
  T* data = nullptr;
  contraction_labels::labels labels{};
  index_t strides[max_labels]{};

  labelled(const contraction_labels::labels& names, const strided<T>& view) noexcept
      : data(view.data) {
    for (int d = 0; d < view.rank(); ++d) {
      if (view.extents[d] == 1) continue;
      if (!labels.contains(names[d])) labels.push_back(names[d]);
      strides[names[d]] += view.strides[d];
    }
  }
  [[nodiscard]] bool has(std::uint8_t label) const noexcept { return labels.contains(label); }
};

/// Dimensions that are traversed together, and their order.
struct dimensions {
  contraction_labels::labels labels{};

  void sort(const index_t* strides) noexcept {
    for (int i = 1; i < labels.ssize(); ++i)
      for (int j = i; j > 0 && strides[labels[j - 1]] < strides[labels[j]]; --j)
        std::swap(labels[j - 1], labels[j]);
  }
  [[nodiscard]] index_t size(const index_t* extents) const noexcept {
    index_t n = 1;
    for (int i = 0; i < labels.ssize(); ++i) n *= extents[labels[i]];
    return n;
  }
  /// Returns the single stride that traverses all of them in this order, or -1.
  [[nodiscard]] index_t stride(const index_t* strides, const index_t* extents) const noexcept {
    loop_nest<1> nest;
    for (int label : labels) nest.push({extents[label], {strides[label]}});
    return nest.rank() > 1 ? -1 : nest.inner_stride(0);
  }
  /// Returns a view of these dimensions.
  template <class T>
  [[nodiscard]] strided<T> view(T* data, const index_t* strides,
                                const index_t* extents) const noexcept {
    strided<T> result{data, {}, {}};
    for (int label : labels) {
      result.extents.push_back(extents[label]);
      result.strides.push_back(strides[label]);
    }
    return result;
  }
};

/// A contiguous block that holds the dimensions `these` of an operand or of the result.
template <class T>
class packed_block {
 public:
  packed_block(const dimensions& these, const index_t* extents)
      : these_(these), memory_(make_scratch<T>(static_cast<std::size_t>(these.size(extents)))) {
    index_t step = 1;
    for (int i = these.labels.ssize() - 1; i >= 0; --i) {
      strides[these.labels[i]] = step;
      step *= extents[these.labels[i]];
    }
  }
  [[nodiscard]] T* data() const noexcept { return memory_.get(); }
  [[nodiscard]] strided<T> view(const index_t* extents) const noexcept {
    return these_.view(memory_.get(), strides, extents);
  }

  index_t strides[max_labels]{};

 private:
  dimensions these_;
  scratch_array<T> memory_;
};
}  // namespace detail

}  // namespace shardwise
