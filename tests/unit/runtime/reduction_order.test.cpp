// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <vector>

using namespace shardwise;

namespace {

/// Pairwise summation: adds neighbours, then neighbours of the results.
float pairwise(std::vector<float> terms) {
  while (terms.size() > 1) {
    std::vector<float> next;
    for (std::size_t i = 0; i < terms.size(); i += 2)
      next.push_back(i + 1 < terms.size() ? terms[i] + terms[i + 1] : terms[i]);
    terms = next;
  }
  return terms[0];
}

}  // namespace

TEST_CASE("devices add their terms in pairs, in the order of the mesh") {
  for (index_t devices : {1, 2, 3, 4, 5, 7, 8, 13, 16, 33}) {
    const mesh_desc mesh{{axis_desc{"x", devices}}};
    const device_pool pool(mesh, 2);
    std::vector<float> terms;
    for (index_t d = 0; d < devices; ++d)
      terms.push_back(uniform<float>(random_key{3}, d) * (d % 3 == 0 ? 1e6F : 1.0F));
    const auto split = distribute<float>(pool, terms, {devices}, spec_desc{{"x"}});
    const auto total = sum(split, over{0});
    REQUIRE(to_host(reshard(total, spec_desc{})).value() == pairwise(terms));
  }
}

TEST_CASE("a sum of 10^7 values over 512 devices is as exact as over 8") {
  constexpr index_t size = 10'000'384;  // a multiple of 512
  double exact = 0;
  for (index_t i = 0; i < size; ++i) exact += double{uniform<float>(random_key{1}, i)};
  for (index_t devices : {8, 512}) {
    const mesh_desc mesh{{axis_desc{"x", devices}}};
    const device_pool pool(mesh);
    std::vector<float> host(static_cast<std::size_t>(size));
    fill_uniform(random_key{1}, 0, host.data(), size);
    const auto x = distribute<float>(pool, host, {size}, spec_desc{{"x"}});
    const double got = double{to_host(reshard(sum(x, over{0}), spec_desc{})).value()};
    INFO(devices << " devices: relative error " << (got - exact) / exact);
    REQUIRE(std::abs(got - exact) <= 2e-7 * exact);
  }
}
