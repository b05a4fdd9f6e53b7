// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <utility>

namespace shardwise {

/// A pointer to a kernel that takes its arguments by address. The compiled library has kernels for
/// several instruction sets, each in a separate namespace: their argument types have the same
/// layout but different names, whereas a function of addresses has the same type in all of them.
///
///     constexpr auto copy = kernel_pointer<const_any_block, any_block>::to<&copy_any<float>>();
template <class... Arguments>
class kernel_pointer {
 public:
  constexpr kernel_pointer() = default;

  /// Returns a pointer to a function that takes the arguments by value or by const reference.
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
