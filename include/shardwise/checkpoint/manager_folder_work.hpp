// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/checkpoint.hpp"
#include "shardwise/checkpoint/checkpoint_writer_work.hpp"
#include "shardwise/process/run_result.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace shardwise::detail {

/// The folder of a manager, as its first process sees it: `step-N` for each checkpoint.
class manager_folder {
 public:
  /// Opens the folder, or creates it, and locks it. Throws `file_is_not_writable` if it is locked.
  explicit manager_folder(const std::string& path)
      : path_(path), lock_((internal::make_folder(path, true), path_of_lock(path))) {
    if (!lock_.lock())
      internal::fail_file(violation::file_is_not_writable, path,
                          "another checkpoint manager has it open");
  }

  /// What was found: complete checkpoints of managers in ascending order, the steps of those that
  /// cannot be loaded, and what is told.
  struct contents {
    std::vector<managed_step> steps{};
    std::vector<index_t> damaged{};
    std::vector<std::string> told{};
  };
  /// Looks through the folder, and removes what saves that were cut off have left. Checkpoints are
  /// opened: their index, their lists and the sizes of their files are checked.
  [[nodiscard]] contents look() const;

  [[nodiscard]] static std::string name_of(index_t step) { return "step-" + std::to_string(step); }
  /// Removes a checkpoint, which is none from the first moment on. Returns what could not be
  /// removed.
  [[nodiscard]] static std::vector<std::string> remove(const std::string& checkpoint);

 private:
  [[nodiscard]] static internal::placed_file path_of_lock(const std::string& path) {
    return internal::placed_file::open_or_create(internal::path_of(path, ".lock"));
  }

  std::string path_;
  internal::placed_file lock_;
};

/// Returns the step of a name `step-N`.
[[nodiscard]] inline std::optional<index_t> step_of_name(std::string_view name) {
  constexpr std::string_view begin = "step-";
  if (!name.starts_with(begin)) return {};
  const std::string_view digits = name.substr(begin.size());
  index_t step = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (problem != std::errc() || end != digits.data() + digits.size() ||
      manager_folder::name_of(step) != name)
    return {};
  return step;
}

/// Returns true for the name of what is not complete, or was replaced: `step-N.unfinished`,
/// `step-N.damaged`.
[[nodiscard]] inline bool is_remainder(std::string_view name) {
  for (const std::string_view end : {internal::unfinished_name, damaged_name})
    if (name.ends_with(end) && step_of_name(name.substr(0, name.size() - end.size()))) return true;
  return false;
}

inline manager_folder::contents manager_folder::look() const {
  contents found;
  for (const std::string& name : internal::names_in(path_, true)) {
    const std::string path = internal::path_of(path_, name);
    if (is_remainder(name)) {
      found.told.push_back(path + ": a save that was cut off has left it; it is removed");
      for (std::string& left : remove_checkpoint(path)) found.told.push_back(std::move(left));
      continue;
    }
    const std::optional<index_t> step = step_of_name(name);
    if (!step) continue;
    std::optional<managed_step> managed;
    const internal::run_result how =
        internal::result_of_run([&] { managed = checkpoint(path).managed(); });
    if (how.is_failure()) {
      found.damaged.push_back(*step);
      found.told.push_back("passed over: " + how.words);
    } else if (!managed || managed->step != *step) {
      found.told.push_back(path + ": passed over, since a manager did not save it under this name");
    } else {
      found.steps.push_back(*managed);
    }
  }
  std::sort(found.steps.begin(), found.steps.end(),
            [](const managed_step& a, const managed_step& b) { return a.step < b.step; });
  return found;
}

inline std::vector<std::string> manager_folder::remove(const std::string& checkpoint) {
  const std::string unfinished = checkpoint + std::string(internal::unfinished_name);
  std::string path = checkpoint;
  const internal::run_result how =
      internal::result_of_run([&] { internal::rename_path(checkpoint, unfinished); });
  if (!how.is_failure()) path = unfinished;
  return remove_checkpoint(path);
}

}  // namespace shardwise::detail
