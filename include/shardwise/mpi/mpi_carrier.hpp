// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/function_view.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/process/transport.hpp"

#include <memory>
#include <stdexcept>
#include <string>
// Provides the durations of <chrono> without calendars and streams.
#include <thread>

namespace shardwise {

/// A call of MPI has failed: `MPI_Isend, process 1: ...`; or MPI cannot be used as the program has
/// initialised it.
class mpi_error : public std::runtime_error {
 public:
  mpi_error(const std::string& words, int code) : std::runtime_error(words), code_(code) {}

  /// Returns the error code of MPI.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// The transport between the processes of an MPI program. Its functions are those of the library
/// `shardwise::mpi`, which alone includes `<mpi.h>`: a program is compiled once for every MPI.
///
/// All calls of MPI are made under one mutex, also those of the thread that listens to the other
/// processes: a program that calls MPI itself meanwhile must initialise it with
/// `MPI_THREAD_MULTIPLE`.
class mpi_carrier : public owner_transport {
 public:
  /// Makes the memory that the processes of a host share.
  using memory_maker = std::unique_ptr<shared_memory> (*)(index_t owners);

  /// Returns true if a launcher has started this process together with others, or the program has
  /// initialised MPI; false after it has finalised MPI. Calls nothing of MPI that costs anything.
  [[nodiscard]] static bool is_wanted() noexcept;
  /// Initialises MPI unless the program has, and returns the transport between all processes.
  ///
  /// Throws `mpi_error` if MPI was initialised with a level below `MPI_THREAD_SERIALIZED`, and if
  /// another process has not come here within `patience`. `finalizing` is called when the program
  /// finalises MPI itself. For one call only.
  [[nodiscard]] static std::shared_ptr<mpi_carrier> open(memory_maker memory,
                                                         std::chrono::milliseconds patience,
                                                         void (*finalizing)());
  /// Ends the process with code 1 once everything printed is written, without waiting for others.
  [[noreturn]] static void leave_at_once() noexcept;

  /// Returns once all notes have left, at the latest after this time.
  virtual void flush(std::chrono::nanoseconds most) noexcept = 0;

  /// How the use of MPI ended.
  enum class ending { all_came, messages_remain, some_never_come };
  /// Ends the use of MPI, and finalises it if `open` initialised it. Everything is quiet
  /// afterwards.
  ///
  /// MPI_Finalize waits for all processes without listening to them, and some launchers crash or
  /// hang if one of them leaves meanwhile. So it is entered only after all have come to this
  /// function; it returns early when `is_hopeless()` says that one of them never will. Unless all
  /// came and no message remains, the process must `leave_at_once`.
  [[nodiscard]] virtual ending end(const function_view<bool()>& is_hopeless) noexcept = 0;
};

}  // namespace shardwise
