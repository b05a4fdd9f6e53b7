// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/agreed.hpp"
#include "shardwise/plan/planned_program.hpp"

namespace shardwise {

namespace internal {

/// The ledger of an invalid program.
struct refused_ledger {
  template <class... Of>
  [[nodiscard]] constexpr agreed collectives(const Of&...) const noexcept {
    return {};
  }
  template <class... Of>
  [[nodiscard]] constexpr agreed bytes_moved(const Of&...) const noexcept {
    return {};
  }
  [[nodiscard]] constexpr agreed flops() const noexcept { return {}; }
  [[nodiscard]] constexpr agreed peak_bytes_per_device() const noexcept { return {}; }
  [[nodiscard]] constexpr mesh_desc mesh() const noexcept { return {}; }
  constexpr operator cost_ledger() const noexcept { return {}; }
  template <class Other>
  friend constexpr bool operator==(const refused_ledger&, const Other&) noexcept {
    return true;
  }
  template <class Out>
  friend Out& operator<<(Out& out, const refused_ledger&) {
    return out;
  }
};

/// An invalid program: without instructions for functions of any program, and with the numbers that
/// assertions expect.
template <std::size_t Capacity>
struct refused_program : traced_program<Capacity> {
  static constexpr agreed count{}, result_count{}, body_count{};
  static constexpr agreed_sizes results{};

  template <class Other>
  friend constexpr bool operator==(const refused_program&, const Other&) noexcept {
    return true;
  }
};
/// The plan of an invalid program.
template <std::size_t Capacity>
struct refused_plan : planned_program<Capacity> {
  static constexpr agreed count{};
  static constexpr refused_ledger total{};
};

}  // namespace internal

/// The error of an invalid program has been reported: its plan and its costs are no further ones.
template <std::size_t Capacity>
[[nodiscard]] constexpr internal::refused_plan<Capacity> plan_program(
    const internal::refused_program<Capacity>&) {
  return {};
}
template <std::size_t Capacity>
[[nodiscard]] constexpr internal::refused_ledger ledger_of(
    const internal::refused_program<Capacity>&) {
  return {};
}

}  // namespace shardwise
