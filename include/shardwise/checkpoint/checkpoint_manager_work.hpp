// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/checkpoint_manager.hpp"
#include "shardwise/checkpoint/manager_folder_work.hpp"
#include "shardwise/checkpoint/save_in_progress_work.hpp"
#include "shardwise/core/config.hpp"
#include "shardwise/process/host_values.hpp"
#include "shardwise/process/stop_signals.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// What a manager knows, the same on all processes, and the save that it has begun.
class managed_checkpoints {
 public:
  managed_checkpoints(std::string path, manager_options options)
      : path_(std::move(path)), options_(std::move(options)) {
    internal::require_whole_path(violation::file_is_not_writable, path_);
    internal::require_within(options_.every_steps >= 0 && options_.every_seconds >= 0,
                             "a manager saves every so many steps or seconds, from 0 on");
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
    manager_folder::contents found;
    internal::run_together(exchange("begin"), [&] {
      if (process_index() != 0) return;
      folder_.emplace(path_);
      found = folder_->look();
    });
    share(found);
    steps_ = std::move(found.steps);
    damaged_ = std::move(found.damaged);
    for (std::string& words : found.told) tell(std::move(words));
    last_began_ = seconds();
  }
  ~managed_checkpoints() { leave(); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string path(index_t step) const {
    return internal::path_of(path_, manager_folder::name_of(step));
  }
  [[nodiscard]] const std::vector<managed_step>& steps() const noexcept { return steps_; }
  [[nodiscard]] const manager_options& options() const noexcept { return options_; }
  [[nodiscard]] const std::vector<std::string>& told() const noexcept { return told_; }
  [[nodiscard]] bool is_finished() const noexcept { return is_finished_; }

  std::optional<restored_checkpoint> restore(function_view<void(const checkpoint&)> load);
  [[nodiscard]] bool should_save(index_t step);
  [[nodiscard]] bool begins_save(index_t step, bool is_forced);
  void save(index_t step, checkpoint_snapshot held);
  /// Waits for the save that was begun, and throws its failure on all processes.
  void settle();
  void finish();
  /// Ends what this process has begun, without waiting for others for ever, and tells a failure.
  void leave() noexcept;

  void on_signal() {
    if (!stop_) stop_.emplace();
  }
  [[nodiscard]] bool stop_requested() { return stop_ && stop_->requested(); }

 private:
  [[nodiscard]] std::string exchange(const char* what) const {
    return std::string(what) + " of checkpoint manager \"" + path_ + '"';
  }
  /// Returns the time by which saves are due: the same on all processes.
  [[nodiscard]] double seconds() const { return options_.every_seconds > 0 ? agreed_seconds() : 0; }
  [[nodiscard]] bool has(index_t step) const {
    return std::any_of(steps_.begin(), steps_.end(),
                       [&](const managed_step& each) { return each.step == step; });
  }
  /// Gives all processes what the first one has found.
  static void share(manager_folder::contents& found);
  void tell(std::string words) {
    if (process_index() == 0) {
      if (options_.tell)
        options_.tell(words);
      else
        std::cerr << words + '\n';
    }
    told_.push_back(std::move(words));
  }
  /// Keeps what could not be removed, until the thread of the save has ended.
  void keep_words(std::vector<std::string> words) {
    for (std::string& each : words) left_.push_back(std::move(each));
  }
  void require_open() const {
    if (is_finished_)
      internal::fail_file(violation::file_is_not_writable, path_,
                          "its checkpoint manager has ended");
  }

  std::string path_;
  manager_options options_;
  std::optional<manager_folder> folder_;  ///< of the first process
  std::vector<managed_step> steps_;
  /// The steps of checkpoints that were passed over: a save of such a step replaces them.
  std::vector<index_t> damaged_;
  std::vector<std::string> told_;
  /// The step that this manager has saved or restored last.
  std::optional<index_t> current_;
  /// A step, and whether it is due: decided once for a step, since a clock may be asked.
  std::optional<std::pair<index_t, bool>> decided_;
  double last_began_ = 0;
  std::optional<stop_signals> stop_;
  bool is_finished_ = false;
  bool others_ended_ = false;  ///< as the last exchange with them has found
  /// What could not be removed; written by the thread of a save, read after it has ended.
  std::vector<std::string> left_;
  managed_step saving_{};
  std::unique_ptr<save_in_progress> save_;  // the last member: its thread uses the others
};

inline void managed_checkpoints::share(manager_folder::contents& found) {
  if (process_count() == 1) return;
  // Lines: `S` with a step and its metric, `D` with a step, `T` with words.
  std::string text;
  for (const managed_step& each : found.steps)
    text += "S" + std::to_string(each.step) + ' ' +
            (each.metric ? metadata_text(*each.metric) : std::string("-")) + '\n';
  for (const index_t each : found.damaged) text += 'D' + std::to_string(each) + '\n';
  for (std::string words : found.told) {
    std::replace(words.begin(), words.end(), '\n', ' ');
    text += 'T' + words + '\n';
  }
  std::istringstream lines(broadcast(text));
  found = {};
  json_reader read;
  for (std::string line; std::getline(lines, line);) {
    if (line.front() == 'T') {
      found.told.push_back(line.substr(1));
      continue;
    }
    if (line.front() == 'D') {
      (void)std::from_chars(line.data() + 1, line.data() + line.size(),
                            found.damaged.emplace_back());
      continue;
    }
    const std::size_t space = line.find(' ');
    managed_step& step = found.steps.emplace_back();
    (void)std::from_chars(line.data() + 1, line.data() + space, step.step);
    if (const std::string metric = line.substr(space + 1); metric != "-")
      step.metric = read_metric(read, metric);
  }
}

inline std::optional<restored_checkpoint> managed_checkpoints::restore(
    function_view<void(const checkpoint&)> load) {
  require_open();
  settle();
  while (!steps_.empty()) {
    const index_t step = steps_.back().step;
    restored_checkpoint restored{step, {}};
    const internal::run_result how =
        internal::agreed_result(exchange("restore"), internal::result_of_run([&] {
                                  const checkpoint saved(path(step));
                                  load(saved);
                                  restored.metadata = saved.metadata();
                                }));
    if (!how.is_failure()) {
      current_ = step;
      return restored;
    }
    const bool is_damaged =
        how.rule == violation::file_is_malformed || how.rule == violation::file_is_not_readable;
    if (!is_damaged) internal::throw_failure(how);
    steps_.pop_back();
    damaged_.push_back(step);
    tell("passed over: " + how.words);
  }
  // To begin anew would be to lose them.
  if (!damaged_.empty())
    internal::fail_file(violation::file_is_malformed, path_,
                        "none of its checkpoints can be loaded; the newest is step " +
                            std::to_string(*std::max_element(damaged_.begin(), damaged_.end())));
  return {};
}

inline bool managed_checkpoints::should_save(index_t step) {
  require_open();
  if (save_ != nullptr) save_->release_if_written();
  if (decided_ && decided_->first == step) return decided_->second;
  const bool always = options_.every_steps == 0 && options_.every_seconds == 0;
  // Every process asks for both: the answers are exchanged.
  const bool is_stopped = stop_requested();
  const bool is_late =
      options_.every_seconds > 0 && seconds() - last_began_ >= options_.every_seconds;
  const bool is_multiple = options_.every_steps > 0 && step % options_.every_steps == 0;
  const bool is_due = (always || is_stopped || is_late || is_multiple) && current_ != step;
  decided_.emplace(step, is_due);
  return is_due;
}

inline bool managed_checkpoints::begins_save(index_t step, bool is_forced) {
  internal::require_within(step >= 0, "a step is a number from 0 on");
  if (!should_save(step) && !is_forced) return false;
  if (current_ == step) return false;
  if (has(step))
    internal::fail_file(violation::file_is_not_writable, path(step),
                        "it exists from another run; remove it to save this step");
  if (save_ != nullptr && options_.when_busy == busy_save::is_skipped &&
      mesh_reduce(
          exchange("skip"), static_cast<int>(!save_->is_over()),
          [](const std::vector<int>& all) { return std::count(all.begin(), all.end(), 1) > 0; })) {
    decided_.emplace(step, false);
    return false;
  }
  settle();
  return true;
}

inline void managed_checkpoints::save(index_t step, checkpoint_snapshot held) {
  const bool replaces = std::find(damaged_.begin(), damaged_.end(), step) != damaged_.end();
  checkpoint_writer writer(path(step), std::move(held), process_index(), process_count(), replaces);
  saving_ = *writer.managed();
  last_began_ = seconds();
  internal::run_together(exchange("save"), [&] {
    if (writer.is_first()) writer.begin();
  });
  // The first process removes what is no longer kept, once the new one is complete.
  std::vector<managed_step> all = steps_;
  all.push_back(saving_);
  std::vector<std::string> gone;
  for (const index_t each : superseded(std::move(all), options_.keep)) gone.push_back(path(each));
  left_.clear();
  save_ = std::make_unique<save_in_progress>(
      std::move(writer), options_.in_background, [this, replaces, gone = std::move(gone)] {
        if (replaces) keep_words(remove_checkpoint(path(saving_.step) + std::string(damaged_name)));
        for (const std::string& each : gone) keep_words(manager_folder::remove(each));
      });
  current_ = step;
  decided_.emplace(step, false);
  if (!options_.in_background) settle();
}

inline void managed_checkpoints::settle() {
  if (save_ == nullptr) return;
  internal::run_result how;
  const internal::run_result exchanged = internal::result_of_run([&] {
    how = internal::agreed_result(exchange("parts"), save_->part());
    if (!how.is_failure()) how = internal::agreed_result(exchange("end"), save_->end());
  });
  others_ended_ = exchanged.is_failure();
  internal::throw_failure(exchanged);
  save_->cancel();
  if (how.is_failure()) {
    if (save_->writer().is_first()) keep_words(save_->writer().abandon());
    current_.reset();
    decided_.reset();
  } else {
    std::erase(damaged_, saving_.step);
    steps_.push_back(saving_);
    std::sort(steps_.begin(), steps_.end(),
              [](const managed_step& a, const managed_step& b) { return a.step < b.step; });
    const std::vector<index_t> gone = superseded(steps_, options_.keep);
    std::erase_if(steps_, [&](const managed_step& each) {
      return std::find(gone.begin(), gone.end(), each.step) != gone.end();
    });
  }
  save_.reset();
  for (std::string& words : left_) tell("not removed: " + words);
  left_.clear();
  internal::throw_failure(how);
}

inline void managed_checkpoints::finish() {
  if (is_finished_) return;
  settle();
  is_finished_ = true;
  internal::run_together(exchange("finish"), [&] { folder_.reset(); });
}

inline void managed_checkpoints::leave() noexcept {
  if (save_ == nullptr) return;
  internal::run_quietly([&] {
    // A process that has ended has written its part by now, or never will.
    save_->end_within(std::chrono::seconds(others_ended_ ? 1 : 10));
    if (const internal::run_result how = save_->failure(); how.is_failure())
      std::cerr << path(saving_.step) + ": " + how.words + '\n';
    save_.reset();
  });
}

}  // namespace detail

SHARDWISE_INLINE_FILES checkpoint_manager::checkpoint_manager(std::string folder,
                                                              manager_options options)
    : all_(std::make_unique<detail::managed_checkpoints>(std::move(folder), std::move(options))),
      exceptions_(std::uncaught_exceptions()) {}
SHARDWISE_INLINE_FILES checkpoint_manager::~checkpoint_manager() noexcept(false) {
  if (std::uncaught_exceptions() > exceptions_)
    all_->leave();
  else
    all_->finish();
}

SHARDWISE_INLINE_FILES const std::string& checkpoint_manager::folder() const noexcept {
  return all_->path();
}
SHARDWISE_INLINE_FILES std::vector<index_t> checkpoint_manager::all_steps() const {
  std::vector<index_t> steps;
  for (const managed_step& each : all_->steps()) steps.push_back(each.step);
  return steps;
}
SHARDWISE_INLINE_FILES std::optional<index_t> checkpoint_manager::latest_step() const {
  if (all_->steps().empty()) return {};
  return all_->steps().back().step;
}
SHARDWISE_INLINE_FILES std::optional<index_t> checkpoint_manager::best_step() const {
  return best_of(all_->steps(), all_->options().keep.by);
}
SHARDWISE_INLINE_FILES std::string checkpoint_manager::path(index_t step) const {
  return all_->path(step);
}
SHARDWISE_INLINE_FILES const std::vector<std::string>& checkpoint_manager::told() const noexcept {
  return all_->told();
}
SHARDWISE_INLINE_FILES std::optional<restored_checkpoint> checkpoint_manager::restore_from(
    function_view<void(const checkpoint&)> load) {
  return all_->restore(load);
}
SHARDWISE_INLINE_FILES bool checkpoint_manager::should_save(index_t step) {
  return all_->should_save(step);
}
SHARDWISE_INLINE_FILES bool checkpoint_manager::begins_save(index_t step, bool is_forced) {
  return all_->begins_save(step, is_forced);
}
SHARDWISE_INLINE_FILES void checkpoint_manager::save_state(index_t step,
                                                           const const_state_view& state,
                                                           const save_options& options) {
  detail::checkpoint_snapshot held = detail::hold_state(state, options.metadata);
  held.managed = managed_step{step, options.metric};
  all_->save(step, std::move(held));
}
SHARDWISE_INLINE_FILES void checkpoint_manager::wait() { all_->settle(); }
SHARDWISE_INLINE_FILES void checkpoint_manager::finish() { all_->finish(); }
SHARDWISE_INLINE_FILES void checkpoint_manager::on_signal() { all_->on_signal(); }
SHARDWISE_INLINE_FILES bool checkpoint_manager::stop_requested() { return all_->stop_requested(); }

}  // namespace shardwise
