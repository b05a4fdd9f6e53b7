// SPDX-License-Identifier: BSL-1.0
// Tensors beyond any memory: the error says how large they are, and is that of the standard
// library.
#include "support/catch.hpp"
#include "support/watched.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <new>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pair : mesh<axis<"x", 2>> {};

}  // namespace

static_assert(std::is_base_of_v<std::bad_alloc, out_of_memory> &&
              std::is_nothrow_constructible_v<out_of_memory, index_t> &&
              std::is_nothrow_copy_constructible_v<out_of_memory>);

TEST_CASE("an error of memory says how much was requested") {
  REQUIRE_THAT(out_of_memory(100).what(),
               contains("out_of_memory: there is no memory for 100 bytes; "));
  REQUIRE_THAT(out_of_memory(INT64_MIN, INT64_MAX).what(),
               contains("-9223372036854775808 elements of 9223372036854775807 bytes each; release "
                        "other tensors, or make this one smaller"));
}

TEST_CASE("a tensor beyond memory is refused with its size") {
  if (support::is_watched) return;  // sanitizers end a program that requests so much
  const device_pool pool{pair{}};
  constexpr index_t many = index_t{1} << 50;
  const any_tensor<float> small = full<float>(pool, 2.0F, {1}, spec_desc{{""}});
  const any_tensor<bool> truth = small > 1.0F;
  const auto large = broadcast_to<extents<many>>(small);
  const auto words = contains("there is no memory for 1125899906842624 elements of 4 bytes each");
  REQUIRE_THROWS_AS(to_host(large), std::bad_alloc);
  REQUIRE_THROWS_WITH(to_host(large), words);
  REQUIRE_THROWS_WITH(to_host(broadcast_to<extents<many>>(truth)),
                      contains("1125899906842624 bytes"));
  REQUIRE_THROWS_WITH(state_dict(large)[0].bytes(), words);
  // On the devices.
  REQUIRE_THROWS_WITH(sync(large), contains("there is no memory for 4503599627370496 bytes"));
  REQUIRE_THROWS_WITH(zeros<float>(pool, {many}, spec_desc{{"x"}}),
                      contains("there is no memory for 2251799813685248 bytes"));
  // Others have their values.
  REQUIRE(to_host(small * 3.0F).elements() == std::vector<float>{6});
}
