// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/plan/redistribute.hpp"
#include "shardwise/rule/propagate.hpp"

namespace shardwise {

/// What an operation of a program does.
enum class step_kind : std::uint8_t { input, pointwise, einsum, fold, reshard };

/// The field's name of a kind of step.
[[nodiscard]] constexpr text_view to_text(step_kind kind) noexcept {
  constexpr text_view words[] = {"input", "pointwise", "einsum", "fold", "reshard"};
  return words[static_cast<unsigned>(kind)];
}

/// The highest number of tensors that one fused pass reads.
inline constexpr int max_fused_operands = 8;

/// The numbers of the steps whose results a step reads.
using step_operands = inplace_vector<std::int32_t, max_fused_operands>;

/// One step of a program: a fused pass, a contraction, a fold, or one collective.
struct step_desc {
  step_kind kind = step_kind::input;
  /// The functions of a fused pass from the first on, the equation of an einsum, the fold's name.
  text<60> label{};
  /// The steps whose results it reads.
  step_operands operands{};
  tensor_desc result{};
  /// The floating-point operations of one device, for the largest shard.
  index_t flops = 0;
  /// The same for one element of a fused pass.
  index_t flops_per_element = 0;
  /// The collective, if it is one.
  collective moved = collective::slice;
  /// How a collective that reduces folds.
  reduction fold = reduction::sum;
  axis_list axes{};
  inplace_vector<index_t, max_axes> bytes{};
  /// True if the program's caller keeps the result.
  bool kept = false;
};

/// What a program costs one device: collectives by kind and axis, bytes that it receives, floating
/// point operations, and the most memory that its tensors take at once.
///
/// A collective over several axes is one collective; it counts for each of its axes, and its bytes
/// are charged to them as in the hierarchy that does the same. Slices move nothing and are no
/// collectives, and neither is what runs over axes of size 1. Sizes are those of the largest shard.
class ledger {
 public:
  constexpr ledger() = default;
  constexpr explicit ledger(const mesh_desc& mesh) noexcept : mesh_(mesh) {}

  /// How many collectives there are: all, of one kind, over one axis, or of one kind over one axis.
  [[nodiscard]] constexpr index_t collectives() const noexcept {
    index_t n = 0;
    for (int k = 1; k < collective_count; ++k) n += counts_[k];
    return n;
  }
  [[nodiscard]] constexpr index_t collectives(collective kind) const noexcept {
    return counts_[static_cast<unsigned>(kind)];
  }
  [[nodiscard]] constexpr index_t collectives(text_view axis) const {
    index_t n = 0;
    for (int k = 1; k < collective_count; ++k) n += collectives(static_cast<collective>(k), axis);
    return n;
  }
  [[nodiscard]] constexpr index_t collectives(collective kind, text_view axis) const {
    return axis_counts_[static_cast<unsigned>(kind)][number_of(axis)];
  }

  /// The bytes that a device receives: in all, by kind, over one axis, or by kind over one axis.
  [[nodiscard]] constexpr index_t bytes_moved() const noexcept {
    index_t n = 0;
    for (const auto& row : bytes_)
      for (index_t b : row) n += b;
    return n;
  }
  [[nodiscard]] constexpr index_t bytes_moved(collective kind) const noexcept {
    index_t n = 0;
    for (index_t b : bytes_[static_cast<unsigned>(kind)]) n += b;
    return n;
  }
  [[nodiscard]] constexpr index_t bytes_moved(text_view axis) const {
    index_t n = 0;
    for (int k = 0; k < collective_count; ++k) n += bytes_moved(static_cast<collective>(k), axis);
    return n;
  }
  [[nodiscard]] constexpr index_t bytes_moved(collective kind, text_view axis) const {
    return bytes_[static_cast<unsigned>(kind)][number_of(axis)];
  }

  /// The floating-point operations of one device.
  [[nodiscard]] constexpr index_t flops() const noexcept { return flops_; }
  /// The most bytes that the tensors of the program take on one device at once.
  [[nodiscard]] constexpr index_t peak_bytes_per_device() const noexcept { return peak_; }
  [[nodiscard]] constexpr const mesh_desc& mesh() const noexcept { return mesh_; }

  /// Adds a step that ran, or would run.
  constexpr void count(const step_desc& step) noexcept {
    flops_ += step.flops;
    // Over axes of size 1 there is nobody to talk to.
    if (step.kind != step_kind::reshard || mesh_.parts(step.axes) == 1) return;
    const auto kind = static_cast<unsigned>(step.moved);
    ++counts_[kind];
    for (int i = 0; i < step.axes.ssize(); ++i) {
      ++axis_counts_[kind][step.axes[i]];
      bytes_[kind][step.axes[i]] += step.bytes[i];
    }
  }
  /// Adds a step of arithmetic alone.
  constexpr void count_flops(index_t flops) noexcept { flops_ += flops; }
  /// Notes how many bytes are live on each device.
  constexpr void note_live(index_t bytes) noexcept { peak_ = bytes > peak_ ? bytes : peak_; }

  friend constexpr bool operator==(const ledger&, const ledger&) = default;

 private:
  [[nodiscard]] constexpr std::size_t number_of(text_view axis) const {
    const int a = mesh_.find(axis);
    if (a < 0) fail({.rule = broken::axis_is_not_in_mesh, .axis = name(axis)});
    return static_cast<std::size_t>(a);
  }

  mesh_desc mesh_{};
  index_t counts_[collective_count]{};
  index_t axis_counts_[collective_count][max_axes]{};
  index_t bytes_[collective_count][max_axes]{};
  index_t flops_ = 0;
  index_t peak_ = 0;
};

}  // namespace shardwise
