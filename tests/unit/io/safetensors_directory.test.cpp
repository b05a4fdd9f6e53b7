// SPDX-License-Identifier: BSL-1.0
// Directories of safetensors files with an index.
#include "support/catch.hpp"
#include "support/owners.hpp"
#include "support/refusal.hpp"
#include "support/temporary.hpp"
#include <shardwise/io.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

using namespace shardwise;
using Catch::Contains;
using support::file_of;
using folder = support::temporary_folder;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct other : mesh<axis<"x", 4>> {};
using W = sharded_tensor<float, extents<4, 6>, layout<pod, P<"data", "model">>>;
using V = sharded_tensor<std::int32_t, extents<6>, layout<pod, P<none>>>;
using Rows = sharded_tensor<float, extents<4, 6>, layout<other, P<"x", none>>>;

struct linear {
  W weight;
  V bias;
};
struct model {
  std::vector<linear> layers;
};

model make_model(const device_pool& pool, float offset) {
  const W w = iota<W>(pool);
  return {{linear{w + offset, iota<V>(pool)}, linear{w - offset, iota<V>(pool)}}};
}

/// A file with one tensor of `i32[1]`.
std::string file_of_number(const std::string& name, int number) {
  std::string bytes;
  for (unsigned b = 0; b < 4; ++b)
    bytes += static_cast<char>(static_cast<unsigned>(number) >> (8 * b) & 0xffU);
  return file_of(R"({")" + name + R"(":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}})", bytes);
}

/// The number of files that this process has open.
std::ptrdiff_t open_now() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

/// The message of what opening a directory throws.
std::string refusal_of(const folder& at) {
  try {
    const safetensors_directory opened(at.path());
  } catch (const error& refused) {
    return refused.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a directory of shards is written, and loaded like one file") {
  const device_pool pool{pod{}};
  const folder at("directory");
  const model saved = make_model(pool, 2.0F);
  // 96 bytes for each weight, and 24 for each bias.
  save_safetensors(at.path(), saved, shard_files{120}, {{"step", "7"}});
  REQUIRE(at.names() == std::vector<std::string>{"model-00001-of-00002.safetensors",
                                                 "model-00002-of-00002.safetensors",
                                                 "model.safetensors.index.json"});
  REQUIRE(at.read("model.safetensors.index.json") == R"({
  "metadata": {
    "step": "7",
    "total_size": 240
  },
  "weight_map": {
    "layers.0.bias": "model-00001-of-00002.safetensors",
    "layers.0.weight": "model-00001-of-00002.safetensors",
    "layers.1.bias": "model-00002-of-00002.safetensors",
    "layers.1.weight": "model-00002-of-00002.safetensors"
  }
}
)");
  const safetensors_directory open(at.path());
  REQUIRE(open.shards() == 2);
  REQUIRE(open.header().metadata.at("step") == "7");
  REQUIRE(open.header().tensors.size() == 4);
  REQUIRE(open.header().bytes() == 240);
  model loaded = make_model(pool, 5.0F);
  REQUIRE(load_safetensors(open, loaded).empty());
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE(to_host(loaded.layers[i].weight) == to_host(saved.layers[i].weight));
    REQUIRE(to_host(loaded.layers[i].bias) == to_host(saved.layers[i].bias));
  }
  // One tensor, on another mesh, and a part of the names.
  const device_pool others{other{}};
  REQUIRE(to_host(load_tensor<Rows>(others, open, "layers.1.weight")) ==
          to_host(saved.layers[1].weight));
  model part = make_model(pool, 5.0F);
  load_safetensors(open, state_dict(part).matching("layers.1.*"));
  REQUIRE(to_host(part.layers[1].weight) == to_host(saved.layers[1].weight));
  REQUIRE(to_host(part.layers[0].weight) != to_host(saved.layers[0].weight));
  linear less = part.layers[0];
  REQUIRE_THROWS_WITH(load_safetensors(open, less), Contains("state_names_differ"));

  // A tensor that is larger than a shard has one to itself.
  save_safetensors(at.path(), saved, shard_files{30});
  REQUIRE(safetensors_directory(at.path()).shards() == 4);
  REQUIRE(refusal([&] { save_safetensors(at.path(), saved, shard_files{0}); }) ==
          violation::number_is_out_of_range);
  REQUIRE_THROWS_WITH(save_safetensors("/no/such/folder", saved, shard_files{}),
                      Contains("file_is_not_writable") && Contains("No such file"));
}

TEST_CASE("a directory that is replaced can be read until all of the new one is written") {
  const device_pool pool{pod{}};
  const folder at("directory-replaced");
  const model first = make_model(pool, 1.0F);
  save_safetensors(at.path(), first, shard_files{120});
  model values = make_model(pool, 0.0F);
  const safetensors_directory open(at.path());
  load_safetensors(open, values);
  // Onto the files from which the values came.
  save_safetensors(at.path(), values, shard_files{120});
  REQUIRE(at.names() == std::vector<std::string>{"model-2-00001-of-00002.safetensors",
                                                 "model-2-00002-of-00002.safetensors",
                                                 "model.safetensors.index.json"});
  model again = make_model(pool, 0.0F);
  load_safetensors(safetensors_directory(at.path()), again);
  REQUIRE(to_host(again.layers[1].weight) == to_host(first.layers[1].weight));
  // The files of the first are still open, and read as they were.
  load_safetensors(open, again);
  REQUIRE(to_host(again.layers[0].weight) == to_host(first.layers[0].weight));

  // What cannot be saved leaves everything as it was.
  using pending = sharded_tensor<float, extents<4>, layout<pod, P<none>, partial<"data">>>;
  const any_tensor<float> term = zeros<pending>(pool);
  REQUIRE_THROWS_WITH(
      save_safetensors(at.path(), std::tuple(first.layers[0].weight, term), shard_files{96}),
      Contains("partial_value_is_read"));
  load_safetensors(safetensors_directory(at.path()), again);
  save_safetensors(at.path(), values, shard_files{120});
  REQUIRE(at.names()[0] == "model-00001-of-00002.safetensors");
  REQUIRE(at.names().size() == 3);
}

TEST_CASE("a directory is checked before anything is loaded, and all that is absent is named") {
  const folder at("directory-refused");
  const auto index = [&](const std::string& map) {
    at.write("model.safetensors.index.json", R"({"weight_map":{)" + map + "}}");
  };
  at.write("one", file_of_number("a", 1));
  REQUIRE_THAT(refusal_of(at), Contains("file_is_not_readable") && Contains("index.json"));
  index(R"("a":"one","b":"two","c":"three","d":"two")");
  REQUIRE_THAT(refusal_of(at), Contains("file_is_not_readable") &&
                                   Contains("shards that it names are absent: 'three', 'two'"));
  index(R"("a":"one","b":"one","c":"one")");
  REQUIRE_THAT(refusal_of(at),
               Contains("tensor_is_not_in_file") && Contains("'b' in 'one', 'c' in 'one'"));
  for (const char* elsewhere : {"../x", "/x", "x/y", "..", ".", "", "..\\\\x"}) {
    CAPTURE(elsewhere);
    index(R"("a":"one","b":")" + std::string(elsewhere) + "\"");
    REQUIRE_THAT(refusal_of(at), Contains("file_is_malformed") && Contains("'b'") &&
                                     Contains("no file beside the index"));
  }
  at.write("two", "no tensors");
  index(R"("a":"one","b":"two")");
  REQUIRE_THAT(refusal_of(at), Contains("file_is_malformed") && Contains("/two: "));
  index(R"("a":"one")");
  REQUIRE(refusal_of(at).empty());
  at.write("two", file_of_number("a", 2));
  index(R"("a":"two")");
  const device_pool pool{other{}};
  const safetensors_directory open(at.path());
  REQUIRE(to_host(load_tensor<std::int32_t>(pool, open, "a", spec_desc{{""}}))(0) == 2);

  // Another name of the index, and no files at all.
  at.write("other.json", R"({"weight_map":{"a":"one"}})");
  const safetensors_directory same(at.path(), {.index = "other.json", .open_files = 1});
  REQUIRE(to_host(load_tensor<std::int32_t>(pool, same, "a", spec_desc{{""}}))(0) == 1);
  index("");
  REQUIRE(safetensors_directory(at.path()).header().tensors.empty());
  REQUIRE(refusal([&] { return safetensors_directory(at.path(), {.open_files = 0}).shards(); }) ==
          violation::number_is_out_of_range);
}

TEST_CASE("an index is JSON of its form, with each name once") {
  const auto reason = [](const char* text) { return parse_safetensors_index(text).reason; };
  REQUIRE_THAT(reason(""), Contains("no JSON object"));
  REQUIRE_THAT(reason("[{}]"), Contains("no JSON object"));
  REQUIRE_THAT(reason(R"({"weight_map":{})"), Contains("no JSON object"));
  REQUIRE_THAT(reason("{}"), Contains("no weight_map"));
  REQUIRE_THAT(reason(R"({"a":{"weight_map":{}}})"), Contains("no weight_map"));
  REQUIRE_THAT(reason(R"({"weight_map":[]})"), Contains("weight_map is an object"));
  REQUIRE_THAT(reason(R"({"weight_map":{},"metadata":3})"), Contains("metadata are an object"));
  REQUIRE_THAT(reason(R"({"weight_map":{"a":"x","a":"y"}})"), Contains("'a' occurs twice"));
  REQUIRE_THAT(reason(R"({"weight_map":{},"weight_map":{}})"), Contains("weight_map occurs twice"));
  REQUIRE_THAT(reason(R"({"weight_map":{"a":1}})"), Contains("'a': its file is a text"));
  REQUIRE_THAT(reason(R"({"weight_map":{"a":{"b":"c"}}})"), Contains("'a': its file is a text"));
  REQUIRE_THAT(reason(R"({"weight_map":{"a":["c"]}})"), Contains("'a': its file is a text"));
  const read_index read = parse_safetensors_index(
      R"( {"x":[{"y":{}}],"metadata":{"total_size":1.5e3,"n":-2,"t":true,"u":"v","w":[1]},)"
      R"("weight_map":{"a":"\u0041"}})");
  REQUIRE(read.ok());
  REQUIRE(read.index.weight_map == std::map<std::string, std::string>{{"a", "A"}});
  REQUIRE(read.index.metadata ==
          std::map<std::string, std::string>{
              {"total_size", "1.5e3"}, {"n", "-2"}, {"t", "true"}, {"u", "v"}});
  REQUIRE(write_safetensors_index({{}, {{"\xff", "a"}}}).empty());
}

TEST_CASE("thousands of shards are read where few files may be open") {
  const folder at("directory-many");
  constexpr int shards = 2000;
  std::string map;
  for (int i = 0; i < shards; ++i) {
    const std::string name = "w" + std::to_string(i);
    at.write(name + ".safetensors", file_of_number(name, 3 * i));
    map += (i == 0 ? "" : ",") + ("\"" + name + "\":\"" + name + ".safetensors\"");
  }
  at.write("model.safetensors.index.json", R"({"weight_map":{)" + map + "}}");
  const device_pool pool(other{}, 2);
  using One = sharded_tensor<std::int32_t, extents<1>, layout<other, P<none>>>;
  std::vector<One> values(shards, zeros<One>(pool));
  const std::ptrdiff_t before = open_now();
  rlimit old{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &old) == 0);
  const rlimit few{256, old.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::ptrdiff_t most = 0;
  {
    const safetensors_directory open(at.path());
    REQUIRE(open.header().tensors.size() == shards);
    for (int i = 0; i < shards; ++i) {
      const std::string name = "w" + std::to_string(i * 7 % shards);
      const One x = load_tensor<One>(pool, open, name);
      if (to_host(x)(0) != 3 * (i * 7 % shards)) FAIL(name);
      most = std::max(most, open_now());
    }
  }
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &old) == 0);
  REQUIRE(most <= before + 65);  // the folder that is counted is open too
  REQUIRE(open_now() == before);
}

TEST_CASE("threads share few open files, and a file that changed is an error") {
  const folder at("open-files");
  constexpr std::size_t count = 8;
  open_files files(2);
  for (std::size_t i = 0; i < count; ++i) {
    at.write(std::to_string(i), std::string(1000, static_cast<char>('a' + i)));
    REQUIRE(files.add(input_file(at.path() + "/" + std::to_string(i))) == i);
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t turn = 0; turn < 200; ++turn) {
        const std::size_t i = (turn * (t + 1) + t) % count;
        std::byte bytes[16]{};
        files.read(i, 5, bytes);
        for (const std::byte b : bytes)
          if (b != static_cast<std::byte>('a' + i)) ++wrong;
      }
    });
  for (std::thread& each : threads) each.join();
  REQUIRE(wrong == 0);

  std::byte bytes[4]{};
  std::filesystem::resize_file(at.path() + "/0", 3);
  std::filesystem::remove(at.path() + "/1");
  at.write("2", std::string(1000, 'z'));
  files.read(6, 0, bytes);
  files.read(7, 0, bytes);
  REQUIRE_THROWS_WITH(files.read(0, 0, bytes),
                      Contains("file_is_not_readable") && Contains("/0: it became shorter"));
  REQUIRE_THROWS_WITH(files.read(1, 0, bytes), Contains("/1: No such file"));
  REQUIRE_THROWS_WITH(files.read(2, 0, bytes), Contains("/2: it was replaced or changed"));
  files.read(3, 996, bytes);
  REQUIRE(bytes[3] == std::byte{'d'});
  // One that is open is read to its new end.
  std::filesystem::resize_file(at.path() + "/3", 998);
  REQUIRE_THROWS_WITH(files.read(3, 996, bytes), Contains("/3: it became shorter"));
}

TEST_CASE("owners of one mesh save to one directory") {
  const folder at("directory-owners");
  std::filesystem::create_directory(at.path());
  using All = sharded_tensor<float, extents<3>, layout<pod, P<none>>>;
  struct pair {
    W split;
    All everywhere;
  };
  for (int turn = 0; turn < 3; ++turn)
    support::run_all_owners(pod::value, {0, 0, 1, 1}, [&](const device_pool& pool) {
      const pair values{iota<W>(pool), iota<All>(pool)};
      save_safetensors(at.path(), values, shard_files{96});
      pair loaded{zeros<W>(pool), zeros<All>(pool)};
      // The other owner may still be writing the same files; its values are the same.
      load_safetensors(safetensors_directory(at.path()), loaded);
      if (to_host(loaded.split) != to_host(values.split)) throw std::logic_error("other values");
    });
  REQUIRE(at.names().size() == 3);
}
