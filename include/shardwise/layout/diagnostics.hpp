// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/respected.hpp"

namespace shardwise {

/// `Part`, the template argument at `Position` counted from 0, is not what a layout has there;
/// `detail::missing` where there is none.
template <int Position, class Part>
struct layout_is_malformed {
  static_assert(respected<layout_is_malformed>,
                "a layout has a mesh, a spec P<...>, a partial<...> and exact or uneven, in this "
                "order");
};

/// `Part`, the template argument at `Position` counted from 0, is not what a tensor has there;
/// `detail::missing` where there is none. The position is -1 for a `Part` that is no tensor at all.
template <int Position, class Part>
struct tensor_is_malformed {
  static_assert(respected<tensor_is_malformed>,
                "a sharded_tensor has an element type, extents<...> and a layout, in this order");
};

/// `Element` is no type of elements.
template <class Element>
struct element_is_not_supported {
  static_assert(
      respected<element_is_not_supported>,
      "elements are float, double, bfloat16, float16, bool or an integer of 8, 32 or 64 bits, "
      "none of them const");
};

/// `Dimension`, counted from 0, is the first that is too many.
template <class Dimension>
struct rank_is_too_high {
  static_assert(respected<rank_is_too_high>, "a tensor has at most 8 dimensions");
};

/// `Axis`, in entry `Dimension` of a spec (or among the pending axes), is not an axis of `Mesh`.
template <fixed_string Axis, class Dimension, class Mesh>
struct axis_is_not_in_mesh {
  static_assert(respected<axis_is_not_in_mesh>, "a partition spec may only name axes of its mesh");
};

/// `Axis` appears a second time in entry `Dimension`.
template <fixed_string Axis, class Dimension, class Spec>
struct axis_is_used_twice {
  static_assert(respected<axis_is_used_twice>, "a mesh axis may appear once in a layout");
};

/// Entry `Dimension` contains `Entry`, which is not the name of an axis.
template <fixed_string Entry, class Dimension, class Spec>
struct spec_is_malformed {
  static_assert(respected<spec_is_malformed>,
                "an entry is none, one axis, or by(axes), without blanks or nesting");
};

/// `Grain`, after the axes of entry `Dimension`, is no grain, or there are no axes before it.
template <fixed_string Grain, class Dimension, class Spec>
struct grain_is_malformed {
  static_assert(respected<grain_is_malformed>,
                "after its axes an entry may say %block, of 1 or more, or *chunks, of 2 or more");
};

/// `Axis` splits `Dimension` and is pending.
template <fixed_string Axis, class Dimension, class Spec, class Partial>
struct partial_axis_also_splits {
  static_assert(respected<partial_axis_also_splits>,
                "an axis is either pending or splits a dimension, not both");
};

/// `Axis` is written after an axis that follows it in the mesh.
template <fixed_string Axis, class Partial, class Mesh>
struct pending_axes_are_out_of_order {
  static_assert(respected<pending_axes_are_out_of_order>,
                "pending axes are written in the order of their mesh");
};

/// `Axis` is manual, and splits or is pending too, is not in `Mesh`, or comes too late; the line
/// after this one says in which layout.
template <fixed_string Axis, class Mesh>
struct manual_axis_is_used {
  static_assert(respected<manual_axis_is_used>,
                "manual axes are in mesh order and neither split a dimension nor are pending");
};

/// The spec has `Entries` entries and the tensor `Rank` dimensions.
template <int Entries, int Rank, class Spec, class Extents>
struct rank_differs_from_spec {
  static_assert(respected<rank_differs_from_spec>,
                "a partition spec has one entry for each dimension of its tensor");
};

/// `Dimension` has a negative extent that is not `dyn`.
template <class Dimension, class Extent>
struct extent_is_negative {
  static_assert(respected<extent_is_negative>, "an extent is zero or more");
};

/// With `Dimension`, of size `Extent`, a tensor has more elements than can be counted.
template <class Dimension, class Extent>
struct tensor_is_too_large {
  static_assert(respected<tensor_is_too_large>, "a tensor has at most 2^56 elements");
};

/// `Extent` cannot be cut into the `Parts` equal shards of `Entry`; `Nearest` has the two sizes
/// that can.
template <class Dimension, class Extent, class Parts, class Nearest, fixed_string Entry, class Mesh>
struct extent_is_not_divisible {
  static_assert(respected<extent_is_not_divisible>,
                "a split extent is divisible by its axes, or the layout says uneven");
};

/// `Name` stands a second time, in `Dimension`.
template <fixed_string Name, class Dimension, class Rules>
struct name_is_repeated {
  static_assert(respected<name_is_repeated>, "the dimensions of a tensor have different names");
};

/// `Dimension` is named `Name`, and none of `Rules` is about it; `Nearest` has the names that it
/// may have meant.
template <fixed_string Name, class Dimension, class Nearest, class Rules>
struct name_has_no_rule {
  static_assert(respected<name_has_no_rule>, "a named dimension has a rule");
};

/// Every alternative of `Name` has an axis that serves another dimension; `Taken` says it of the
/// first one, `explain` of all.
template <fixed_string Name, class Dimension, class Rules, class Taken>
struct no_alternative_is_free {
  static_assert(respected<no_alternative_is_free>,
                "a rule has an alternative whose axes are free, or ends with none");
};

/// `Extent` is no multiple of `Unit`, the elements of a block times the devices that blocks are
/// dealt to by `Entry`; `Nearest` has the two sizes that are.
template <class Dimension, class Extent, class Unit, class Nearest, fixed_string Entry, class Mesh>
struct blocks_do_not_divide_extent {
  static_assert(respected<blocks_do_not_divide_extent>,
                "block times devices divides a block-cyclic extent, or the layout says uneven");
};

}  // namespace shardwise
