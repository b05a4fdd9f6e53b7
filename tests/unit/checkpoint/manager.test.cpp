// SPDX-License-Identifier: BSL-1.0
// Which checkpoints a manager saves, keeps, removes and finds again.
#include "support/catch.hpp"
#include "support/injected_calls.hpp"
#include "support/refusal.hpp"
#include "support/temporary.hpp"
#include <shardwise/checkpoint/checkpoint_manager.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace shardwise;
using namespace support;

namespace {

using steps = std::vector<index_t>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

struct model {
  any_tensor<float> w;
};
/// A model whose numbers are those of a step.
model model_of(const device_pool& pool, index_t step) {
  return {full<float>(pool, static_cast<float>(step), {4, 3}, spec_desc{{"d", ""}})};
}
float number_in(const model& of) { return to_host(of.w)(3, 2); }

device_pool small_pool() { return device_pool(mesh_desc{{axis_desc{"d", 2}}}, 1); }

/// Options of a manager that says nothing.
manager_options silent(manager_options options) {
  options.tell = [](const std::string&) {};
  return options;
}

/// True if a line that a manager has told contains both texts.
bool tells(const checkpoint_manager& of, const std::string& what, const std::string& why = {}) {
  return std::any_of(of.told().begin(), of.told().end(), [&](const std::string& line) {
    return line.find(what) != line.npos && line.find(why) != line.npos;
  });
}

/// Saves steps with their metrics, each with a manager of its own or with one for all.
void save_all(const std::string& folder, const kept_checkpoints& keep,
              const std::vector<managed_step>& all) {
  const auto pool = small_pool();
  checkpoint_manager checkpoints(folder, silent({.keep = keep}));
  for (const auto& [step, metric] : all)
    REQUIRE(checkpoints.save(step, model_of(pool, step), {.metric = metric}));
  checkpoints.finish();
}
steps steps_in(const std::string& folder) {
  return checkpoint_manager(folder, silent({})).all_steps();
}

}  // namespace

TEST_CASE("a manager saves when it is due, and goes on from the newest") {
  const temporary_folder folder("manager-due");
  const auto pool = small_pool();
  {
    checkpoint_manager checkpoints(folder.path(), silent({.every_steps = 10}));
    model state = model_of(pool, 0);
    REQUIRE(!checkpoints.restore(state));
    steps saved;
    for (index_t step = 1; step <= 25; ++step)
      if (checkpoints.save(step, model_of(pool, step), {.metadata = {{"at", "x"}}}))
        saved.push_back(step);
    REQUIRE(saved == steps{10, 20});
    REQUIRE(checkpoints.save(25, model_of(pool, 25), {.force = true}));
    checkpoints.wait();
    REQUIRE(checkpoints.latest_step() == 25);
    // Once saved, it is not due.
    REQUIRE(!checkpoints.save(25, model_of(pool, 25), {.force = true}));
  }
  checkpoint_manager again(folder.path(), silent({.every_steps = 10}));
  REQUIRE(again.told().empty());
  REQUIRE(again.all_steps() == steps{10, 20, 25});
  model state = model_of(pool, 0);
  const auto found = again.restore(state);
  REQUIRE(found);
  REQUIRE(found->step == 25);
  REQUIRE(number_in(state) == 25);
  checkpoint(again.path(20)).load(state);
  REQUIRE(number_in(state) == 20);
  REQUIRE(checkpoint(again.path(20)).metadata().at("at") == "x");
}

TEST_CASE("the newest is the one with the highest step, whatever the names and times of files") {
  const temporary_folder folder("manager-order");
  save_all(folder.path(), {.last = -1}, {{900}, {9000}, {10000}});
  REQUIRE(steps_in(folder.path()) == steps{900, 9000, 10000});
  // The newest has the oldest files, and all of them one time.
  const auto before = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder.path()))
    std::filesystem::last_write_time(each.path(), before);
  const auto pool = small_pool();
  checkpoint_manager checkpoints(folder.path(), silent({.keep = {.last = 3}}));
  REQUIRE(checkpoints.latest_step() == 10000);
  for (const index_t step : {10010, 10020}) REQUIRE(checkpoints.save(step, model_of(pool, step)));
  checkpoints.wait();
  REQUIRE(checkpoints.all_steps() == steps{10000, 10010, 10020});
}

TEST_CASE("every way to say that all are kept keeps all") {
  for (const kept_checkpoints& keep :
       {kept_checkpoints{}, kept_checkpoints{.last = -1}, kept_checkpoints{.best = -1},
        kept_checkpoints{.last = 1, .best = -1}, kept_checkpoints{.last = -1, .best = 1}}) {
    const temporary_folder folder("manager-all");
    save_all(folder.path(), keep, {{900, 3.0}, {9000, 2.0}, {10000, 1.0}});
    REQUIRE(steps_in(folder.path()) == steps{900, 9000, 10000});
  }
}

TEST_CASE("the best are kept besides the newest, and NaN is never among them") {
  const temporary_folder folder("manager-best");
  save_all(folder.path(), {.best = 3},
           {{100, 0.1}, {200, 0.2}, {300, 0.3}, {400, 0.4}, {500, 0.5}});
  REQUIRE(steps_in(folder.path()) == steps{100, 200, 300, 500});
  const temporary_folder with_nan("manager-nan");
  save_all(with_nan.path(), {.best = 1}, {{1, nan}, {2, 0.5}, {3, 0.4}, {4, nan}});
  const checkpoint_manager found(with_nan.path(), silent({}));
  REQUIRE(found.all_steps() == steps{3, 4});
  REQUIRE(found.best_step() == 3);
  // NaN goes before a number.
  const temporary_folder last("manager-nan-last");
  save_all(last.path(), {.last = 1, .best = 2}, {{1, nan}, {2, 0.5}, {3, nan}, {4, 0.7}, {5, nan}});
  REQUIRE(steps_in(last.path()) == steps{2, 4, 5});
  const temporary_folder highest("manager-highest");
  save_all(highest.path(), {.best = 1, .by = best_metric::highest},
           {{1, 0.5}, {2, inf}, {3, nan}, {4, -inf}, {5, {}}});
  REQUIRE(steps_in(highest.path()) == steps{2, 5});
}

TEST_CASE("metrics and metadata read back equal, and large steps") {
  const temporary_folder folder("manager-numbers");
  const std::vector<managed_step> all{{1, nan}, {2, inf},  {3, -inf}, {4, 0x1p53 + 2},
                                      {5, 0.1}, {6, -0.0}, {7, {}},   {162194619, 5e-324}};
  const std::map<std::string, std::string> metadata{
      {"", "empty"}, {"2^53+1", "9007199254740993"}, {"quotes", "\"\\\n\t\x01 \xc3\xa9"}};
  const auto pool = small_pool();
  {
    checkpoint_manager checkpoints(folder.path(), silent({}));
    for (const auto& [step, metric] : all)
      checkpoints.save(step, model_of(pool, step), {.metadata = metadata, .metric = metric});
    checkpoints.finish();
  }
  for (const auto& [step, metric] : all) {
    const checkpoint saved(folder.path() + "/step-" + std::to_string(step));
    REQUIRE(saved.metadata() == metadata);
    REQUIRE(saved.managed());
    REQUIRE(saved.managed()->step == step);
    REQUIRE(saved.managed()->metric.has_value() == metric.has_value());
    if (!metric) continue;
    const double read = *saved.managed()->metric;
    REQUIRE((std::isnan(*metric) ? std::isnan(read)
                                 : read == *metric && std::signbit(read) == std::signbit(*metric)));
  }
  // What JSON cannot hold is refused, and nothing is left of it.
  checkpoint_manager checkpoints(folder.path(), silent({}));
  const auto save = [&] {
    checkpoints.save(162194620, model_of(pool, 1), {.metadata = {{"the key", "\xff"}}});
    checkpoints.wait();
  };
  REQUIRE_THROWS_WITH(save(), contains("the key") && contains("UTF-8"));
  REQUIRE(checkpoints.latest_step() == 162194619);
}

TEST_CASE("a save is due so many seconds after the begin of the one before") {
  const temporary_folder folder("manager-seconds");
  const auto pool = small_pool();
  {
    // Far longer than any test.
    checkpoint_manager checkpoints(folder.path(), silent({.every_seconds = 1e6}));
    REQUIRE(!checkpoints.save(1, model_of(pool, 1)));
    REQUIRE(checkpoints.save(2, model_of(pool, 2), {.force = true}));
    REQUIRE(!checkpoints.save(3, model_of(pool, 3)));
  }
  checkpoint_manager checkpoints(folder.path(), silent({.every_seconds = 0.01}));
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(11)); };
  wait();
  REQUIRE(checkpoints.should_save(4));
  REQUIRE(checkpoints.save(4, model_of(pool, 4)));
  REQUIRE(!checkpoints.save(4, model_of(pool, 4)));
  wait();
  REQUIRE(checkpoints.save(5, model_of(pool, 5)));
  checkpoints.wait();
  REQUIRE(checkpoints.all_steps() == steps{2, 4, 5});
  for (const manager_options& wrong :
       {manager_options{.every_steps = -1}, manager_options{.every_seconds = -1},
        manager_options{.every_seconds = nan}})
    REQUIRE(refusal([&] { return checkpoint_manager(folder.path() + "x", wrong).folder(); }) ==
            violation::number_is_out_of_range);
}

TEST_CASE("two managers of one folder are an error, until the first has ended") {
  const temporary_folder folder("manager-two");
  checkpoint_manager first(folder.path(), silent({}));
  const auto second = [&] { return checkpoint_manager(folder.path(), silent({})).all_steps(); };
  REQUIRE_THROWS_WITH(second(), contains("file_is_not_writable") && contains(folder.path()) &&
                                    contains("another checkpoint manager"));
  first.finish();
  REQUIRE(second().empty());
}

TEST_CASE("a step whose save failed is not the newest, and is saved after going back to it") {
  const temporary_folder folder("manager-back");
  const auto pool = small_pool();
  checkpoint_manager checkpoints(folder.path(), silent({.every_steps = 20, .keep = {.last = 2}}));
  REQUIRE(checkpoints.save(1800, model_of(pool, 1800)));
  checkpoints.wait();
  {
    injected_calls calls;
    calls.failing_path = "step-1820";
    calls.error = ENOSPC;
    REQUIRE(checkpoints.save(1820, model_of(pool, 1820)));
    // It is thrown by the next save that is due.
    REQUIRE(!checkpoints.save(1830, model_of(pool, 1830)));
    REQUIRE_THROWS_WITH(checkpoints.save(1840, model_of(pool, 1840)),
                        contains("step-1820") && contains("No space left"));
  }
  REQUIRE(checkpoints.latest_step() == 1800);
  model state = model_of(pool, 0);
  REQUIRE(checkpoints.restore(state)->step == 1800);
  REQUIRE(number_in(state) == 1800);
  for (const index_t step : {1820, 1840}) REQUIRE(checkpoints.save(step, model_of(pool, step)));
  checkpoints.wait();
  REQUIRE(checkpoints.all_steps() == steps{1820, 1840});
  REQUIRE(checkpoint(checkpoints.path(1820)).verify().empty());
}

TEST_CASE("the next save is thrown the failure of one before, and works when it is repeated") {
  for (const char* where : {"next", "wait", "finish", "end"}) {
    CAPTURE(where);
    const temporary_folder folder("manager-thrown");
    const auto pool = small_pool();
    const auto run = [&] {
      injected_calls calls;
      checkpoint_manager checkpoints(folder.path(), silent({.keep = {.last = 1}}));
      REQUIRE(checkpoints.save(50, model_of(pool, 50)));
      checkpoints.wait();
      calls.failing_path = "part-1";
      REQUIRE(checkpoints.save(100, model_of(pool, 100)));
      if (where == std::string("wait")) checkpoints.wait();
      if (where == std::string("finish")) checkpoints.finish();
      if (where == std::string("next")) {
        REQUIRE_THROWS_WITH(checkpoints.save(200, model_of(pool, 200)), contains("step-100"));
        calls.failing_path.clear();
        REQUIRE(checkpoints.save(200, model_of(pool, 200)));
        checkpoints.finish();
        throw std::runtime_error("step-100");
      }
    };
    REQUIRE_THROWS_WITH(run(), contains("step-100"));
    REQUIRE(steps_in(folder.path()) == steps{where == std::string("next") ? 200 : 50});
  }
}

TEST_CASE("what a save that was cut off has left is named, and in nobody's way") {
  const temporary_folder folder("manager-remains");
  const auto pool = small_pool();
  save_all(folder.path(), {}, {{20000}});
  const std::string left = folder.path() + "/step-30000.unfinished";
  std::filesystem::create_directory(left);
  for (const char* name : {"part-1-of-2.safetensors", "part-2-of-2.json", "checkpoint.json",
                           "checkpoint.json.unfinished"})
    std::ofstream(left + "/" + name) << "anything";
  for (const bool has_note : {false, true}) {
    CAPTURE(has_note);
    if (has_note) {
      // Of a person, in a folder of ours.
      std::filesystem::create_directory(left);
      std::ofstream(left + "/notes.txt") << "keep";
    }
    const index_t step = has_note ? 30000 : 25000;
    checkpoint_manager checkpoints(folder.path(), silent({}));
    REQUIRE(tells(checkpoints, left));
    REQUIRE(checkpoints.save(step, model_of(pool, step)));
    checkpoints.finish();
  }
  REQUIRE(steps_in(folder.path()) == steps{20000, 25000, 30000});
  bool is_kept = false;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder.path()))
    is_kept = is_kept || each.path().filename() == "notes.txt";
  REQUIRE(is_kept);
}

TEST_CASE("what a manager did not write stays, and copies of checkpoints load by their paths") {
  const temporary_folder folder("manager-foreign");
  const auto pool = small_pool();
  save_all(folder.path(), {}, {{500}});
  const std::string at = folder.path() + "/";
  constexpr auto recursive = std::filesystem::copy_options::recursive;
  const std::vector<std::string> copies{"best", "step-500 (copy)", "step-600", "step-0500",
                                        "step-500.old"};
  for (const std::string& name : copies)
    std::filesystem::copy(at + "step-500", at + name, recursive);
  std::filesystem::create_directory_symlink("step-500", at + "latest");
  std::filesystem::create_directory_symlink("best", at + "step-800");
  std::filesystem::create_directory_symlink("best", at + "step-900.unfinished");
  for (const char* name : {"notes.txt", "step-700", "checkpoint.json", "x.unfinished"})
    folder.write(name, "of a person");
  std::filesystem::create_directory(at + "step-x.unfinished");
  std::ofstream(at + "step-x.unfinished/part-1-of-1.json") << "of a person";
  const auto before = folder.names();
  {
    checkpoint_manager checkpoints(folder.path(), silent({.keep = {.last = 1}}));
    REQUIRE(checkpoints.all_steps() == steps{500});
    REQUIRE(tells(checkpoints, at + "step-600"));
    for (const index_t step : {510, 520}) REQUIRE(checkpoints.save(step, model_of(pool, step)));
    checkpoints.wait();
    for (const index_t step : {600, 900})
      REQUIRE(refusal([&] { return checkpoints.save(step, model_of(pool, step)); }) ==
              violation::file_is_not_writable);
    checkpoints.finish();
  }
  auto after = before;
  std::replace(after.begin(), after.end(), std::string("step-500"), std::string("step-520"));
  std::sort(after.begin(), after.end());
  REQUIRE(folder.names() == after);
  for (const std::string& name : copies) {
    model state = model_of(pool, 0);
    checkpoint(at + name).load(state);
    REQUIRE(number_in(state) == 500);
  }
  REQUIRE(std::filesystem::exists(at + "step-x.unfinished/part-1-of-1.json"));
}

TEST_CASE("what cannot be removed is told, and training goes on") {
  const temporary_folder folder("manager-not-removed");
  const auto pool = small_pool();
  {
    checkpoint_manager checkpoints(folder.path(), silent({.keep = {.last = 1}}));
    REQUIRE(checkpoints.save(1, model_of(pool, 1)));
    checkpoints.wait();
    std::ofstream(checkpoints.path(1) + "/notes.txt") << "of a person";
    const std::ifstream reader(checkpoints.path(1) + "/part-1-of-1.safetensors");
    REQUIRE(checkpoints.save(2, model_of(pool, 2)));
    checkpoints.wait();
    REQUIRE(checkpoints.all_steps() == steps{2});
    REQUIRE(tells(checkpoints, "step-1", "not empty"));
    {
      injected_calls calls;
      calls.unremovable_path = "part-1-of-1.json";
      REQUIRE(checkpoints.save(3, model_of(pool, 3)));
      checkpoints.wait();
      REQUIRE(tells(checkpoints, "part-1-of-1.json", "Operation not permitted"));
    }
    REQUIRE(checkpoints.save(4, model_of(pool, 4)));
    checkpoints.finish();
  }
  checkpoint_manager again(folder.path(), silent({}));
  REQUIRE(again.all_steps() == steps{4});
  REQUIRE(again.save(1, model_of(pool, 1)));
  again.finish();
  REQUIRE(steps_in(folder.path()) == steps{1, 4});
}

TEST_CASE("a manager that removes a checkpoint after another one was removed by hand goes on") {
  const temporary_folder folder("manager-removed");
  const auto pool = small_pool();
  checkpoint_manager checkpoints(folder.path(), silent({.keep = {.last = 1}}));
  REQUIRE(checkpoints.save(1, model_of(pool, 1)));
  checkpoints.wait();
  std::filesystem::remove_all(checkpoints.path(1));
  REQUIRE(checkpoints.save(2, model_of(pool, 2)));
  checkpoints.finish();
  REQUIRE(steps_in(folder.path()) == steps{2});
}
