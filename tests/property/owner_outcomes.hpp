// SPDX-License-Identifier: BSL-1.0
// Programs with one owner of all devices, and with two and three, whose outcomes are compared.
#pragma once

#include "property/generated.hpp"
#include "support/catch.hpp"
#include "support/owners.hpp"

#include <bit>
#include <stdexcept>

namespace generated {

/// The outcome of a program: the bits of the results that were read, and their costs.
struct outcome {
  std::vector<std::vector<std::uint32_t>> bits;
  std::vector<index_t> moved;
  std::vector<index_t> collectives;
  std::vector<index_t> flops;
  /// The peak memory of each device of this owner.
  std::vector<std::vector<index_t>> peaks;

  [[nodiscard]] bool equals(const outcome& whole, const auto& own) const {
    for (std::size_t i = 0; i < peaks.size(); ++i)
      for (std::size_t d = 0; d < own.size(); ++d)
        if (peaks[i][d] != whole.peaks[i][static_cast<std::size_t>(own[d])]) return false;
    return bits == whole.bits && moved == whole.moved && collectives == whole.collectives &&
           flops == whole.flops && peaks.size() == whole.peaks.size();
  }
};

inline void read(outcome& to, const device_pool& pool, const any_tensor<float>& x) {
  std::vector<std::uint32_t> bits;
  for (float value : to_host(x).elements()) bits.push_back(std::bit_cast<std::uint32_t>(value));
  to.bits.push_back(bits);
  const cost_ledger cost = pool.counters();
  to.moved.push_back(cost.bytes_moved());
  to.collectives.push_back(cost.collectives());
  to.flops.push_back(cost.flops());
  to.peaks.emplace_back();
  for (index_t d : pool.state()->own_devices())
    to.peaks.back().push_back(pool.state()->memory().peak(d));
}

/// Runs a program, which fills an outcome, with one owner and with several, and compares the
/// outcomes.
template <class Program>
void same_for_owners(const mesh_desc& mesh, const Program& program) {
  outcome alone;
  program(device_pool(mesh, 2), alone);
  for (const support::ownership& each : support::ownerships(mesh.devices()))
    support::run_all_owners(
        mesh, each.owner_of,
        [&](const device_pool& pool) {
          outcome mine;
          program(pool, mine);
          if (!mine.equals(alone, pool.state()->own_devices()))
            throw std::logic_error("an owner has other bits or costs than one process");
        },
        each.settings);
}

}  // namespace generated
