// SPDX-License-Identifier: BSL-1.0
// A mesh: a named grid of logical devices. As a type it has no run-time cost, and its sizes are
// known at compile time; a device pool creates the devices on this machine, however few cores it
// has.
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <iostream>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
static_assert(pod::devices == 8);
static_assert(type_name<pod>() == "mesh(data=2, model=4)");

// The last axis varies fastest: device 6 is at data=1, model=2.
static_assert(pod::value.at(6) == coordinates{1, 2});
static_assert(pod::value.device({1, 2}) == 6);

// The size of an axis may be set at run time.
struct slice : mesh<axis<"data", dyn>, axis<"model", 4>> {};
static_assert(slice::devices == dyn);
static_assert(slice{16}.desc().devices() == 64);

int main() {
  device_pool pool{pod{}};
  std::cout << type_name<pod>() << ": " << pool.devices() << " devices on " << pool.threads()
            << " threads\n";
  for (index_t device = 0; device < pool.devices(); ++device) {
    const coordinates at = pool.mesh().at(device);
    std::cout << "  device " << device << " is at data=" << at[0] << ", model=" << at[1] << '\n';
  }

  // The device functions run concurrently; the call returns when all have finished.
  std::atomic<index_t> sum{0};
  pool.for_each_device([&](index_t device) { sum += device; });
  std::cout << "sum of the devices' numbers: " << sum << '\n';

  // 256 devices work like 8: they are tasks, not threads.
  device_pool large{slice{64}};
  std::atomic<index_t> count{0};
  large.for_each_device([&](index_t) { ++count; });
  std::cout << large.devices() << " devices answered " << count << " times\n";
  return sum == 28 && count == 256 ? 0 : 1;
}
