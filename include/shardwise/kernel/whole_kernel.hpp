// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/kernel/kernel_call.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace shardwise {

namespace detail {

/// The kernel only moves elements (`moves_elements`): those of one size share its code.
template <class Operation>
concept MovesElements = requires {
  requires kernel_of<Operation>::moves_elements;
};
/// The kernel is compiled for `float` and `double`, and called for 16-bit elements on copies in
/// `float`, so that it rounds once (`widens_halves`).
template <class Operation>
concept WidensHalves = requires {
  requires kernel_of<Operation>::widens_halves;
};
/// The kernel is called for 8-bit integers on copies in 32 bits, whose low bits are the same: it
/// orders elements, or adds and multiplies them (`widens_bytes`).
template <class Operation>
concept WidensBytes = requires {
  requires kernel_of<Operation>::widens_bytes;
};

/// The type for which the kernel of an operation on elements of `T` is compiled.
template <class Operation, Element T>
[[nodiscard]] constexpr auto compiled_for() noexcept {
  constexpr bool is_half = !std::is_same_v<T, compute_type<T>>;
  if constexpr (MovesElements<Operation> && is_half)
    return std::type_identity<bfloat16>{};
  else if constexpr (MovesElements<Operation> && sizeof(T) == 1)
    return std::type_identity<std::uint8_t>{};
  else if constexpr (WidensHalves<Operation> && is_half)
    return std::type_identity<compute_type<T>>{};
  else if constexpr (WidensBytes<Operation> && Whole<T> && sizeof(T) == 1)
    return std::type_identity<std::int32_t>{};
  else
    return std::type_identity<T>{};
}

/// Calls a kernel on copies of its blocks of `T` in the wider type `Wide`, and stores its results
/// as `T`. Blocks of other elements, such as indices, are not copied.
template <class Wide, class T>
void run_on_copies(const kernel_call& call, void (*run)(const kernel_call&)) {
  using copy = widened_block<T, Wide>;
  internal::growable<copy> copies, results;
  copies.reserve(call.operands.size());
  results.reserve(call.results.size());
  internal::growable<const_any_block> read(call.operands.begin(), call.operands.end());
  internal::growable<any_block> made(call.results.begin(), call.results.end());
  for (const_any_block& x : read) {
    if (x.type != element_of<T>) continue;
    const strided<Wide>& wide = copies.emplace_back(x.template as<const T>()).block();
    x = {wide.data, element_of<Wide>, wide.extents, wide.strides};
  }
  for (any_block& x : made) {
    if (x.type != element_of<T>) continue;
    const strided<Wide>& wide = results.emplace_back(x.extents).block();
    x = {wide.data, element_of<Wide>, wide.extents, wide.strides};
  }
  run({call.how, call.rule, read, call.parts, made, call.sizes, call.made});
  std::size_t next = 0;
  for (const any_block& x : call.results)
    if (x.type == element_of<T>) results[next++].store(x.template as<T>());
}

template <class Operation, class Wide, class T>
void run_widened(const kernel_call& call) {
  run_on_copies<Wide, T>(call, &kernel_of<Operation>::template run<Wide>);
}

}  // namespace detail

/// Returns the kernel of an operation on elements of `T`. Elements of fewer bits share the code of
/// others where the bits of the results allow it and `kernel_of<Operation>` says so: with
/// `moves_elements`, `widens_halves` or `widens_bytes`, each a `static constexpr bool`.
///
///     whole_kernel<flip_operation, bool>()            // that of std::uint8_t
///     whole_kernel<cumsum_operation, bfloat16>()      // that of float, on copies
template <class Operation, Element T>
[[nodiscard]] constexpr structured_kernel whole_kernel() noexcept {
  using compiled = typename decltype(detail::compiled_for<Operation, T>())::type;
  if constexpr (sizeof(compiled) == sizeof(T))
    return structured_kernel::to<&kernel_of<Operation>::template run<compiled>>();
  else
    return structured_kernel::to<&detail::run_widened<Operation, compiled, T>>();
}

}  // namespace shardwise
