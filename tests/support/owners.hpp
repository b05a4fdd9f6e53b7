// SPDX-License-Identifier: BSL-1.0
// Several owners of one mesh: threads of this process, or the processes of an MPI program.
#pragma once

#include <shardwise/process/spawn.hpp>
#include <shardwise/shardwise.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace support {

using namespace shardwise;

/// Settings of the owners of a test.
using share_settings = std::function<void(owner_share&)>;

/// Calls `program(pool)` for each owner of a mesh, each in a thread of its own with its part of the
/// devices, and returns what each threw. `change(share)` may set other limits. In a program of
/// several processes, each is an owner; if there are more owners, or fewer, nothing is called.
/// Messages of `reserved` bytes between threads allocate nothing.
template <class Program>
std::vector<std::exception_ptr> run_owners(
    const mesh_desc& mesh, const std::vector<index_t>& owner_of, const Program& program,
    const share_settings& change = [](owner_share&) {}, std::size_t reserved = 0) {
  const index_t owners = device_owners(owner_of).count();
  owner_share share{.owner_of = owner_of};
  change(share);
  const auto run = [&] {
    owner_share mine = share;
    mine.group = current_group::get();
    const device_pool pool(mesh, std::move(mine), 2);
    program(pool);
  };
  const std::shared_ptr<process_group> processes = current_group::get();
  if (processes == nullptr)
    return spawn_all(owners, run, {.shares_memory = share.shares_memory, .reserved = reserved});
  if (processes->count() == owners) run();
  return {};
}

/// Returns the message of an exception; empty if there was none.
inline std::string words_of(const std::exception_ptr& thrown) {
  if (!thrown) return "";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& failure) {
    return failure.what();
  }
}
inline std::vector<std::string> words_of(const std::vector<std::exception_ptr>& thrown) {
  std::vector<std::string> all;
  for (const std::exception_ptr& each : thrown) all.push_back(words_of(each));
  return all;
}

/// The same for programs that must not throw: the first exception is rethrown.
template <class Program>
void run_all_owners(
    const mesh_desc& mesh, const std::vector<index_t>& owner_of, const Program& program,
    const share_settings& change = [](owner_share&) {}, std::size_t reserved = 0) {
  for (const std::exception_ptr& thrown : run_owners(mesh, owner_of, program, change, reserved))
    if (thrown) std::rethrow_exception(thrown);
}

/// Settings by which owners send messages: small ones, few of them in flight, and in two rounds.
inline void send_small_messages(owner_share& share) {
  share.message_bytes = 12;
  share.in_flight = 2;
  share.one_round_bytes = 0;
  share.shares_memory = false;
}
/// Settings by which owners read each other's memory, in two rounds.
inline void read_in_two_rounds(owner_share& share) { share.one_round_bytes = 0; }

/// A way to assign the devices of a mesh to owners, and how these exchange data.
struct ownership {
  std::vector<index_t> owner_of;
  share_settings settings;
};

/// Ways to assign the devices of a mesh to owners: in blocks, in turn, and in an arbitrary order;
/// and all ways to exchange data in turn.
inline std::vector<ownership> ownerships(index_t devices) {
  const std::vector<share_settings> ways{send_small_messages, [](owner_share&) {},
                                         read_in_two_rounds,
                                         [](owner_share& share) { share.shares_memory = false; }};
  std::vector<ownership> all;
  const auto add = [&](std::vector<index_t> owner_of) {
    all.push_back({std::move(owner_of), ways[all.size() % ways.size()]});
  };
  for (index_t owners : {2, 3, 4}) {
    if (owners > devices || (owners == 4 && current_group::get() == nullptr)) continue;
    add(owners_in_blocks(devices, owners));
    add(owners_in_turn(devices, owners));
    std::vector<index_t> mixed;
    for (index_t d = 0; d < devices; ++d) mixed.push_back((d * d + d / 2) % owners);
    if (device_owners(mixed).count() == owners) add(mixed);
  }
  return all;
}

}  // namespace support
