// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace documented {

/// A program of a page, which enters itself in the list of those that are linked together. Its main
/// is the function `run`.
struct program {
  const char* name;
  void (*run)();
  const program* next = last;
  static inline const program* last = nullptr;

  program(const char* of_block, void (*main_of_block)()) : name(of_block), run(main_of_block) {
    last = this;
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;
};

}  // namespace documented
