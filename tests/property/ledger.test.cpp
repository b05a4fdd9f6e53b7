// SPDX-License-Identifier: BSL-1.0
#include "property/every_owner.hpp"
#include "property/generated_program.hpp"
#include "support/catch.hpp"

using namespace generated;

namespace {

template <int... Steps>
void check_program() {
  const auto program = [](const auto& x, const auto& w, const auto& v) {
    return generated_program<Steps...>::run(x, w, v);
  };
  for_all_owners(grid::value, 1, [&](const device_pool& pool, every) {
    for (const index_t rows : {index_t{8}, index_t{5}}) {
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
      require(costs(pool, trace<128>(program, abstract<X>(rows), abstract<W>(), abstract<V>())));
    }
  });
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
  check_program<9>();
  check_program<9, 5>();
  check_program<10>();
  check_program<11>();
  check_program<3, 11, 10>();
}
