// SPDX-License-Identifier: BSL-1.0
// Checks properties with one owner of all devices, and with two and three owners.
#pragma once

#include "property/generated.hpp"
#include "support/owners.hpp"

#include <source_location>
#include <stdexcept>
#include <string>

namespace generated {

/// Throws if a property does not hold. Owners run in separate threads, where the assertions of
/// Catch must not be used.
inline void require(bool holds, const std::string& words = {},
                    const std::source_location& where = std::source_location::current()) {
  if (!holds)
    throw std::logic_error(std::string(where.file_name()) + ':' + std::to_string(where.line()) +
                           " does not hold " + words);
}

/// True if `f()` throws an error of the library.
template <class F>
bool is_refused(const F& f) {
  try {
    f();
  } catch (const error&) {
    return true;
  }
  return false;
}

/// True if a run in a pool had the costs in a ledger. If there are other owners, the device with
/// the highest peak memory may be theirs.
inline bool costs(const device_pool& pool, const cost_ledger& planned) {
  const cost_ledger counted = pool.counters();
  if (pool.state()->link() == nullptr) return counted == planned;
  return counted.bytes_moved() == planned.bytes_moved() &&
         counted.collectives() == planned.collectives() && counted.flops() == planned.flops() &&
         counted.peak_bytes_per_device() <= planned.peak_bytes_per_device();
}

/// Selects one case in `stride` of a loop.
class every {
 public:
  explicit every(std::size_t count) : count_(count) {}
  bool operator()() { return ++seen_ % count_ == 0; }
  /// True if all cases are selected: one process owns all devices, and counts can be compared.
  [[nodiscard]] bool all() const { return count_ == 1; }

 private:
  std::size_t count_;
  std::size_t seen_ = 0;
};

/// Calls `check(pool)` in the threads of two and three owners of a mesh, whose devices are assigned
/// in blocks, in turn and in an arbitrary order.
template <class Check>
void for_several_owners(const mesh_desc& mesh, const Check& check) {
  for (const support::ownership& each : support::ownerships(mesh.devices()))
    support::run_all_owners(mesh, each.owner_of, check, each.settings);
}

/// Calls `check(pool, pick)` with a pool that owns all devices, where `pick()` is true for each
/// case, and then with the pools of two and three owners, where it is true for one case in
/// `stride`, since messages take longer than copies.
///
///     for_all_owners(mesh, 7, [&](const device_pool& pool, every pick) {
///       for (const layout_desc& layout : all)
///         if (pick()) require(values(make(pool, {5, 3}, layout, 1).tensor) == host);
///     });
template <class Check>
void for_all_owners(const mesh_desc& mesh, std::size_t stride, const Check& check) {
  check(device_pool(mesh, 2), every(1));
  for_several_owners(mesh, [&](const device_pool& pool) { check(pool, every(stride)); });
}

}  // namespace generated
