// SPDX-License-Identifier: BSL-1.0
// Programs that run out of memory, at each of their requests in turn.
#include "support/catch.hpp"
#include "support/requests.hpp"
#include "support/watched.hpp"
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#if defined(__linux__)
#include <sys/resource.h>
#include <unistd.h>
#endif

using namespace shardwise;
using namespace support;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
// A product of these is large enough to be computed by several threads.
constexpr index_t n = 96;
using M = sharded_tensor<float, extents<n, n>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<n, n>, layout<pod, P<none, "model">>>;
using V = sharded_tensor<float, extents<8>, layout<pod, P<"data">>>;

M rows(const device_pool& pool) {
  return generate<M>(pool, [](const global_index& at) {
    return static_cast<float>((at[0] * 5 + at[1] * 3) % 7 - 3);
  });
}
W columns(const device_pool& pool) {
  return generate<W>(
      pool, [](const global_index& at) { return static_cast<float>((at[0] + 2 * at[1]) % 5 - 2); });
}
std::vector<float> read(const auto& x) { return to_host(x).elements(); }

/// True if a request for memory failed, on this thread or on a device.
bool is_bad_alloc(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const device_error& outer) {
    return is_bad_alloc(outer.nested_ptr());
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// The outcome of a program in which a request for memory failed.
struct outcome {
  bool reached = false;      ///< The request was made.
  bool short_of = true;      ///< What was thrown, if anything, says that memory was short.
  bool result = true;        ///< What was returned, if anything, is right.
  bool others = true;        ///< Other tensors have their values, and the pool works.
  bool again = true;         ///< With memory back the program succeeds.
  bool charged_once = true;  ///< What the devices hold is what tensors hold.
};

/// Whether a program computes only its own tensors or all that are pending in the pool.
enum class scope { program, pool };

/// Runs a program in which one request for memory fails. It does not use the test framework, so
/// that the caller can count blocks around it.
template <scope Scope, class Program, class Result>
outcome attempt(const Program& program, const Result& expected, unsigned threads, failing mode,
                long request) {
  outcome out;
  const device_pool pool(pod{}, threads);
  {
    const M x = rows(pool);
    const W w = columns(pool);
    const V computed = full<V>(pool, 3.0F);
    const V pending = computed * 2.0F;
    std::optional<Result> result;
    std::exception_ptr thrown;
    requests = 0;
    fails_at = request;
    how = mode;
    try {
      result = program(pool, x, w);
    } catch (...) {
      thrown = std::current_exception();
    }
    how = failing::never;
    out.reached = requests > request;
    out.result = !result || *result == expected;
    out.short_of = thrown == nullptr || is_bad_alloc(thrown);
    const auto filled_with = [](const V& y, float value) {
      return read(y) == std::vector<float>(8, value);
    };
    try {
      out.others = filled_with(computed, 3.0F) &&
                   (Scope == scope::pool || filled_with(pending, 6.0F)) &&
                   filled_with(computed * 3.0F, 9.0F) && read(x) == read(rows(pool));
      out.again = program(pool, x, w) == expected;
      sync(pool);
    } catch (...) {
      out.again = false;
    }
  }
  for (index_t d = 0; d < pool.devices(); ++d)
    out.charged_once = out.charged_once && pool.state()->memory().held(d) == 0;
  return out;
}

/// Lets each request of a program for memory fail, one in each run.
template <scope Scope = scope::program, class Program>
void fail_everywhere(const Program& program) {
  using result_type = std::invoke_result_t<Program, const device_pool&, const M&, const W&>;
  std::optional<result_type> expected;
  {
    const device_pool pool{pod{}};
    expected = program(pool, rows(pool), columns(pool));
  }
  for (const unsigned threads : {1U, 3U})
    for (const failing mode : {failing::once, failing::from_then_on}) {
      bool more = true;
      long request = 0;
      for (; more; request += is_watched ? 3 : 1) {
        const long before = blocks;
        const outcome out = attempt<Scope>(program, *expected, threads, mode, request);
        const long after = blocks;
        more = out.reached;
        CAPTURE(threads, mode == failing::once, request);
        REQUIRE(out.short_of);
        REQUIRE(out.result);
        REQUIRE(out.others);
        REQUIRE(out.again);
        REQUIRE(out.charged_once);
        REQUIRE(after == before);
      }
      REQUIRE(request > 2);
    }
}

}  // namespace

TEST_CASE("memory runs out in elementwise functions, with names and without") {
  fail_everywhere([](const device_pool&, const M& x, const W&) {
    return read(relu(x * 2.0F + 1.0F) - abs(x) * x);
  });
  fail_everywhere([](const device_pool&, const M& x, const W&) {
    const auto named = x * 2.0F;
    const auto copy = named;
    const sharded_tensor y = relu(named) + copy;
    auto z = y - 1.0F;
    const sharded_tensor moved = std::move(z) * named;
    return read(moved + y);
  });
}

TEST_CASE("memory runs out in assignments") {
  fail_everywhere([](const device_pool&, const M& x, const W&) {
    sharded_tensor y = x;
    any_tensor<float> z = x;
    for (int i = 0; i < 3; ++i) {
      y += x * 2.0F;
      y *= 0.5F;
      z -= y;
    }
    z = z + y;
    return read(z);
  });
}

TEST_CASE("memory runs out in a product and its epilogue") {
  fail_everywhere([](const device_pool&, const M& x, const W& w) {
    return read(relu(einsum<"bi,io->bo">(x * 0.5F, w) + 1.0F) * 2.0F);
  });
  fail_everywhere([](const device_pool&, const M& x, const W&) {
    return read(einsum<"ij,kj->ik">(x, reshard<P<none, none>>(x)) - einsum<"ij->ij">(x));
  });
}

TEST_CASE("memory runs out in a reduction and its prologue") {
  fail_everywhere([](const device_pool&, const M& x, const W&) {
    const auto columns_of = reshard<P<none>>(sum<0>(abs(x) * 2.0F));
    return read(x - columns_of - max<1>(x, keep_dims));
  });
}

TEST_CASE("memory runs out in every kind of reshard") {
  fail_everywhere([](const device_pool&, const M& x, const W& w) {
    const auto terms = einsum<"bi,bo->io">(x, x);        // pending over data
    const auto all = reshard<P<none, none>>(terms);      // all_reduce
    const auto mine = reshard<P<"data", none>>(terms);   // reduce_scatter
    const auto gathered = reshard<P<none, none>>(x);     // all_gather
    const auto sliced = reshard<P<"data", "model">>(x);  // slice
    const auto turned = reshard<P<none, "data">>(x);     // all_to_all
    const auto moved = reshard<P<"model", none>>(x);     // permutation
    const auto cyclic_rows = reshard<P<cyclic("data"), none>, uneven>(w);
    sync(all, mine, gathered, sliced, turned, moved, cyclic_rows);
    std::vector<float> read_all;
    for (const any_tensor<float>& y :
         {any_tensor<float>(all), any_tensor<float>(mine), any_tensor<float>(gathered),
          any_tensor<float>(sliced), any_tensor<float>(turned), any_tensor<float>(moved),
          any_tensor<float>(cyclic_rows)})
      for (float element : read(y)) read_all.push_back(element);
    return read_all;
  });
}

TEST_CASE("memory runs out in operations on tensors without their types") {
  fail_everywhere([](const device_pool&, const M& x, const W& w) {
    const any_tensor<float> a = x, b = w;
    const any_tensor<float> y = relu(einsum("bi,io->bo", a, b) + 1.0F);
    const any_tensor<float> z = reshard(y, spec_desc{{"", ""}}) - mean(a, over{1}, keep_dims);
    return read(reshard(reduce(reduction::max, z, over{0}), spec_desc{{""}}));
  });
}

TEST_CASE("memory runs out in steps, and where several results are computed together") {
  fail_everywhere<scope::pool>([](const device_pool& pool, const M& x, const W& w) {
    const sharded_tensor before = x + 1.0F;
    const auto [a, b] = step(pool, [&] {
      const auto h = einsum<"bi,io->bo">(before, w);
      return std::tuple(h * 2.0F, sharded_tensor(h - 1.0F));
    });
    return read(a * b);
  });
  fail_everywhere<scope::pool>([](const device_pool& pool, const M& x, const W&) {
    const auto shared = x * 3.0F;
    const sharded_tensor a = shared + 1.0F, b = shared - 1.0F;
    const any_tensor<float> c = a * b;
    sync(a, b);
    sync(pool);
    return read(c);
  });
}

TEST_CASE("memory runs out where a program is explained or printed") {
  fail_everywhere([](const device_pool&, const M& x, const W& w) {
    const sharded_tensor y = relu(einsum<"bi,io->bo">(x, w) + 1.0F);
    const sharded_tensor z = reshard<P<none, none>>(y);
    return explain(z, y);
  });
  // A program still runs after `explain` has failed.
  fail_everywhere([](const device_pool&, const M& x, const W& w) {
    const sharded_tensor y = relu(einsum<"bi,io->bo">(x, w) + 1.0F);
    const sharded_tensor z = reshard<P<none, none>>(y * 2.0F);
    try {
      (void)explain(z);
    } catch (const std::bad_alloc&) {
      how = failing::never;
    }
    return read(z);
  });
  fail_everywhere([](const device_pool&, const M& x, const W&) {
    std::ostringstream out;
    out.exceptions(std::ios::badbit);
    out << to_host(x * 0.125F);
    return out.str();
  });
}

TEST_CASE("memory runs out where tensors are made of the host's data and read back") {
  fail_everywhere([](const device_pool& pool, const M&, const W&) {
    const std::vector<float> host{1, 2, 3, 4, 5, 6, 7, 8};
    const V a = distribute<V>(pool, host);
    const V b = distribute<V>(pool, {8, 7, 6, 5, 4, 3, 2, 1});
    const V c = normal<V>(pool, random_key{1}) * 0.0F;
    const auto d = distribute<float>(pool, std::span(host), {8}, spec_desc{{"data"}});
    return read(a * b + c + reshard<P<"data">>(iota<V>(pool)) - d);
  });
  fail_everywhere([](const device_pool&, const M& x, const W&) {
    std::vector<float> firsts;
    for (const auto& shard : shards(x + 1.0F)) firsts.push_back(shard.elements()[0]);
    firsts.push_back(local(x * 2.0F, 3).elements()[1]);
    return firsts;
  });
}

TEST_CASE("memory runs out where a pool is made") {
  fail_everywhere([](const device_pool&, const M&, const W&) {
    const device_pool own(pod{}, 2);
    return read(full<V>(own, 4.0F) + 1.0F);
  });
}

TEST_CASE("pending tensors are dropped where no memory is left") {
  fail_everywhere([](const device_pool&, const M& x, const W& w) {
    std::optional<M> chain = x;
    for (int i = 0; i < 20; ++i) chain = *chain * *chain + 1.0F;
    std::optional<any_tensor<float>> reader = any_tensor<float>(einsum<"bi,io->bo">(*chain, w));
    const failing mode = how.exchange(failing::from_then_on);
    const long request = fails_at.exchange(0);
    chain.reset();
    reader.reset();
    fails_at = request;
    how = mode;
    return std::string("dropped");
  });
}

#if defined(__linux__)
TEST_CASE("large shards, whose memory comes from the system, run out of it") {
  using Large = sharded_tensor<float, extents<2, 1 << 20>, layout<pod, P<"data", none>>>;
  const device_pool pool(pod{}, 2);
  const Large x = full<Large>(pool, 2.0F);
  const Large kept = x * 2.0F;
  sync(kept);
  const Large y = kept + x, z = reshard<P<"data", none>>(reshard<P<none, none>>(y * y));
  pool.state()->storage().trim();
  if (is_watched) return;  // sanitizers need address space of their own

  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit now = before;
  now.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (3U << 20U);
  std::exception_ptr made, computed;
  if (setrlimit(RLIMIT_AS, &now) == 0) {
    try {
      (void)full<Large>(pool, 1.0F);
    } catch (...) {
      made = std::current_exception();
    }
    try {
      sync(z);
    } catch (...) {
      computed = std::current_exception();
    }
  }
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  REQUIRE(made != nullptr);
  REQUIRE(is_bad_alloc(made));
  REQUIRE(computed != nullptr);
  REQUIRE(is_bad_alloc(computed));

  REQUIRE_THROWS_AS(sync(z), std::bad_alloc);
  REQUIRE(local(kept, 0).elements()[7] == 4.0F);
  REQUIRE(local(kept * kept + x, 3).elements()[9] == 18.0F);
}
#endif
