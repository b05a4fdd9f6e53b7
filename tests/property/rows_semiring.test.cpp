// SPDX-License-Identifier: BSL-1.0
#include "property/row_agreement.hpp"
#include "property/rows/tables.hpp"
#include <shardwise/kernel.hpp>

using namespace generated;

TEST_CASE("contractions over semirings agree with loops under every layout") {
  check_rows(semiring_rows());
}

namespace {
// Widest paths: the least of two is no product that gradients know.
struct max_min_semiring {
  static constexpr text_view name = "max_min";
  using times = functions::minimum;
  static constexpr reduction reduce = reduction::max;
  static constexpr bool distributes = true;
};
constexpr max_min_semiring max_min{};
}  // namespace

TEST_CASE("gradients refuse contractions over other semirings by their name") {
  mesh_desc mesh;
  mesh.axes.push_back({short_name("x"), 2});
  const device_pool pool(mesh, 1);
  const std::vector<double> host{1, 2, 3, 4};
  const any_tensor<double> x =
      distribute<double>(pool, std::span<const double>(host), {2, 2}, spec_desc{{"", ""}});
  const auto widest =
      gradient([](const any_tensor<double>& d) { return sum(einsum<max_min>("ij,jk->ik", d, d)); });
  try {
    (void)widest(x);
    FAIL("there is no such gradient");
  } catch (const error& refusal) {
    CHECK(refusal.code() == violation::operation_has_no_gradient);
    CHECK(std::string(refusal.what()).find("einsum max_min") != std::string::npos);
  }
}
