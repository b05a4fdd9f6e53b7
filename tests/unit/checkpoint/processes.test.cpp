// SPDX-License-Identifier: BSL-1.0
// Checkpoints of several processes, here threads: what each writes and reads, and failures of one.
#include "support/catch.hpp"
#include "support/checkpoints.hpp"
#include "support/injected_calls.hpp"
#include "support/owners.hpp"
#include "support/temporary.hpp"
#include <shardwise/checkpoint.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

using namespace shardwise;
using namespace support;

namespace {

struct octet : mesh<axis<"x", 8>> {};
using Rows = sharded_tensor<float, extents<64, 3>, layout<octet, P<"x", none>>>;
using Whole = sharded_tensor<float, extents<5>, layout<octet, P<none>>>;
using Number = sharded_tensor<float, extents<>, layout<octet, P<>>>;

struct model {
  Rows w;
  std::vector<Whole> biases;
  std::vector<Number> numbers;
};
model model_of(const device_pool& pool, float number) {
  return {full<Rows>(pool, number), std::vector<Whole>(9, full<Whole>(pool, number)),
          std::vector<Number>(9, full<Number>(pool, number))};
}
bool has_number(const model& state, float number) {
  const auto is_it = [&](const auto& tensor) {
    const auto host = to_host(tensor);
    return std::count(host.elements().begin(), host.elements().end(), number) ==
           static_cast<std::ptrdiff_t>(host.elements().size());
  };
  return is_it(state.w) && std::all_of(state.biases.begin(), state.biases.end(), is_it) &&
         std::all_of(state.numbers.begin(), state.numbers.end(), is_it);
}

manager_options silent(manager_options options = {}) {
  options.tell = [](const std::string&) {};
  return options;
}

/// What a call throws.
template <class F>
std::string words_thrown_by(const F& call) {
  try {
    call();
  } catch (const std::exception& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace

TEST_CASE("processes open the files with chunks of theirs, and one copy of replicas is written") {
  const temporary_folder folder("processes-files");
  const std::vector<index_t> eight = owners_in_turn(8, 8);
  run_all_owners(octet::value, eight, [&](const device_pool& pool) {
    save_checkpoint(folder.path(), model_of(pool, 3));
  });
  index_t bytes = 0;
  {
    const checkpoint saved(folder.path());
    REQUIRE(saved.verify().empty());
    bytes = saved.traffic().bytes;
    REQUIRE(bytes == 4 * (64 * 3 + 9 * 5 + 9));
    for (const auto& [name, tensor] : saved.tensors())
      if (name != "w") REQUIRE(tensor.pieces.size() == 1);
  }
  // What is split is read from a process's own file.
  injected_calls calls;
  run_all_owners(octet::value, eight, [&](const device_pool& pool) {
    struct rows {
      Rows w;
    } state{zeros<Rows>(pool)};
    const checkpoint saved(folder.path());
    saved.load(state, state_names::common);
    require(saved.traffic().bytes == 4 * 8 * 3, "other bytes are read");
  });
  REQUIRE(calls.opened_data == 8);
  // Fewer processes read the same bytes.
  for (const index_t owners : {1, 2, 3}) {
    calls.opened_data = 0;
    std::atomic<index_t> read{0};
    run_all_owners(octet::value, owners_in_blocks(8, owners), [&](const device_pool& pool) {
      model state = model_of(pool, 0);
      const checkpoint saved(folder.path());
      saved.load(state);
      read += saved.traffic().bytes;
      require(has_number(state, 3), "other elements");
    });
    REQUIRE(read == 4 * (64 * 3 + owners * (9 * 5 + 9)));
    // Those with their rows, and one for each of the others.
    REQUIRE(calls.opened_data == 8 + 18 * owners);
  }
}

TEST_CASE("empty parts and tensors without elements are saved and loaded by any mesh") {
  // 6 elements over 4 devices are 2, 2, 2 and none.
  const auto line = [](index_t size) { return mesh_desc{{axis_desc{"x", size}}}; };
  struct state {
    any_tensor<float> six, empty, scalar;
  };
  const auto make = [](const device_pool& pool, float number) {
    const layout_desc rows = layout_of(pool.mesh(), spec_desc{{"x"}}, {}, uneven{});
    return state{iota<float>(pool, {6}, rows) + number, zeros<float>(pool, {0}, rows),
                 full<float>(pool, number, {}, spec_desc{})};
  };
  for (const index_t savers : {1, 2, 4}) {
    const temporary_folder folder("processes-empty");
    run_all_owners(line(4), owners_in_blocks(4, savers),
                   [&](const device_pool& pool) { save_checkpoint(folder.path(), make(pool, 5)); });
    const checkpoint saved(folder.path());
    REQUIRE(saved.tensors().at("six").pieces.size() == 3);
    REQUIRE(saved.tensors().at("empty").pieces.empty());
    REQUIRE(saved.tensors().at("scalar").pieces.size() == 1);
    for (const index_t devices : {1, 4, 5, 9})
      for (const index_t owners : {1, 3}) {
        CAPTURE(savers, devices, owners);
        if (owners > devices) continue;
        run_all_owners(line(devices), owners_in_turn(devices, owners),
                       [&](const device_pool& pool) {
                         state loaded = make(pool, 0);
                         checkpoint(folder.path()).load(loaded);
                         const state wanted = make(pool, 5);
                         require(to_host(loaded.six) == to_host(wanted.six), "other elements");
                         require(to_host(loaded.scalar)() == 5, "another number");
                         require(to_host(loaded.empty).elements().empty(), "elements");
                       });
      }
  }
}

TEST_CASE("elements are not rounded without a word, and state keeps its own types") {
  const temporary_folder folder("processes-types");
  struct moments {
    any_tensor<float16> weight;
    any_tensor<float> first;
    any_tensor<std::int32_t> counter;
  };
  const mesh_desc line{{axis_desc{"x", 2}}};
  const device_pool pool(line, 1);
  const auto make = [&](float number, std::int32_t count) {
    return moments{full<float16>(pool, float16(number), {4}, spec_desc{{"x"}}),
                   full<float>(pool, number, {4}, spec_desc{{"x"}}),
                   full<std::int32_t>(pool, count, {}, spec_desc{})};
  };
  save_checkpoint(folder.path(), make(0.1F, 257));
  moments same = make(0, 0);
  const checkpoint saved(folder.path());
  saved.load(same);
  REQUIRE(to_host(same.first)(3) == 0.1F);
  REQUIRE(to_host(same.weight)(3) == float16(0.1F));
  REQUIRE(to_host(same.counter)() == 257);
  struct narrow {
    any_tensor<float16> weight;
    any_tensor<bfloat16> first;
    any_tensor<std::int32_t> counter;
  } other{same.weight, zeros<bfloat16>(pool, {4}, spec_desc{{"x"}}), same.counter};
  REQUIRE_THROWS_WITH(saved.load(other),
                      contains("'first'") && contains("f32") && contains("bf16"));
  REQUIRE(to_host(other.first)(3) == bfloat16(0.0F));
  saved.load(other, state_names::all, stored_elements::converted);
  REQUIRE(to_host(other.first)(3) == bfloat16(0.1F));
  moments longer{same.weight, zeros<float>(pool, {6}, spec_desc{{"x"}}), same.counter};
  REQUIRE_THROWS_WITH(saved.load(longer),
                      contains("stored_tensor_differs") && contains("'first' is [4], not [6]"));
  struct counted {
    any_tensor<float16> weight;
    any_tensor<float> first;
    any_tensor<bfloat16> counter;
  } rounded{same.weight, same.first, zeros<bfloat16>(pool, {}, spec_desc{})};
  REQUIRE_THROWS_WITH(saved.load(rounded),
                      contains("'counter'") && contains("i32") && contains("bf16"));
}

TEST_CASE("a full disk of one process is thrown in all, and the older checkpoint is the newest") {
  const temporary_folder folder("processes-full");
  for (const bool in_background : {true, false})
    for (const index_t victim : {1, 3, 4}) {
      CAPTURE(in_background, victim);
      std::filesystem::remove_all(folder.path());
      injected_calls calls;
      calls.error = ENOSPC;
      const std::string file = "part-" + std::to_string(victim) + "-of-4";
      std::mutex mutex;
      std::vector<std::string> all;
      run_all_owners(octet::value, owners_in_turn(8, 4), [&](const device_pool& pool) {
        checkpoint_manager checkpoints(
            folder.path(), silent({.keep = {.last = 1}, .in_background = in_background}));
        require(checkpoints.save(100, model_of(pool, 100)), "it is not saved");
        checkpoints.wait();
        if (process_index() == 0) calls.failing_path = file;
        (void)rendezvous("the disk is full");
        const std::string words = words_thrown_by([&] {
          checkpoints.save(200, model_of(pool, 200));
          checkpoints.wait();
        });
        {
          const std::lock_guard lock(mutex);
          all.push_back(words);
        }
        (void)rendezvous("all have failed");
        if (process_index() == 0) calls.failing_path.clear();
        (void)rendezvous("the disk has room");
        require(checkpoints.all_steps() == std::vector<index_t>{100}, "other steps");
        model state = model_of(pool, 0);
        checkpoint(checkpoints.path(100)).load(state);
        require(has_number(state, 100), "other elements");
        require(checkpoints.save(200, model_of(pool, 200)), "it is not repeated");
        checkpoints.finish();
      });
      REQUIRE(all.size() == 4);
      for (const std::string& words : all)
        REQUIRE_THAT(words, contains(file) && contains("No space left"));
      const checkpoint saved(folder.path() + "/step-200");
      REQUIRE(saved.verify().empty());
      REQUIRE(!std::filesystem::exists(folder.path() + "/step-100"));
    }
}

TEST_CASE("a call of one process that fails, whichever it is, is thrown in all, and repeated") {
  for (const char* of_process : {"part-1-of-2", "part-2-of-2", "checkpoint.json", "step-2"}) {
    bool more = true;
    for (long n = 0; more; ++n) {
      CAPTURE(of_process, n);
      const temporary_folder folder("processes-failing");
      injected_calls calls;
      std::atomic<int> thrown{0};
      run_all_owners(octet::value, owners_in_blocks(8, 2), [&](const device_pool& pool) {
        const auto set_failure = [&](long first) {
          (void)rendezvous("before a failure is set");
          if (process_index() == 0) {
            if (first == injected_calls::never) more = calls.calls > n;
            calls.numbered_path = of_process;
            calls.calls = 0;
            calls.first_failure = calls.last_failure = first;
          }
          (void)rendezvous("a failure is set");
        };
        checkpoint_manager checkpoints(folder.path(), silent({.in_background = n % 2 == 0}));
        require(checkpoints.save(1, model_of(pool, 1)), "it is not saved");
        checkpoints.wait();
        set_failure(n);
        const std::string words = words_thrown_by([&] {
          checkpoints.save(2, model_of(pool, 2));
          checkpoints.wait();
        });
        thrown += words.empty() ? 0 : 1;
        require(words.empty() || words.find("Input/output error") != words.npos, words);
        set_failure(injected_calls::never);
        const bool failed = checkpoints.latest_step() == 1;
        require(failed != words.empty(), "what is thrown differs");
        require(checkpoints.save(2, model_of(pool, 2)) == failed, "it is not repeated");
        checkpoints.wait();
        model state = model_of(pool, 0);
        require(checkpoints.restore(state)->step == 2, "another step");
        require(has_number(state, 2), "other elements");
        checkpoint(checkpoints.path(1)).load(state);
        require(has_number(state, 1), "other elements of the older one");
      });
      REQUIRE((thrown == 0 || thrown == 2));
    }
  }
}

TEST_CASE("a process that ends in the midst of a save ends the others, and the older one stays") {
  for (const index_t victim : {0, 1}) {
    CAPTURE(victim);
    const temporary_folder folder("processes-ends");
    injected_calls calls;
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<std::exception_ptr> thrown =
        run_owners(octet::value, owners_in_blocks(8, 2), [&](const device_pool& pool) {
          checkpoint_manager checkpoints(folder.path(), silent({.keep = {.last = 1}}));
          checkpoints.save(1, model_of(pool, 1));
          checkpoints.wait();
          (void)rendezvous("the first is complete");
          if (process_index() == victim) {
            calls.error = EIO;
            calls.failing_path = "step-2.unfinished/part-" + std::to_string(victim + 1);
          }
          (void)rendezvous("the next one fails");
          checkpoints.save(2, model_of(pool, 2));
          if (process_index() == victim) throw std::runtime_error("of the program");
          checkpoints.wait();
        });
    REQUIRE(thrown.size() == 2);
    for (const std::string& words : words_of(thrown))
      REQUIRE_THAT(words, contains("of the program"));
    REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
    calls.failing_path.clear();
    const device_pool pool(octet::value, 1);
    checkpoint_manager after(folder.path(), silent());
    model state = model_of(pool, 0);
    REQUIRE(after.restore(state)->step == 1);
    REQUIRE(has_number(state, 1));
    REQUIRE(after.save(2, model_of(pool, 2)));
    after.finish();
  }
}

TEST_CASE("all processes restore the same checkpoint if one finds the newest damaged") {
  const temporary_folder folder("processes-damaged");
  run_all_owners(octet::value, owners_in_blocks(8, 2), [&](const device_pool& pool) {
    checkpoint_manager checkpoints(folder.path(), silent());
    for (const index_t step : {1, 2})
      checkpoints.save(step, model_of(pool, static_cast<float>(step)));
    checkpoints.finish();
  });
  // The last byte that only the second process reads.
  const std::string file = folder.path() + "/step-2/part-2-of-2.safetensors";
  {
    std::fstream data(file, std::ios::in | std::ios::out | std::ios::binary);
    data.seekp(-1, std::ios::end);
    data.put('x');
  }
  run_all_owners(octet::value, owners_in_blocks(8, 2), [&](const device_pool& pool) {
    checkpoint_manager checkpoints(folder.path(), silent());
    model state = model_of(pool, 0);
    const auto found = checkpoints.restore(state);
    require(found && found->step == 1, "another step");
    require(has_number(state, 1), "other elements");
    require(std::any_of(checkpoints.told().begin(), checkpoints.told().end(),
                        [&](const auto& line) { return line.find(file) != line.npos; }),
            "it is not told");
  });
}

TEST_CASE("a removal that fails is told by the process that removes, and all go on") {
  const temporary_folder folder("processes-removal");
  injected_calls calls;
  calls.unremovable_path = "part-2-of-2.safetensors";
  std::atomic<int> told{0};
  run_all_owners(octet::value, owners_in_blocks(8, 2), [&](const device_pool& pool) {
    checkpoint_manager checkpoints(folder.path(), silent({.keep = {.last = 1}}));
    for (index_t step = 1; step <= 3; ++step) {
      require(checkpoints.save(step, model_of(pool, static_cast<float>(step))), "it is not saved");
      checkpoints.wait();
      require(checkpoints.all_steps() == std::vector<index_t>{step}, "other steps");
    }
    told += static_cast<int>(checkpoints.told().size());
    model state = model_of(pool, 0);
    require(checkpoints.restore(state)->step == 3, "another step");
    require(has_number(state, 3), "other elements");
  });
  REQUIRE(told > 0);
}
