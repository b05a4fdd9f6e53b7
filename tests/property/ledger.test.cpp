// SPDX-License-Identifier: BSL-1.0
#include "property/generated.hpp"
#include "support/catch.hpp"

using namespace shardwise;

namespace {

struct grid : mesh<axis<"data", 2>, axis<"model", 3>> {};

using X = sharded_tensor<float, extents<dyn, 6>, layout<grid, P<"data", none>, partial<>, uneven>>;
using W = sharded_tensor<float, extents<6, 6>, layout<grid, P<none, "model">>>;
using V = sharded_tensor<float, extents<6, 6>, layout<grid, P<"model", none>>>;

/// The steps of which programs are made; each takes and gives f32[n, 6] under some layout.
template <int Step>
auto apply_step(const auto& h, const auto& w, const auto& v) {
  if constexpr (Step == 0) {
    return relu(h * 0.5F - 1.0F) + h;
  } else if constexpr (Step == 1) {
    auto a = h * 0.25F;  // a name, read twice: computed once
    return a * a + a;
  } else if constexpr (Step == 2) {
    return maximum(einsum<"bi,io->bo">(reshard<P<"data", none>>(h), w), 0.0F);
  } else if constexpr (Step == 3) {
    return reshard<P<"data", none>>(einsum<"bi,io->bo">(reshard<P<"data", "model">>(h), v));
  } else if constexpr (Step == 4) {
    return reshard<P<none, by("model", "data")>, uneven>(h);
  } else if constexpr (Step == 5) {
    auto columns = reshard<P<none>>(sum<0>(reshard<P<"data", none>>(h) * 2.0F));
    return reshard<P<"data", none>>(h) - columns;
  } else if constexpr (Step == 6) {
    auto peak = reshard<P<none>>(max<0>(reshard<P<by("data", "model"), none>>(h)));
    return reshard<P<none, none>>(h) - peak;
  } else if constexpr (Step == 8) {
    auto dealt = reshard<P<block_cyclic<2>("data"), cyclic("model")>, uneven>(h);
    auto columns = reshard<P<none>>(sum<0>(dealt));
    return dealt * 2.0F - columns;
  } else {
    [[maybe_unused]] auto unread = sum(h);
    return reshard<P<"model", none>>(h * 3.0F) * reshard<P<"model", none>>(h);
  }
}

template <int... Steps>
struct generated_program {
  template <class H>
  static auto run(const H& h, const auto&, const auto&) {
    return h * 1.0F;
  }
};
template <int First, int... Rest>
struct generated_program<First, Rest...> {
  static auto run(const auto& h, const auto& w, const auto& v) {
    return generated_program<Rest...>::run(apply_step<First>(h, w, v), w, v);
  }
};

template <int... Steps>
void check_program() {
  const auto program = [](const auto& x, const auto& w, const auto& v) {
    return generated_program<Steps...>::run(x, w, v);
  };
  for (const index_t rows : {index_t{8}, index_t{5}}) {
    const device_pool pool(grid{}, 2);
    const X x = generate<X>(
        pool,
        [](const global_index& at) { return static_cast<float>((at[0] * 5 + at[1]) % 7 - 3); },
        rows);
    const W w = generate<W>(pool, [](const global_index& at) {
      return static_cast<float>((at[0] + 2 * at[1]) % 5 - 2);
    });
    const V v = generate<V>(pool, [](const global_index& at) {
      return static_cast<float>((3 * at[0] + at[1]) % 5 - 2);
    });
    pool.reset_counters();
    const sharded_tensor y = program(x, w, v);
    sync(y);
    REQUIRE(pool.counters() ==
            trace<128>(program, abstract<X>(rows), abstract<W>(), abstract<V>()));
  }
}

}  // namespace

TEST_CASE("the counters of a run equal the ledger of the same program on paper") {
  check_program<0>();
  check_program<1>();
  check_program<2>();
  check_program<3>();
  check_program<4>();
  check_program<5>();
  check_program<6>();
  check_program<7>();
  check_program<0, 1>();
  check_program<2, 0>();
  check_program<3, 4>();
  check_program<1, 5>();
  check_program<6, 2>();
  check_program<7, 3>();
  check_program<4, 0, 2>();
  check_program<5, 6, 1>();
  check_program<2, 3, 5>();
  check_program<0, 7, 4>();
  check_program<1, 0, 2, 6>();
  check_program<8>();
  check_program<8, 2>();
  check_program<3, 8, 4>();
}
