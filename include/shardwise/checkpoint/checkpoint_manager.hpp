// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/checkpoint.hpp"
#include "shardwise/checkpoint/kept_checkpoints.hpp"
#include "shardwise/checkpoint/save_checkpoint.hpp"
#include "shardwise/core/function_view.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shardwise {

/// What a save does that is due while the one before is still written in the background.
enum class busy_save : std::uint8_t { waits, is_skipped };

/// When a manager saves, how, and what it keeps.
struct manager_options {
  index_t every_steps = 0;    ///< a step is due if it is a multiple; 0: not by steps
  double every_seconds = 0;   ///< a step is due so long after the last save began; 0: not by time
  kept_checkpoints keep{};    ///< all, if it is not said
  bool in_background = true;  ///< training goes on while the files are written
  busy_save when_busy = busy_save::waits;
  /// Receives what the manager has to say, a line each: what it passes over, what it could not
  /// remove. The first process calls it. Without it, lines go to the standard error stream.
  std::function<void(const std::string&)> tell{};
};

/// What a save is given besides the tensors.
struct save_options {
  std::map<std::string, std::string> metadata{};
  std::optional<double> metric{};
  bool force = false;  ///< save whether the step is due or not
};

/// A checkpoint that a manager has loaded: its step and metadata.
struct restored_checkpoint {
  index_t step = 0;
  std::map<std::string, std::string> metadata{};
};

namespace detail {
class managed_checkpoints;
}  // namespace detail

/// Saves the state of a training every so many steps or seconds, keeps the last and the best of
/// these checkpoints, and goes on from the newest that is complete. Each is a folder `step-N` in
/// the manager's folder, written as `step-N.unfinished` before.
///
///     checkpoint_manager checkpoints("run", {.every_steps = 100, .keep = {.last = 3}});
///     checkpoints.on_signal();
///     index_t step = 0;
///     if (const auto found = checkpoints.restore(state)) step = found->step;
///     while (step < 1000 && !checkpoints.stop_requested()) {
///       train(state, step++);
///       checkpoints.save(step, state);
///     }
///     checkpoints.finish();
///
/// - All processes that share the mesh create it, and call each function, in the same order. The
///   failure of one is thrown in all of them.
/// - In the background, a save holds the shards as they are: a program that would overwrite one
///   writes to other memory meanwhile, so there is at most one more copy of what is saved. It is
///   released by the next call of `save`, `wait` or `finish` after the files are complete.
/// - A save that failed is thrown by the next save that is due, by `wait`, `finish` or the
///   destructor. Nothing else is removed for it, and the step can be saved again.
/// - Whatever the manager did not write stays.
class checkpoint_manager {
 public:
  /// Opens a folder, or creates it, and looks for checkpoints. Those that are not complete or
  /// damaged are told and passed over; what a save that was cut off has left is told and removed.
  ///
  /// Throws `file_is_not_writable` if another manager has the folder open, and
  /// `number_is_out_of_range` for negative intervals.
  explicit checkpoint_manager(std::string folder, manager_options options = {});
  checkpoint_manager(const checkpoint_manager&) = delete;
  checkpoint_manager& operator=(const checkpoint_manager&) = delete;
  /// Calls `finish`. While an exception passes, it only waits for this process, and tells a
  /// failure.
  ~checkpoint_manager() noexcept(false);

  [[nodiscard]] const std::string& folder() const noexcept;
  /// Returns the steps of the checkpoints that are complete, in ascending order.
  [[nodiscard]] std::vector<index_t> all_steps() const;
  [[nodiscard]] std::optional<index_t> latest_step() const;
  /// Returns the step with the best metric that is a number.
  [[nodiscard]] std::optional<index_t> best_step() const;
  /// Returns the path of the checkpoint of a step, for `checkpoint`.
  [[nodiscard]] std::string path(index_t step) const;
  /// Returns what the manager has told, a line each.
  [[nodiscard]] const std::vector<std::string>& told() const noexcept;

  /// Loads the newest checkpoint that is not damaged; returns nothing if there is none. One whose
  /// bytes have other checksums, or cannot be read, is told and passed over; its step can be saved
  /// again, which replaces it. Throws `file_is_malformed` if there are only such checkpoints.
  ///
  /// With `state_names::common`, tensors that only a damaged one has may keep its values.
  template <class Nest>
    requires(!internal::is_state<Nest>)
  std::optional<restored_checkpoint> restore(Nest& nest, state_names names = state_names::all) {
    internal::require_tensors(nest);
    if constexpr (internal::is_variable<Nest>())
      return restore_from([&](const checkpoint& saved) { saved.load(nest, names); });
    else
      return {};
  }

  /// Returns true if `save` of this step would save: it is due, or the program was told to stop.
  [[nodiscard]] bool should_save(index_t step);
  /// Saves a nest or a state after a step, if that is due, and returns whether it was. A step that
  /// this manager has saved or restored is not saved again. Throws `file_is_not_writable` if it
  /// exists from an earlier run.
  template <class Nest>
  bool save(index_t step, const Nest& nest, const save_options& options = {}) {
    internal::require_types_to_save(nest);
    if (!begins_save(step, options.force)) return false;
    save_state(step, state_dict(nest), options);
    return true;
  }
  /// Waits until the save in the background is complete.
  void wait();
  /// Waits, and ends the manager: the folder can be opened by another one.
  void finish();

  /// Watches for SIGINT and SIGTERM from now on: the next `save` is due, and `stop_requested`
  /// returns true. A second signal ends the program.
  void on_signal();
  /// Returns true once any process has been told to stop. All processes get the same answer.
  [[nodiscard]] bool stop_requested();

 private:
  std::optional<restored_checkpoint> restore_from(function_view<void(const checkpoint&)> load);
  /// Returns true if the step is to be saved now, after the save before has ended.
  [[nodiscard]] bool begins_save(index_t step, bool is_forced);
  void save_state(index_t step, const const_state_view& state, const save_options& options);

  std::unique_ptr<detail::managed_checkpoints> all_;
  /// How many exceptions passed when it was created.
  int exceptions_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/checkpoint/checkpoint_manager_work.hpp"
#endif
