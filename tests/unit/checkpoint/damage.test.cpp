// SPDX-License-Identifier: BSL-1.0
// Files of checkpoints that are changed, cut short, or absent.
#include "support/catch.hpp"
#include "support/watched.hpp"
#include "unit/checkpoint/used_folder.hpp"
#include <shardwise/checkpoint/checkpoint.hpp>
#include <shardwise/checkpoint/checkpoint_manager.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace shardwise;
using namespace support;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_file(const std::string& path, const std::string& bytes) {
  // Some file systems write what replaces the contents of a file to the disk at once.
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Loads a checkpoint, and returns what it throws; empty if nothing.
std::string refusal_of_load(const std::string& folder, saved_state& into) {
  try {
    checkpoint(folder).load(into);
  } catch (const error& refused) {
    return refused.what();
  }
  return "";
}

/// Opens a checkpoint, and returns what it throws or finds wrong; empty if nothing.
std::string refusal_of_verify(const std::string& folder) {
  std::string all;
  try {
    for (const std::string& line : checkpoint(folder).verify()) all += line + '\n';
  } catch (const error& refused) {
    return refused.what();
  }
  return all;
}

/// Returns the numbers in a text `bytes A to B`, which are the bounds of a chunk.
std::pair<std::size_t, std::size_t> bounds_in(const std::string& words) {
  const std::size_t at = words.find("bytes ");
  std::size_t begin = 0, end = 0;
  if (at == words.npos || std::sscanf(words.c_str() + at, "bytes %zu to %zu", &begin, &end) != 2)
    return {0, 0};
  return {begin, end};
}

}  // namespace

TEST_CASE("a bit that is flipped anywhere is an error that names the file, and where it is") {
  const used_folder folder("checkpoint-flipped");
  const std::string at = folder.path() + "/step-1/";
  const device_pool pool(where().mesh, 1);
  saved_state loaded = state_of(pool, 0);
  const auto wanted = bytes_of(state_of(pool, 1));
  for (const std::string name :
       {"checkpoint.json", "part-1-of-1.json", "part-1-of-1.safetensors"}) {
    const std::string bytes = read_file(at + name);
    const bool has_data = name.ends_with(".safetensors");
    std::uint64_t header = 0;
    std::copy_n(bytes.data(), sizeof header, reinterpret_cast<char*>(&header));
    const auto step_at = [&](std::size_t place) -> std::size_t {
      if (is_watched) return 61;
      return has_data && place > header ? 29 : 1;
    };
    for (std::size_t place = 0; place < bytes.size(); place += step_at(place)) {
      CAPTURE(name, place);
      std::string flipped = bytes;
      flipped[place] = static_cast<char>(flipped[place] ^ (1 << place % 8));
      write_file(at + name, flipped);
      const std::string words = refusal_of_load(at, loaded);
      const bool is_data = has_data && place >= 8 + header;
      // The header of a file of tensors is for other programs.
      if (has_data && !is_data)
        REQUIRE_THAT(refusal_of_verify(at), contains(name));
      else
        REQUIRE_THAT(words, contains(name));
      if (is_data) {
        const auto [begin, end] = bounds_in(words);
        REQUIRE(begin <= place);
        REQUIRE(place < end);
        bool is_named = false;
        for (const auto& each : state_dict(loaded))
          is_named = is_named || words.find("'" + each.name() + "'") != words.npos;
        REQUIRE(is_named);
        REQUIRE_THAT(refusal_of_verify(at), contains(name));
      }
    }
    write_file(at + name, bytes);
    REQUIRE(refusal_of_load(at, loaded).empty());
    REQUIRE(refusal_of_verify(at).empty());
    REQUIRE(bytes_of(loaded) == wanted);
  }
}

TEST_CASE("a file that is cut short anywhere, or absent, is an error that names it") {
  const used_folder folder("checkpoint-short-files");
  const std::string at = folder.path() + "/step-1/";
  const device_pool pool(where().mesh, 1);
  saved_state loaded = state_of(pool, 0);
  for (const std::string name :
       {"checkpoint.json", "part-1-of-1.json", "part-1-of-1.safetensors"}) {
    const std::string bytes = read_file(at + name);
    const auto step_at = [&](std::size_t size) -> std::size_t {
      if (is_watched) return 101;
      return size < 3000 ? 1 : 89;
    };
    for (std::size_t size = 0; size < bytes.size(); size += step_at(size)) {
      CAPTURE(name, size);
      write_file(at + name, bytes.substr(0, size));
      REQUIRE_THAT(refusal_of_load(at, loaded), contains(name));
    }
    write_file(at + name, bytes + " ");
    REQUIRE_THAT(refusal_of_load(at, loaded), contains(name));
    std::filesystem::remove(at + name);
    REQUIRE_THAT(refusal_of_load(at, loaded), contains(name));
    std::filesystem::create_directory(at + name);
    REQUIRE_THAT(refusal_of_load(at, loaded), contains(name));
    std::filesystem::remove(at + name);
    write_file(at + name, bytes);
  }
  REQUIRE(refusal_of_load(at, loaded).empty());
}

TEST_CASE("a manager passes over what is damaged, says why, and saves that step again") {
  const auto in_files = [](const char* name, const std::function<void(std::string&)>& change) {
    return [name, change](const std::string& at) {
      std::string bytes = read_file(at + name);
      change(bytes);
      write_file(at + name, bytes);
    };
  };
  const char *const index = "checkpoint.json", *const list = "part-1-of-1.json",
                    *const data = "part-1-of-1.safetensors";
  struct damage {
    const char* what;
    std::function<void(const std::string&)> done;
    std::string told;
  };
  const std::vector<damage> all{
      {"data are cut short", in_files(data, [](std::string& b) { b.pop_back(); }), data},
      {"data are changed", in_files(data, [](std::string& b) { b.back() ^= 1; }), data},
      {"the list is changed", in_files(list, [](std::string& b) { b[b.size() / 2] ^= 1; }), list},
      {"the index is empty", in_files(index, [](std::string& b) { b.clear(); }), index},
      {"the index is no UTF-8", in_files(index, [](std::string& b) { b[20] = '\xff'; }), index},
      {"the index is absent", [&](const std::string& at) { std::filesystem::remove(at + index); },
       index},
      {"data are absent", [&](const std::string& at) { std::filesystem::remove(at + data); }, data},
      {"the folder is empty",
       [](const std::string& at) {
         std::filesystem::remove_all(at);
         std::filesystem::create_directory(at);
       },
       index}};
  const device_pool pool(where().mesh, 1);
  for (const damage& each : all) {
    CAPTURE(each.what);
    const used_folder folder("checkpoint-passed-over");
    manager_options keep_two = options();
    keep_two.keep = {.last = 2};
    {
      checkpoint_manager before(folder.path(), keep_two);
      saved_state state = state_of(pool, 0);
      REQUIRE(before.restore(state));
      REQUIRE(before.save(2, state_of(pool, 2)));
      before.finish();
    }
    const std::string at = folder.path() + "/step-2/";
    for (int turn = 0; turn < 2; ++turn) {
      each.done(at);
      {
        checkpoint_manager after(folder.path(), keep_two);
        saved_state state = state_of(pool, 0);
        const auto found = after.restore(state);
        REQUIRE(found);
        REQUIRE(found->step == 1);
        REQUIRE(bytes_of(state) == bytes_of(state_of(pool, 1)));
        REQUIRE(std::any_of(after.told().begin(), after.told().end(), [&](const std::string& line) {
          return line.find("step-2/" + each.told) != line.npos;
        }));
        REQUIRE(after.latest_step() == 1);
        // Training goes on, and comes to that step again.
        REQUIRE(after.save(2, state_of(pool, 2)));
        after.wait();
        REQUIRE(after.all_steps() == std::vector<index_t>{1, 2});
        after.finish();
      }
      REQUIRE(checkpoint(at).verify().empty());
    }
    // Without any other, its error is thrown: nobody begins anew by mistake.
    each.done(at);
    std::filesystem::remove_all(folder.path() + "/step-1");
    checkpoint_manager none(folder.path(), keep_two);
    saved_state state = state_of(pool, 0);
    REQUIRE_THROWS_WITH(none.restore(state),
                        contains("none of its checkpoints can be loaded") && contains("step 2"));
    REQUIRE(std::any_of(none.told().begin(), none.told().end(), [&](const std::string& line) {
      return line.find("step-2/" + each.told) != line.npos;
    }));
  }
}
