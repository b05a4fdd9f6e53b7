// SPDX-License-Identifier: BSL-1.0
// What files of tensors cost in memory, and programs that run out of it.
#include "support/catch.hpp"
#include "support/requests.hpp"
#include "support/temporary.hpp"
#include "support/watched.hpp"
#include <shardwise/io.hpp>
#include <shardwise/shardwise.hpp>

#include <chrono>
#include <new>
#include <string>
#include <tuple>
#include <vector>

using namespace shardwise;
using namespace support;

namespace {

struct halves : mesh<axis<"x", 2>> {};
using V = sharded_tensor<float, extents<6>, layout<halves, P<"x">>>;

/// The header of many tensors of one byte each, with names longer than a string keeps in itself.
safetensors_header many_tensors(int count) {
  safetensors_header out;
  for (int i = 0; i < count; ++i)
    if (!out.tensors.add({"the.weights.of.layer." + std::to_string(i), element::u8, {1}, i}))
      throw std::logic_error("two tensors of one name");
  out.metadata = {{"step", "a number that a string does not keep in itself"}};
  return out;
}

enum class ended { made, out_of_memory, otherwise };

/// Runs a program with one request failing. It does not use the test framework, so that the caller
/// can count blocks around it.
template <class Program>
ended attempt(const Program& program, failing mode, long request) {
  ended out = ended::made;
  requests = 0;
  fails_at = request;
  how = mode;
  try {
    program();
  } catch (const std::bad_alloc&) {
    out = ended::out_of_memory;
  } catch (...) {
    out = ended::otherwise;
  }
  how = failing::never;
  return out;
}

/// Lets each request of a program fail, one in each run; `check` is called after each with how it
/// ended.
template <class Program, class Check>
void fail_everywhere(const Program& program, const Check& check) {
  program();  // what is made once, such as the engine's threads
  for (const failing mode : {failing::once, failing::from_then_on}) {
    bool more = true;
    long request = 0, failures = 0;
    for (; more; request += is_watched ? 3 : 1) {
      const long before = blocks;
      const ended end = attempt(program, mode, request);
      more = requests > request;
      const long after = blocks;
      CAPTURE(mode == failing::once, request);
      // A sort that gets no buffer does without, so that not each failure is one of the program.
      REQUIRE((end == ended::made || (more && end == ended::out_of_memory)));
      failures += end == ended::out_of_memory ? 1 : 0;
      REQUIRE(after == before);
      check(end);
    }
    REQUIRE(failures > 2);
  }
}

}  // namespace

TEST_CASE("memory runs out where tensors are saved, and the file stays as it was") {
  const temporary file("memory-save.safetensors");
  const device_pool pool(halves{}, 1);
  const V x = iota<V>(pool), y = x * 2.0F;
  struct part {
    V first, second;
  };
  save_safetensors(file.path(), x);
  const std::string before = file.read();
  const part values{x, y};
  save_safetensors(file.path(), std::vector{values, values}, {{"of.the.metadata", "the words"}});
  const std::string after = file.read();
  REQUIRE(after != before);
  fail_everywhere(
      [&] {
        const std::vector nest{values, values};
        save_safetensors(file.path(), nest, {{"of.the.metadata", "the words"}});
      },
      [&](ended end) {
        REQUIRE(file.read() == after);  // replaced by the same
        REQUIRE(names_beside(file.path()).empty());
        if (end == ended::made) return;
        // What fails leaves another file as it was too.
        file.write(before);
        (void)attempt(
            [&] {
              save_safetensors(file.path(), std::vector{values, values});
            },
            failing::from_then_on, 3);
        REQUIRE(file.read() == before);
        file.write(after);
      });
  REQUIRE(to_host(y).elements()[5] == 10.0F);
}

TEST_CASE("memory runs out where a file of tensors is opened and read") {
  const temporary file("memory-open.safetensors");
  const device_pool pool(halves{}, 1);
  const V x = iota<V>(pool);
  save_safetensors(file.path(), std::tuple(x, x * 2.0F), {{"of.the.metadata", "the words"}});
  V read = zeros<V>(pool);
  fail_everywhere(
      [&] {
        const safetensors_file open(file.path());
        if (open.header().tensors.size() != 2) throw std::logic_error("another file");
      },
      [](ended) {});
  fail_everywhere(
      [&] {
        const safetensors_file open(file.path());
        const V loaded = load_tensor<V>(pool, open, "1");
        if (to_host(loaded).elements()[5] != 10.0F) throw std::logic_error("other elements");
      },
      [](ended) {});
  // Texts that are refused need memory for the reason.
  fail_everywhere(
      [&] {
        for (const char* wrong :
             {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"a name too long":0}})",
              R"({"a":{"dtype":"F32","shape":[1],)", R"({"a":[[[[[[1]]]]]]})",
              R"({"__metadata__":{"a":{"b":[1,2,3]}}})"})
          if (parse_safetensors_header(wrong).ok()) throw std::logic_error("it was read");
      },
      [](ended) {});
}

TEST_CASE("headers cost memory and time in proportion to the tensors that they list") {
  const auto bytes_for = [](const auto& f) {
    const long begun = requested_bytes;
    f();
    return requested_bytes - begun;
  };
  long written[2]{}, read[2]{};
  for (int i = 0; i < 2; ++i) {
    const safetensors_header header = many_tensors(i == 0 ? 500 : 2000);
    std::string text;
    written[i] = bytes_for([&] { text = write_safetensors_header(header); });
    bool ok = false;
    read[i] =
        bytes_for([&] { ok = parse_safetensors_header(std::string_view(text).substr(8)).ok(); });
    REQUIRE(ok);
    REQUIRE(read[i] <= 40 * static_cast<long>(text.size()));
  }
  REQUIRE(written[1] <= 5 * written[0]);
  REQUIRE(read[1] <= 5 * read[0]);

  // Where each tensor is compared with all before it, this takes minutes.
  const auto begin = std::chrono::steady_clock::now();
  const std::string text = write_safetensors_header(many_tensors(is_watched ? 20000 : 80000));
  const read_header again = parse_safetensors_header(std::string_view(text).substr(8));
  REQUIRE(again.ok());
  for (const stored_tensor& one : again.header.tensors)
    if (again.header.find(one.name) != &one) FAIL(one.name);
  REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("weights that are split are never whole in the memory of the host") {
  const temporary file("memory-weights.safetensors");
  struct quarters : mesh<axis<"x", 4>> {};
  constexpr index_t side = 2048, bytes = side * side * 4;
  using Rows = sharded_tensor<float, extents<side, side>, layout<quarters, P<"x", none>>>;
  using Columns =
      sharded_tensor<float, extents<side, 16, side / 16>, layout<quarters, P<none, "x", none>>>;
  using Narrow = sharded_tensor<bfloat16, extents<side, side>, layout<quarters, P<none, "x">>>;
  const device_pool pool(quarters{}, 2);
  save_safetensors(file.path(), std::tuple(iota<Rows>(pool)));
  const safetensors_file open(file.path());
  /// What loading requests besides the memory of shards, which is mapped.
  const auto requested = [&]<class X>(std::type_identity<X>, stored_form form) {
    std::tuple<X> nest{zeros<X>(pool)};
    const weight_table names{{"0", "0", form}};
    const long begun = requested_bytes;
    load_weights(open, nest, names, state_names::all, stored_elements::converted);
    const long used = requested_bytes - begun;
    const auto& shard = local(std::get<0>(nest), 1);
    const auto at = static_cast<float>(shard.elements()[1]);
    REQUIRE(at > 0.0F);
    return used;
  };
  // Four parts with buffers of 1 MiB each, and as much for elements that are converted, of the 16.
  REQUIRE(requested(std::type_identity<Rows>{}, stored_form::same) < bytes / 16);
  REQUIRE(requested(std::type_identity<Rows>{}, stored_form::transposed) < bytes / 3);
  REQUIRE(requested(std::type_identity<Columns>{}, stored_form::transposed) < bytes / 3);
  REQUIRE(requested(std::type_identity<Narrow>{}, stored_form::same) < bytes / 3);
  REQUIRE(requested(std::type_identity<Narrow>{}, stored_form::transposed) < 2 * bytes / 3);
}
