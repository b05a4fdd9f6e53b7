// SPDX-License-Identifier: BSL-1.0
// Files that replace others when they are complete, and what is left if they never are.
#include "support/catch.hpp"
#include "support/temporary.hpp"
#include <shardwise/io.hpp>

#include <csignal>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace shardwise;
using support::names_beside;
using support::temporary;

namespace {

void write(output_file& to, std::string_view words) {
  to.write(std::as_bytes(std::span(words.data(), words.size())));
}
void save(const std::string& path, std::string_view words) {
  output_file file(path);
  write(file, words);
  file.commit();
}

/// A process that has begun to write a file. It goes on when it is told to.
class other_process {
 public:
  explicit other_process(const std::string& path) {
    int told[2]{}, tells[2]{};
    if (::pipe(told) != 0 || ::pipe(tells) != 0) throw std::runtime_error("no pipe");
    process_ = ::fork();
    if (process_ == 0) {
      ::close(told[1]);
      ::close(tells[0]);
      int status = 1;
      try {
        output_file file(path);
        write(file, "of the other");
        char word = 'b';
        if (::write(tells[1], &word, 1) == 1 && ::read(told[0], &word, 1) == 1) {
          file.commit();
          status = 0;
        }
      } catch (...) {
      }
      ::_exit(status);
    }
    ::close(told[0]);
    ::close(tells[1]);
    to_ = told[1];
    char word = 0;
    has_begun_ = ::read(tells[0], &word, 1) == 1;
    ::close(tells[0]);
  }
  other_process(const other_process&) = delete;
  ~other_process() {
    if (process_ > 0) kill();
    ::close(to_);
  }
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Returns true if the process has committed its file.
  bool finish() {
    const char word = 'f';
    return ::write(to_, &word, 1) == 1 && wait() == 0;
  }
  void kill() {
    ::kill(process_, SIGKILL);
    (void)wait();
  }

 private:
  int wait() {
    int status = -1;
    ::waitpid(std::exchange(process_, -1), &status, 0);
    return status;
  }

  pid_t process_ = -1;
  int to_ = -1;
  bool has_begun_ = false;
};

}  // namespace

TEST_CASE("a file removes what killed processes have left of it, and nothing of living ones") {
  const temporary file("file-left");
  save(file.path(), "before");
  other_process living(file.path());
  {
    other_process killed(file.path());
    REQUIRE((living.has_begun() && killed.has_begun()));
    REQUIRE(names_beside(file.path()).size() == 2);
    killed.kill();
  }
  REQUIRE(names_beside(file.path()).size() == 2);
  REQUIRE(file.read() == "before");
  save(file.path(), "after");
  REQUIRE(file.read() == "after");
  REQUIRE(names_beside(file.path()).size() == 1);
  // What this process is writing stays too, whoever saves.
  {
    output_file mine(file.path());
    write(mine, "mine");
    save(file.path(), "again");
    REQUIRE(names_beside(file.path()).size() == 2);
    mine.commit();
    REQUIRE(file.read() == "mine");
  }
  REQUIRE(living.finish());
  REQUIRE(file.read() == "of the other");
  REQUIRE(names_beside(file.path()).empty());
}

TEST_CASE("what a killed process has left may be of any mode, beside a target named by a link") {
  namespace fs = std::filesystem;
  const temporary file("file-mode"), link("file-mode-link");
  save(file.path(), "before");
  fs::permissions(file.path(), fs::perms::owner_read);
  fs::create_symlink(file.path(), link.path());
  {
    other_process killed(link.path());
    REQUIRE(killed.has_begun());
  }
  REQUIRE(names_beside(file.path()).size() == 1);
  save(link.path(), "after");
  REQUIRE(names_beside(file.path()).empty());
  REQUIRE((file.read() == "after" && fs::is_symlink(link.path())));
}

TEST_CASE("a path is not cut at a zero") {
  const temporary file("file-zero");
  save(file.path(), "before");
  const std::string longer = file.path() + std::string("\0.other", 7);
  const auto why = contains("a path ends at its first zero");
  REQUIRE_THROWS_WITH(output_file(longer), contains("file_is_not_writable") && why);
  REQUIRE_THROWS_WITH(output_file(longer), contains(file.path() + "\\0.other"));
  REQUIRE_THROWS_WITH(input_file(longer), contains("file_is_not_readable") && why);
  REQUIRE_THROWS_WITH(safetensors_file(longer), why);
  REQUIRE(file.read() == "before");
  // The name of a tensor may have a zero, which errors show.
  file.write(
      support::file_of(R"({"a\u0000b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", ""));
  REQUIRE_THROWS_WITH(safetensors_file(file.path()), contains(R"(tensor 'a\0b': it begins at 1)"));
}

TEST_CASE("files that only look like unfinished ones stay") {
  const temporary file("file-alike");
  save(file.path(), "before");
  const std::string left = file.path() + ".12.3.saving";
  const std::string endings[] = {".1.0",         ".saving",     ".1.saving",  ".1.0.saving.txt",
                                 ".1.0.saving2", ".a.0.saving", ".1..saving", ".1.0.2.saving",
                                 "2.1.0.saving"};
  std::vector<std::string> kept;
  for (const std::string& ending : endings) kept.push_back(file.path() + ending);
  for (const std::string& path : kept) std::ofstream(path) << "kept";
  std::ofstream(left) << "left";
  // Neither a link nor a folder is one, nor what a link names.
  kept.push_back(file.path() + ".1.1.saving");
  std::filesystem::create_symlink(file.path(), kept.back());
  kept.push_back(file.path() + ".1.2.saving");
  std::filesystem::create_directory(kept.back());
  save(file.path(), "after");
  const bool is_left = std::filesystem::exists(left);
  std::vector<bool> stays;
  for (const std::string& path : kept) {
    stays.push_back(std::filesystem::exists(path));
    std::filesystem::remove(path);
  }
  REQUIRE(!is_left);
  REQUIRE(stays == std::vector<bool>(kept.size(), true));
  REQUIRE(file.read() == "after");
}

TEST_CASE("threads that save to one path leave one of their files, and nothing else") {
  const temporary file("file-threads");
  const std::string words[] = {std::string(5000, 'a'), std::string(5000, 'b')};
  std::vector<std::string> failed(2);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      try {
        for (int i = 0; i < 100; ++i) save(file.path(), words[t]);
      } catch (const std::exception& failure) {
        failed[t] = failure.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  REQUIRE(failed == std::vector<std::string>(2));
  const std::string read = file.read();
  REQUIRE((read == words[0] || read == words[1]));
  REQUIRE(names_beside(file.path()).empty());
}
