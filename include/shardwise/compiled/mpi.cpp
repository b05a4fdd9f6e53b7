// SPDX-License-Identifier: BSL-1.0
// The transport between the processes of an MPI program: all that sees <mpi.h>.
#include "shardwise/mpi/mpi_carrier.hpp"
#include "shardwise/pool/spin.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace shardwise {

namespace {

using clock = std::chrono::steady_clock;

/// What launchers tell the processes that they start: the number of them, or of this one.
constexpr std::array counts{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                            "SLURM_STEP_NUM_TASKS"};
constexpr std::array numbers{"PMIX_RANK", "PMI_RANK", "PMI_FD", "PALS_RANKID", "FLUX_TASK_RANK"};

/// Throws `mpi_error` unless a call has succeeded.
void check(int code, const char* call, int self) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> words{};
  int size = 0;
  MPI_Error_string(code, words.data(), &size);
  throw mpi_error(std::string(call) + ", process " + std::to_string(self) + ": " + words.data(),
                  code);
}

const char* name_of_level(int level) {
  return level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED";
}

/// The moments at which something is looked at again: at once for a while, then after short sleeps
/// that leave the core to others.
class patient_loop {
 public:
  /// Returns after a pause; false if none of the time is left.
  bool pause(clock::time_point end) {
    const clock::time_point now = clock::now();
    if (now >= end) return false;
    if (now - begin_ < std::chrono::microseconds(50)) {
      for (int i = 0; i < 16; ++i) relax();
    } else if (now - begin_ < std::chrono::microseconds(150)) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::min<clock::duration>(step_, end - now));
      step_ = std::min(2 * step_, longest);
    }
    return true;
  }

 private:
  static constexpr std::chrono::microseconds longest{200};
  clock::time_point begin_ = clock::now();
  std::chrono::microseconds step_{20};
};

class mpi_transport final : public mpi_carrier {
 public:
  mpi_transport(memory_maker memory, std::chrono::milliseconds patience, void (*finalizing)())
      : memory_(memory), finalizing_(finalizing) {
    int is_there = 0, level = 0;
    MPI_Initialized(&is_there);
    is_own_ = is_there == 0;
    if (is_own_)
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    else
      MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
      throw mpi_error(
          std::string(is_own_ ? "MPI has only " : "the program has initialised MPI with ") +
              name_of_level(level) +
              ", but pools of several processes need MPI_THREAD_SERIALIZED: call "
              "MPI_Init_thread with this level, or leave it to the first pool",
          MPI_ERR_OTHER);
    MPI_Comm_rank(MPI_COMM_WORLD, &self_);
    MPI_Comm_size(MPI_COMM_WORLD, &owners_);
    if (owners_ > 1) duplicate(patience);
    watch_finalize();
  }

  [[nodiscard]] index_t owners() const noexcept override { return owners_; }
  [[nodiscard]] index_t self() const noexcept override { return self_; }

  [[nodiscard]] ticket send(index_t to, message_stream in,
                            std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    const ticket made = slot(is_sent);
    check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(to),
                    tag_of(in), all_, &open_[made]),
          "MPI_Isend", self_);
    return made;
  }
  [[nodiscard]] ticket receive(index_t from, message_stream in,
                               std::span<std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    const auto size = static_cast<int>(bytes.size());
    const ticket made = slot(size);
    check(MPI_Irecv(bytes.data(), size, MPI_BYTE, static_cast<int>(from), tag_of(in), all_,
                    &open_[made]),
          "MPI_Irecv", self_);
    return made;
  }
  [[nodiscard]] bool is_done(ticket message) override {
    const std::lock_guard lock(mutex_);
    if (open_[message] != MPI_REQUEST_NULL) {
      int done = 0;
      MPI_Status status;
      const int code = MPI_Test(&open_[message], &done, &status);
      if (code == MPI_SUCCESS && !done) return false;
      settle(message, code, status);
    }
    // A message of another size is for another program.
    if (expected_[message] == of_another_size) return false;
    free_.push_back(message);
    return true;
  }
  void abandon(ticket message, std::shared_ptr<const void> memory) noexcept override {
    const std::lock_guard lock(mutex_);
    MPI_Request request = std::exchange(open_[message], MPI_REQUEST_NULL);
    const bool is_receive = expected_[message] >= 0;
    free_.push_back(message);
    if (request == MPI_REQUEST_NULL || is_over()) return;
    // A receive can be cancelled until it is matched; a send cannot.
    if (is_receive) MPI_Cancel(&request);
    kept_.push_back({request, std::move(memory)});
    poll_kept();
  }
  void wait(std::chrono::nanoseconds most) noexcept override {
    const clock::time_point end = clock::now() + most;
    patient_loop again;
    do {
      const std::lock_guard lock(mutex_);
      if (is_over() || has_news()) return;
    } while (again.pause(end));
  }

  void tell(index_t to, std::span<const std::byte> note) noexcept override {
    const std::lock_guard lock(mutex_);
    if (is_over()) return;
    poll_notes();
    // Somebody who takes nothing, such as a stopped process, is told no more.
    if (notes_.size() >= most_notes) return;
    try {
      notes_.push_back({MPI_REQUEST_NULL, {note.begin(), note.end()}});
    } catch (...) {
      return;
    }
    MPI_Isend(notes_.back().bytes.data(), static_cast<int>(note.size()), MPI_BYTE,
              static_cast<int>(to), note_tag, all_, &notes_.back().request);
  }
  [[nodiscard]] bool hear(index_t& from, std::vector<std::byte>& note) override {
    const std::lock_guard lock(mutex_);
    if (is_over()) return false;
    poll_kept();
    int is_there = 0, size = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, note_tag, all_, &is_there, &status), "MPI_Iprobe", self_);
    if (is_there == 0) return false;
    MPI_Get_count(&status, MPI_BYTE, &size);
    note.resize(static_cast<std::size_t>(size));
    check(
        MPI_Recv(note.data(), size, MPI_BYTE, status.MPI_SOURCE, note_tag, all_, MPI_STATUS_IGNORE),
        "MPI_Recv", self_);
    from = status.MPI_SOURCE;
    return true;
  }
  [[nodiscard]] std::unique_ptr<shared_memory> make_memory() override { return memory_(owners_); }

  void flush(std::chrono::nanoseconds most) noexcept override {
    const clock::time_point end = clock::now() + most;
    patient_loop again;
    do {
      const std::lock_guard lock(mutex_);
      if (is_over()) return;
      poll_notes();
      if (notes_.empty()) return;
    } while (again.pause(end));
  }

  [[nodiscard]] ending end(const function_view<bool()>& is_hopeless) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      if (is_over()) return ending::all_came;
    }
    int remain = 0;
    if (owners_ > 1) {
      if (!let_notes_go(is_hopeless)) return ending::some_never_come;
      remain = let_messages_go() ? 0 : 1;
      if (!add_up(remain, is_hopeless)) return ending::some_never_come;
    }
    const std::lock_guard lock(mutex_);
    while (remain == 0 && drop_message()) continue;
    is_over_ = true;
    if (remain != 0) return ending::messages_remain;
    if (all_ != MPI_COMM_NULL) MPI_Comm_free(&all_);
    if (is_own_) MPI_Finalize();
    return ending::all_came;
  }

 private:
  /// A message that nobody waits for, and what owns its bytes.
  struct kept_message {
    MPI_Request request;
    std::shared_ptr<const void> memory;
  };
  struct note_in_flight {
    MPI_Request request;
    std::vector<std::byte> bytes;
  };
  static constexpr int note_tag = 0;
  static constexpr std::size_t most_notes = 1024;
  /// What is expected of a message that is sent, and of one that has arrived with another size.
  static constexpr int is_sent = -1;
  static constexpr int of_another_size = -2;

  /// Makes a communicator of the library's own, whose errors are returned.
  void duplicate(std::chrono::milliseconds patience) {
    MPI_Request made = MPI_REQUEST_NULL;
    check(MPI_Comm_idup(MPI_COMM_WORLD, &all_, &made), "MPI_Comm_idup", self_);
    const clock::time_point end = clock::now() + patience;
    patient_loop again;
    for (int done = 0;;) {
      check(MPI_Test(&made, &done, MPI_STATUS_IGNORE), "MPI_Comm_idup", self_);
      if (done != 0) break;
      if (!again.pause(end))
        throw mpi_error("process " + std::to_string(self_) +
                            " has a pool of several processes, but " + "within " +
                            std::to_string(patience.count()) +
                            " ms not every other process has made one",
                        MPI_ERR_OTHER);
    }
    check(MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", self_);
    void* most = nullptr;
    int is_known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &is_known);
    if (is_known != 0) tags_ = static_cast<std::uint64_t>(*static_cast<int*>(most));
  }

  /// Makes MPI_Finalize call `finalizing_` first, while MPI can still be used.
  void watch_finalize() {
    int key = MPI_KEYVAL_INVALID;
    const auto called = [](MPI_Comm, int, void* self, void*) -> int {
      if (auto& session = *static_cast<mpi_transport*>(self); !session.is_over())
        session.finalizing_();
      return MPI_SUCCESS;
    };
    if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, called, &key, nullptr) != MPI_SUCCESS) return;
    MPI_Comm_set_attr(MPI_COMM_SELF, key, this);
    MPI_Comm_free_keyval(&key);
  }

  [[nodiscard]] bool is_over() const noexcept { return is_over_; }

  /// The tag of a stream; those of pools far apart may share one.
  [[nodiscard]] int tag_of(message_stream in) const {
    if (is_over())
      throw mpi_error("MPI has been finalised: processes exchange no more", MPI_ERR_OTHER);
    const std::uint64_t number =
        2 * std::uint64_t{in.channel} + static_cast<std::uint64_t>(in.kind);
    return static_cast<int>(1 + number % tags_);
  }

  [[nodiscard]] ticket slot(int expected) {
    if (free_.empty()) {
      const std::size_t count = open_.size() + 1;
      // Neither giving up a message nor testing them needs memory.
      free_.reserve(count);
      kept_.reserve(kept_.size() + count);
      done_.resize(count);
      statuses_.resize(count);
      expected_.push_back(expected);
      open_.push_back(MPI_REQUEST_NULL);
      return count - 1;
    }
    const ticket made = free_.back();
    free_.pop_back();
    expected_[made] = expected;
    kept_.reserve(kept_.size() + open_.size());
    return made;
  }

  /// Looks at a message that has ended.
  void settle(ticket message, int code, const MPI_Status& status) {
    int& expected = expected_[message];
    if (expected < 0) return check(code, "MPI_Isend", self_);
    int kind = MPI_SUCCESS, size = 0;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &kind);
    if (kind != MPI_SUCCESS && kind != MPI_ERR_TRUNCATE) check(code, "MPI_Irecv", self_);
    MPI_Get_count(&status, MPI_BYTE, &size);
    if (kind == MPI_ERR_TRUNCATE || size != expected) expected = of_another_size;
  }

  /// Returns true if a message has ended, or a note has arrived.
  [[nodiscard]] bool has_news() noexcept {
    int count = 0, is_there = 0;
    poll_notes();
    MPI_Iprobe(MPI_ANY_SOURCE, note_tag, all_, &is_there, MPI_STATUS_IGNORE);
    if (is_there != 0) return true;
    const int code = MPI_Testsome(static_cast<int>(open_.size()), open_.data(), &count,
                                  done_.data(), statuses_.data());
    if (count == MPI_UNDEFINED) return false;
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const int each = code == MPI_ERR_IN_STATUS ? statuses_[at].MPI_ERROR : code;
      try {
        settle(static_cast<ticket>(done_[at]), each, statuses_[at]);
      } catch (const mpi_error&) {
        // A message that failed never ends; who waits for it hears of its owner, or loses patience.
        expected_[static_cast<std::size_t>(done_[at])] = of_another_size;
      }
    }
    return count > 0;
  }

  void poll_kept() noexcept {
    std::erase_if(kept_, [](kept_message& each) {
      int done = 0;
      MPI_Test(&each.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }
  void poll_notes() noexcept {
    std::erase_if(notes_, [](note_in_flight& each) {
      int done = 0;
      MPI_Test(&each.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }

  /// Waits until `is_done()`; false once `is_hopeless()`, which it asks now and then.
  template <class IsDone>
  [[nodiscard]] static bool wait_until(const IsDone& is_done,
                                       const function_view<bool()>& is_hopeless) noexcept {
    patient_loop again;
    clock::time_point next_look = clock::now();
    while (!is_done()) {
      if (clock::now() >= next_look) {
        if (is_hopeless()) return false;
        next_look = clock::now() + std::chrono::milliseconds(1);
      }
      (void)again.pause(clock::time_point::max());
    }
    return true;
  }

  /// Waits until the others have taken all notes: however busy their cores are, they listen. False
  /// if it is hopeless.
  [[nodiscard]] bool let_notes_go(const function_view<bool()>& is_hopeless) noexcept {
    return wait_until(
        [&] {
          const std::lock_guard lock(mutex_);
          poll_notes();
          return notes_.empty();
        },
        is_hopeless);
  }

  /// Waits a moment for messages that nobody waits for; returns true if none remains.
  [[nodiscard]] bool let_messages_go() noexcept {
    const clock::time_point end = clock::now() + std::chrono::milliseconds(200);
    patient_loop again;
    do {
      const std::lock_guard lock(mutex_);
      poll_kept();
      if (kept_.empty()) return true;
    } while (again.pause(end));
    return false;
  }

  /// Waits until all processes have come here, and adds up their numbers; false if it is hopeless.
  [[nodiscard]] bool add_up(int& number, const function_view<bool()>& is_hopeless) noexcept {
    MPI_Request request = MPI_REQUEST_NULL;
    // Kept, as the sum may arrive after this function has given up.
    static int mine, total;
    mine = number;
    {
      const std::lock_guard lock(mutex_);
      if (MPI_Iallreduce(&mine, &total, 1, MPI_INT, MPI_SUM, all_, &request) != MPI_SUCCESS)
        return false;
    }
    bool is_broken = false;
    const bool have_come = wait_until(
        [&] {
          const std::lock_guard lock(mutex_);
          int done = 0;
          is_broken = MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
          number = total;
          return is_broken || done != 0;
        },
        is_hopeless);
    return have_come && !is_broken;
  }

  /// Receives a message, or a note, that nobody will read; false if there is none.
  [[nodiscard]] bool drop_message() noexcept {
    int is_there = 0, size = 0;
    MPI_Status status;
    if (all_ == MPI_COMM_NULL ||
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, all_, &is_there, &status) != MPI_SUCCESS ||
        is_there == 0)
      return false;
    MPI_Get_count(&status, MPI_BYTE, &size);
    const std::unique_ptr<std::byte[]> bytes(new (std::nothrow)
                                                 std::byte[static_cast<std::size_t>(size)]);
    return bytes != nullptr && MPI_Recv(bytes.get(), size, MPI_BYTE, status.MPI_SOURCE,
                                        status.MPI_TAG, all_, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  }

  memory_maker memory_;
  void (*finalizing_)();
  int self_ = 0;
  int owners_ = 1;
  bool is_own_ = false;
  /// Recursive, as a process may be ended by an exception of a call that is made under it.
  std::recursive_mutex mutex_;
  bool is_over_ = false;
  MPI_Comm all_ = MPI_COMM_NULL;
  std::uint64_t tags_ = 32767;
  /// The messages in flight by ticket, with the sizes that are received.
  std::vector<MPI_Request> open_;
  std::vector<int> expected_;
  std::vector<ticket> free_;
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
  std::vector<kept_message> kept_;
  std::vector<note_in_flight> notes_;
};

}  // namespace

bool mpi_carrier::is_wanted() noexcept {
  int is_there = 0, is_over = 0;
  MPI_Initialized(&is_there);
  MPI_Finalized(&is_over);
  if (is_over != 0) return false;
  if (is_there != 0) return true;
  for (const char* const name : counts)
    if (const char* const count = std::getenv(name)) return std::string_view(count) != "1";
  return std::any_of(numbers.begin(), numbers.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

std::shared_ptr<mpi_carrier> mpi_carrier::open(memory_maker memory,
                                               std::chrono::milliseconds patience,
                                               void (*finalizing)()) {
  return std::make_shared<mpi_transport>(memory, patience, finalizing);
}

void mpi_carrier::leave_at_once() noexcept {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace shardwise
