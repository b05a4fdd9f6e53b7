// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <utility>

namespace shardwise {

/// A pointer to a kernel of these arguments, which it is given by address. The compiled library has
/// kernels of several instruction sets, each in a namespace of its own: their arguments have other
/// names and the same memory, and a function of addresses has one type in all of them.
///
///     constexpr auto copy = kernel_pointer<const_any_block, any_block>::to<&copy_any<float>>();
template <class... Arguments>
class kernel_pointer {
 public:
  constexpr kernel_pointer() = default;

  /// The pointer to a function that takes the arguments by value or by reference to const.
  template <auto Function>
  [[nodiscard]] static constexpr kernel_pointer to() noexcept {
    return kernel_pointer([](const void* const* arguments) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        Function(*static_cast<const Arguments*>(arguments[I])...);
      }
      (std::index_sequence_for<Arguments...>{});
    });
  }

  void operator()(const Arguments&... arguments) const {
    const void* const addresses[]{&arguments...};
    run_(addresses);
  }
  [[nodiscard]] explicit constexpr operator bool() const noexcept { return run_ != nullptr; }

 private:
  using function = void (*)(const void* const* arguments);
  constexpr explicit kernel_pointer(function run) noexcept : run_(run) {}

  function run_ = nullptr;
};

}  // namespace shardwise
