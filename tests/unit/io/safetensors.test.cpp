// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "support/owners.hpp"
#include "support/temporary.hpp"
#include <shardwise/io.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <type_traits>
#include <utility>
#include <vector>

using namespace shardwise;
using Catch::Contains;
using support::file_of;
using support::names_beside;
using support::temporary;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 3>> {};
struct other : mesh<axis<"x", 4>> {};
using W = sharded_tensor<float, extents<5, 6>, layout<pod, P<"data", "model">, partial<>, uneven>>;
using V = sharded_tensor<std::int64_t, extents<dyn>, layout<pod, P<none>>>;
using H = sharded_tensor<bfloat16, extents<4, 3>, layout<pod, P<none, "model">>>;
using B = sharded_tensor<bool, extents<7>, layout<pod, P<"data">, partial<>, uneven>>;
using S = sharded_tensor<double, extents<>, layout<pod, P<>>>;

struct linear {
  W weight;
  V bias_;
};
struct model {
  std::vector<linear> layers;
  std::tuple<H, B> pair;
  std::optional<S> scale;
  any_tensor<float> any;
  int steps = 0;
};

model make_model(const device_pool& pool, float offset) {
  const auto row = [](const global_index& at) { return static_cast<std::int64_t>(at[0]) * 3; };
  const W w = iota<W>(pool);
  const H h = cast<bfloat16>(iota<sharded_tensor<float, extents<4, 3>, H::layout_type>>(pool));
  const B b = cast<bool>(generate<sharded_tensor<float, extents<7>, B::layout_type>>(
      pool, [](const global_index& at) { return at[0] % 3 == 0 ? 1.0F : 0.0F; }));
  const W again = w + offset;
  return {{linear{w * offset, generate<V>(pool, row, 4)}, linear{again, generate<V>(pool, row, 0)}},
          {h, b},
          full<S>(pool, 0.1),
          any_tensor<float>(w - offset),
          3};
}

}  // namespace

TEST_CASE("what is saved is loaded again, under every name and layout") {
  const device_pool pool{pod{}};
  const model saved = make_model(pool, 2.0F);
  const temporary file("safetensors-round-trip");
  save_safetensors(file.path(), saved, {{"step", "7"}});
  REQUIRE(names_beside(file.path()).empty());

  const safetensors_file open(file.path());
  REQUIRE(open.header().metadata.at("step") == "7");
  std::vector<std::string> names;
  for (const stored_tensor& one : open.header().tensors) names.push_back(one.name);
  REQUIRE(names.size() == 8);
  for (const char* name : {"layers.0.weight", "layers.0.bias_", "layers.1.weight", "layers.1.bias_",
                           "pair.0", "pair.1", "scale", "any"})
    REQUIRE(open.header().find(name) != nullptr);
  // The header of a file that is closed at once is a copy.
  std::vector<std::string> same_names;
  for (const stored_tensor& one : safetensors_file(file.path()).header().tensors)
    same_names.push_back(one.name);
  REQUIRE(same_names == names);
  static_assert(std::is_same_v<decltype(open.header()), const safetensors_header&>);
  static_assert(
      std::is_same_v<decltype(safetensors_file(file.path()).header()), safetensors_header>);
  static_assert(std::is_same_v<decltype(std::declval<const safetensors_file>().header()),
                               safetensors_header>);

  model loaded = make_model(pool, 5.0F);
  REQUIRE(load_safetensors(open, loaded).empty());
  REQUIRE(to_host(loaded.layers[0].weight) == to_host(saved.layers[0].weight));
  REQUIRE(to_host(loaded.layers[1].weight) == to_host(saved.layers[1].weight));
  REQUIRE(to_host(loaded.layers[0].bias_) == to_host(saved.layers[0].bias_));
  REQUIRE(to_host(loaded.layers[1].bias_).size() == 0);
  REQUIRE(to_host(std::get<0>(loaded.pair)) == to_host(std::get<0>(saved.pair)));
  REQUIRE(to_host(std::get<1>(loaded.pair)) == to_host(std::get<1>(saved.pair)));
  REQUIRE(to_host(*loaded.scale).value() == 0.1);
  REQUIRE(to_host(loaded.any) == to_host(saved.any));

  // Another mesh, other layouts, and sizes from the file.
  const device_pool others{other{}};
  using Columns =
      sharded_tensor<float, extents<dyn, 6>, layout<other, P<none, "x">, partial<>, uneven>>;
  const auto columns = load_tensor<Columns>(others, open, "layers.0.weight");
  REQUIRE(to_host(columns) == to_host(saved.layers[0].weight));
  const auto any = load_tensor<bfloat16>(others, open, "pair.0", spec_desc{{"x", ""}});
  REQUIRE(to_host(any) == to_host(std::get<0>(saved.pair)));
  const auto half = load_tensor<
      sharded_tensor<bfloat16, extents<4, 3>, layout<other, P<block_cyclic<1>("x"), none>>>>(
      others, open, "pair.0");
  REQUIRE(to_host(half) == to_host(std::get<0>(saved.pair)));
}

TEST_CASE("a file has the bytes of the format") {
  const device_pool pool{pod{}};
  const temporary file("safetensors-bytes");
  using X = sharded_tensor<std::int32_t, extents<2, 2>, layout<pod, P<"data", none>>>;
  save_safetensors(file.path(), distribute<X>(pool, {{1, 2}, {3, 256}}));
  const std::string header =
      "{\"tensor\":{\"data_offsets\":[0,16],\"dtype\":\"I32\",\"shape\":[2,2]}}";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  REQUIRE(file.read() == file_of(padded, std::string("\1\0\0\0\2\0\0\0\3\0\0\0\0\1\0\0", 16)));
}

TEST_CASE("a file that is none is refused with the reason") {
  const temporary file("safetensors-refused");
  const auto refused = [&](const std::string& header, const std::string& data, const char* why) {
    file.write(file_of(header, data));
    REQUIRE_THROWS_WITH(safetensors_file(file.path()),
                        Contains("file_is_malformed") && Contains(file.path()) && Contains(why));
  };
  REQUIRE_THROWS_WITH(safetensors_file(file.path()),
                      Contains("file_is_not_readable") && Contains("No such file"));
  REQUIRE_THROWS_WITH(safetensors_file("/"), Contains("it is no regular file"));
  file.write("short");
  REQUIRE_THROWS_WITH(safetensors_file(file.path()), Contains("shorter than the length"));
  file.write(std::string(7, '\0') + "\x7f");
  REQUIRE_THROWS_WITH(safetensors_file(file.path()), Contains("its header would have"));
  refused("[]", "", "no JSON object");
  refused("{", "", "no JSON object");
  refused("", "", "no JSON object");
  // What JSON permits before an object, the format does not.
  refused(" {}", "", "no JSON object from its first character '{' on");
  refused("\xef\xbb\xbf{}", "", "no JSON object from its first character '{' on");
  refused(std::string("{}\0", 3), "", "no JSON object");
  refused(std::string("{}\0more", 7), "", "no JSON object");
  refused("{} {}", "", "no JSON object");
  refused(R"({"a":1})", "", "tensor 'a': it has dtype, shape and data_offsets");
  refused(R"({"a":{"dtype":"","shape":[],"data_offsets":[0,4]}})", "", "its dtype has a name");
  refused(R"({"a":{"dtype":"F4","shape":[2],"data_offsets":[1,0]}})", "", "ascend");
  refused(R"({"a":{"dtype":"F4","shape":[2],"data_offsets":[1,2]}})", "", "begins at 1");
  refused(R"({"a":{"dtype":"F4","shape":[2],"data_offsets":[0,2]}})", "a", "it holds 1 bytes");
  refused(R"({"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]},)"
          R"("b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
          "a", "begins at 0, and what is before it ends at 1");
  refused(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "", "whole numbers");
  refused(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", "", "whole numbers");
  refused(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", "",
          "2^56");
  refused(R"({"a":{"dtype":"F32","shape":[2,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", "",
          "hold 8 bytes");
  refused(R"({"a":{"dtype":"F4","shape":[1048576,1,1,1,1,1,1,1048576,1048576],)"
          R"("data_offsets":[0,4]}})",
          "", "2^56");
  refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "", "hold 8 bytes");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "", "begins at 4");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
          R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          "", "begins at 0, and what is before it ends at 4");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
          R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          "abcd", "a name occurs twice");
  refused(R"({"__metadata__":{"a":1}})", "", "words alone, not a");
  refused(R"({"__metadata__":{"a":"1","b":null}})", "", "words alone, not b");
  refused(R"({"__metadata__":{"a":["1"]}})", "", "words alone, not a");
  refused(R"({"__metadata__":{"a":"1","a":"2"}})", "", "a name occurs twice");
  refused(R"({"__metadata__":{},"__metadata__":{}})", "", "a name occurs twice");
  refused(R"({"__metadata__":"words"})", "", "__metadata__ has words");
  refused(R"({"__metadata__":[]})", "", "__metadata__ has words");
  refused(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "",
          "a name occurs twice");
  // Syntax is checked to the end.
  refused(R"({"a":{"dtype":1,"shape":[1],"data_offsets":[0,4]},)", "", "no JSON object");
  refused(R"({"a":{"dtype":1,"shape":[1],"data_offsets":[0,4]}})", "", "its dtype is a string");
  refused(R"({"a":{"dtype":["U8"],"shape":[1],"data_offsets":[0,4]}})", "",
          "its dtype is a string");
  refused(R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,4]}})", "", "its shape is a list");
  refused(R"({"a":{"dtype":"U8","shape":{"b":1},"data_offsets":[0,4]}})", "",
          "its shape is a list");
  refused(R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,4]}})", "", "whole numbers");
  refused(R"({"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,4]}})", "", "whole numbers");
  refused(R"({"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,4]}})", "",
          "whole numbers");
  for (const char* offsets : {"[0]", "[0,1,2]", "[0,-1]", "[0,null]", "0", "{}"})
    refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":)" + std::string(offsets) + "}}", "",
            "its data_offsets are two whole numbers");
  refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":0}})", "",
          "it has dtype, shape and data_offsets");
  refused(R"({"a":{"dtype":"U8","shape":[1]}})", "", "it has dtype, shape and data_offsets");
  refused(R"({"a":null})", "", "tensor 'a': it has dtype, shape and data_offsets");
  refused(R"({"a":[[[[[[[[]]]]]]]]})", "", "lists in lists");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abc", "it holds 3 bytes");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcde", "it holds 5 bytes");
}

TEST_CASE("names and metadata of any characters are written and read back") {
  std::string characters;
  for (char c = 0; c < 127; ++c) characters += c;
  characters +=
      "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"
      "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";
  safetensors_header header{{}, {{characters, characters}, {"", ""}}};
  REQUIRE(header.tensors.add({.name = "a" + characters, .type = element::u8, .extents = {2, 3}}));
  REQUIRE(
      header.tensors.add({.name = "A", .begin = 6, .other_type = characters, .other_bytes = 5}));
  const std::string written = write_safetensors_header(header);
  const read_header again = parse_safetensors_header(std::string_view(written).substr(8));
  REQUIRE((again.ok() && again.header.metadata == header.metadata));
  REQUIRE(again.header.tensors.size() == 2);
  REQUIRE(again.header.tensors[0].name == "a" + characters);
  REQUIRE(again.header.find("A")->other_type == characters);
  // The first and the last name, the metadata between them; special characters in JSON's way.
  const safetensors_header small{header.tensors, {{"\"\\/\b\f\n\r\t\x01\x1f", "\x7f"}}};
  REQUIRE_THAT(write_safetensors_header(small),
               Contains(R"(,"__metadata__":{"\"\\/\b\f\n\r\t\u0001\u001f":")"
                        "\x7f"
                        R"("},"a)"));
  for (const char* wrong :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xe1\x80",
        "\xed\xa0\x80", "\xef\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xf1\x80\x80", "\xff"}) {
    safetensors_header no_text;
    REQUIRE(no_text.tensors.add({.name = std::string("a") + wrong + "a"}));
    REQUIRE(write_safetensors_header(no_text).empty());
    REQUIRE(write_safetensors_header({{}, {{"a", wrong}}}).empty());
    REQUIRE(write_safetensors_header({{}, {{wrong, "a"}}}).empty());
  }
}

TEST_CASE("the tensors of a header are found by name") {
  stored_tensors some;
  for (int i = 0; i < 20; ++i) REQUIRE(some.add({.name = std::to_string(i), .begin = i}));
  REQUIRE(!some.add({.name = "7", .begin = 40}));
  REQUIRE((some.size() == 20 && some.back().begin == 19));
  stored_tensors copy = some;
  for (int i = 0; i < 20; ++i) REQUIRE(copy.find(std::to_string(i)) == &*copy.begin() + i);
  REQUIRE((some.find("20") == nullptr && stored_tensors{}.find("") == nullptr));
  std::vector<std::string> names;
  for (const std::size_t place : some.by_name()) names.push_back(some[place].name);
  REQUIRE((names.size() == 20 && std::is_sorted(names.begin(), names.end())));
}

TEST_CASE("a tensor with elements of another system does not keep a file closed") {
  const device_pool pool{pod{}};
  const temporary file("safetensors-others");
  const std::string header = R"({"a":{"dtype":"I32","shape":[2],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[8,11]},)"
                             R"("c":{"dtype":"F4","shape":[3,2],"data_offsets":[11,14]},)"
                             R"("d":{"dtype":"U8","shape":[2],"data_offsets":[14,16]}})";
  file.write(file_of(header, std::string("\1\0\0\0\2\0\0\0abcdef\3\4", 16)));
  const safetensors_file open(file.path());
  using I = sharded_tensor<std::int32_t, extents<2>, layout<pod, P<"data">>>;
  using U = sharded_tensor<std::uint8_t, extents<2>, layout<pod, P<"data">>>;
  REQUIRE(to_host(load_tensor<I>(pool, open, "a"))(1) == 2);
  REQUIRE(to_host(load_tensor<U>(pool, open, "d"))(1) == 4);
  const stored_tensor* const other = open.find("c");
  REQUIRE((other != nullptr && !other->is_loadable() && other->other_type == "F4"));
  REQUIRE((other->bytes() == 3 && other->extents == extents_desc{3, 2}));
  REQUIRE((open.find("d")->is_loadable() && open.header().bytes() == 16));
  std::byte bytes[3]{};
  open.read(*other, 0, bytes);
  REQUIRE((bytes[0] == std::byte{'d'} && bytes[2] == std::byte{'f'}));

  using F = sharded_tensor<float, extents<3>, layout<pod, P<none>>>;
  const auto refused =
      Contains(file.path() + ": 'b' has elements of F8_E4M3, which no tensor has, not f32");
  REQUIRE_THROWS_WITH(load_tensor<F>(pool, open, "b"), refused);
  REQUIRE_THROWS_WITH(load_tensor<float>(pool, open, "b", spec_desc{{""}}), refused);
  struct parts {
    I a;
    U d;
  };
  struct with_other {
    I a;
    F b;
  };
  parts some{zeros<I>(pool), zeros<U>(pool)};
  REQUIRE_THROWS_WITH(load_safetensors(open, some), Contains("unexpected: 'b', 'c'"));
  REQUIRE(load_safetensors(open, some, state_names::common).unexpected ==
          std::vector<std::string>{"b", "c"});
  REQUIRE((to_host(some.a)(0) == 1 && to_host(some.d)(0) == 3));
  with_other wrong{zeros<I>(pool), zeros<F>(pool)};
  REQUIRE_THROWS_WITH(load_safetensors(open, wrong, state_names::common), refused);
  REQUIRE(to_host(wrong.a)(0) == 0);
  // A header is written back as it was read.
  const read_header again =
      parse_safetensors_header(std::string_view(write_safetensors_header(open.header())).substr(8));
  REQUIRE((again.ok() && again.header.find("b")->other_type == "F8_E4M3"));
  REQUIRE(again.header.bytes() == 16);
}

TEST_CASE("a tensor of more dimensions than tensors have does not keep a file closed") {
  const device_pool pool{pod{}};
  const temporary file("safetensors-dimensions");
  const std::string header =
      R"({"a":{"dtype":"U8","shape":[2,1,1,1,1,1,1,1,2],"data_offsets":[0,4]},)"
      R"("b":{"dtype":"F4","shape":[1,1,1,1,1,1,1,1,1,0],"data_offsets":[4,4]},)"
      R"("c":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}})";
  file.write(file_of(header, "abcd\3\4"));
  const safetensors_file open(file.path());
  using U = sharded_tensor<std::uint8_t, extents<2>, layout<pod, P<"data">>>;
  REQUIRE(to_host(load_tensor<U>(pool, open, "c"))(1) == 4);
  const stored_tensor* const other = open.find("a");
  REQUIRE((other != nullptr && !other->is_loadable() && other->bytes() == 4));
  REQUIRE(other->other_shape == std::vector<index_t>{2, 1, 1, 1, 1, 1, 1, 1, 2});
  std::byte bytes[2]{};
  open.read(*other, 2, bytes);
  REQUIRE((bytes[0] == std::byte{'c'} && bytes[1] == std::byte{'d'}));
  REQUIRE_THROWS_WITH(load_tensor<U>(pool, open, "a"),
                      Contains(file.path() + ": 'a' has 9 dimensions, and a tensor has at most 8"));
  REQUIRE_THROWS_WITH(load_tensor<U>(pool, open, "b"), Contains("'b' has 10 dimensions"));
  const read_header again =
      parse_safetensors_header(std::string_view(write_safetensors_header(open.header())).substr(8));
  REQUIRE((again.ok() && again.header.bytes() == 6));
  REQUIRE(again.header.find("a")->other_shape == other->other_shape);
}

TEST_CASE("what a program asks of a file is checked before anything changes") {
  const device_pool pool{pod{}};
  const temporary file("safetensors-asked");
  struct two {
    W a, b;
  };
  struct wrong {
    W a;
    sharded_tensor<float, extents<6, 5>, layout<pod, P<none, none>>> b;
  };
  const W w = iota<W>(pool);
  save_safetensors(file.path(), two{w + 1.0F, w + 2.0F});
  const safetensors_file open(file.path());
  REQUIRE_THROWS_WITH(load_tensor<W>(pool, open, "c"),
                      Contains("tensor_is_not_in_file") && Contains("'c'"));
  REQUIRE_THROWS_WITH(load_tensor<double>(pool, open, "a", spec_desc{{"", ""}}),
                      Contains("stored_tensor_differs") && Contains("f32, not f64"));
  REQUIRE_THROWS_WITH(load_tensor<V>(pool, open, "a"), Contains("f32, not i64"));
  wrong mine{w, zeros<sharded_tensor<float, extents<6, 5>, layout<pod, P<none, none>>>>(pool)};
  REQUIRE_THROWS_WITH(load_safetensors(open, mine), Contains("'b' is [5, 6], not [6, 5]"));
  REQUIRE(to_host(mine.a) == to_host(w));

  // A file with tensors besides those of a nest, and one without some of them.
  struct first {
    W a;
  };
  struct more {
    W a, c;
  };
  first part{w};
  REQUIRE_THROWS_WITH(load_safetensors(open, part),
                      Contains("state_names_differ") && Contains("unexpected: 'b'"));
  REQUIRE(to_host(part.a) == to_host(w));
  const state_difference beside = load_safetensors(open, part, state_names::common);
  REQUIRE((beside.missing.empty() && beside.unexpected == std::vector<std::string>{"b"}));
  REQUIRE(to_host(part.a) == to_host(W(w + 1.0F)));
  load_safetensors(open, state_dict(part));
  more all{w, w};
  REQUIRE_THROWS_WITH(load_safetensors(open, state_dict(all)), Contains("tensor_is_not_in_file"));
  REQUIRE(load_safetensors(open, all, state_names::common).missing ==
          std::vector<std::string>{"c"});
  REQUIRE((to_host(all.a) == to_host(W(w + 1.0F)) && to_host(all.c) == to_host(w)));
  const device_pool others{other{}};
  REQUIRE_THROWS_AS(load_tensor<W>(others, open, "a"), error);

  // A file that is truncated while it is open.
  std::filesystem::resize_file(file.path(), 60);
  REQUIRE_THROWS_WITH(load_tensor<W>(pool, open, "b"),
                      Contains("file_is_not_readable") && Contains("shorter"));
}

TEST_CASE("a target is as it was until a file is whole") {
  const device_pool pool{pod{}};
  const temporary file("safetensors-whole");
  const W w = iota<W>(pool);
  save_safetensors(file.path(), w);
  const std::string before = file.read();
  using pending = sharded_tensor<float, extents<5>, layout<pod, P<none>, partial<"data">>>;
  const any_tensor<float> term = zeros<pending>(pool);
  REQUIRE_THROWS_WITH(save_safetensors(file.path(), std::tuple(w, term)),
                      Contains("partial_value_is_read"));
  REQUIRE(file.read() == before);
  REQUIRE(names_beside(file.path()).empty());
  REQUIRE_THROWS_WITH(save_safetensors("/no/such/folder/file", w),
                      Contains("file_is_not_writable") && Contains("No such file"));
  const temporary pipe("safetensors-pipe");
  REQUIRE(::mkfifo(pipe.path().c_str(), 0600) == 0);
  REQUIRE_THROWS_WITH(save_safetensors(pipe.path(), w),
                      Contains("file_is_not_writable") && Contains("no regular file"));
  REQUIRE(std::filesystem::is_fifo(pipe.path()));
  // Nobody writes to the pipe, and nothing waits for it.
  REQUIRE_THROWS_WITH(safetensors_file(pipe.path()),
                      Contains("file_is_not_readable") && Contains("no regular file"));
  REQUIRE_THROWS_WITH(save_safetensors(file.path(), state_dict(w, "__metadata__")),
                      Contains("file_is_not_writable") && Contains("__metadata__"));
  struct inner {
    W b;
  };
  struct outer {
    std::tuple<W> a;
    inner c;
  };
  save_safetensors(file.path(), outer{{w}, {w}});
  REQUIRE(safetensors_file(file.path()).header().find("c.b") != nullptr);
}

TEST_CASE("a file that is replaced keeps its links and its permissions") {
  namespace fs = std::filesystem;
  const device_pool pool{pod{}};
  const temporary file("safetensors-kept"), link("safetensors-link");
  const W w = iota<W>(pool);
  save_safetensors(file.path(), w);
  constexpr fs::perms secret = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(file.path(), secret);
  fs::create_symlink(file.path(), link.path());
  const W twice = w * 2.0F;
  save_safetensors(link.path(), twice);
  REQUIRE(fs::is_symlink(link.path()));
  REQUIRE(fs::status(file.path()).permissions() == secret);
  REQUIRE(to_host(load_tensor<W>(pool, safetensors_file(file.path()), "tensor")) == to_host(twice));
  // A link to a file that does not exist yet.
  fs::remove(file.path());
  save_safetensors(link.path(), w);
  REQUIRE(fs::is_symlink(link.path()));
  REQUIRE(to_host(load_tensor<W>(pool, safetensors_file(file.path()), "tensor")) == to_host(w));
}

TEST_CASE("a state without tensors is neither saved nor loaded") {
  const device_pool pool{pod{}};
  const temporary file("safetensors-nothing");
  std::vector<W> list{iota<W>(pool)};
  save_safetensors(file.path(), list);
  const auto nothing = state_dict(list, "layers").matching("layer.*");
  REQUIRE_THROWS_WITH(save_safetensors(file.path(), nothing), Contains("the state has no tensors"));
  REQUIRE_THROWS_WITH(load_safetensors(file.path(), nothing), Contains("pattern_matches_nothing"));
  REQUIRE(safetensors_file(file.path()).header().find("0") != nullptr);
}

TEST_CASE("an owner that cannot save tells the others") {
  const temporary file("owners-fail.safetensors");
  const auto begin = std::chrono::steady_clock::now();
  const auto thrown =
      support::run_owners(pod::value, {0, 0, 0, 1, 1, 1}, [&](const device_pool& pool) {
        const bool fails = pool.state()->link()->self() == 1;
        save_safetensors(fails ? "/no/such/folder/file" : file.path(), W(iota<W>(pool)));
      });
  REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  const auto words = [](const std::exception_ptr& each) -> std::string {
    try {
      std::rethrow_exception(each);
    } catch (const std::exception& failure) {
      return failure.what();
    }
  };
  for (const std::exception_ptr& each : thrown) {
    REQUIRE(each != nullptr);
    REQUIRE_THAT(words(each), Contains("No such file"));
  }
  REQUIRE(names_beside(file.path()).empty());
}

TEST_CASE("words that are no UTF-8 are refused, and the target stays") {
  const device_pool pool{pod{}};
  const S x = full<S>(pool, 2.0);
  const temporary file("utf8.safetensors");
  save_safetensors(file.path(), x,
                   {{"words",
                     "gr\xc3\xbc\xc3\x9f"
                     "e \xe2\x82\xac \xf0\x9f\x99\x82"}});
  const std::string before = file.read();
  REQUIRE(safetensors_file(file.path()).header().metadata.at("words").size() == 16);
  const auto refused = Contains("its names and metadata are in UTF-8");
  REQUIRE_THROWS_WITH(save_safetensors(file.path(), x,
                                       {{"words",
                                         "gr\xfc\xdf"
                                         "e"}}),
                      refused);
  REQUIRE_THROWS_WITH(save_safetensors(file.path(), x, {{"\xff", "words"}}), refused);
  REQUIRE_THROWS_WITH(save_safetensors(file.path(), x, {{"words", "\xed\xa0\x80"}}), refused);
  REQUIRE(file.read() == before);
  REQUIRE(names_beside(file.path()).empty());
  // In files too.
  const std::string named =
      "{\"gr\xfc\xdf"
      "e\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
  file.write(file_of(named, "x"));
  REQUIRE_THROWS_WITH(safetensors_file(file.path()), Contains("file_is_malformed"));
}

TEST_CASE("owners of one mesh save to one path, and load from it") {
  const temporary file("owners.safetensors");
  const auto values = [](const W& w) {
    const auto host = to_host(w);
    return std::vector<float>(host.elements().begin(), host.elements().end());
  };
  const device_pool alone{pod{}};
  const std::vector<float> wanted = values(iota<W>(alone) * 2.0F);
  // No assertions of Catch, since owners run in separate threads.
  const auto require = [](bool holds) {
    if (!holds) throw std::logic_error("an owner has read something else");
  };
  for (const support::ownership& each : support::ownerships(6))
    support::run_all_owners(
        pod::value, each.owner_of,
        [&](const device_pool& pool) {
          const W w = iota<W>(pool) * 2.0F;
          for (int s = 0; s < 3; ++s)
            save_safetensors(file.path(), w, {{"step", std::to_string(s)}});
          W read = zeros<W>(pool);
          load_safetensors(file.path(), read);
          require(values(read) == wanted);
        },
        each.settings);
  REQUIRE(values(load_tensor<W>(alone, safetensors_file(file.path()), "tensor")) == wanted);
  REQUIRE(names_beside(file.path()).empty());
}
