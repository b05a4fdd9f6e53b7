// SPDX-License-Identifier: BSL-1.0
// The four cases of a matrix product on a mesh. A product never moves data: it works on the
// elements that the devices hold, leaves a pending sum, or does not compile.
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <iostream>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

template <class Spec>
using matrix = sharded_tensor<float, extents<16, 16>, layout<pod, Spec>>;

constexpr auto times = [](const auto& a, const auto& b) { return einsum<"ik,kj->ij">(a, b); };

int main() {
  device_pool pool{pod{}};
  const auto whole = iota<matrix<P<none, none>>>(pool);
  const Eigen::MatrixXf a = to_host(whole);
  const Eigen::MatrixXf want = a * a;
  bool right = true;
  const auto check = [&](const char* words, const auto& result) {
    const Eigen::MatrixXf have = to_host(result);
    right = right && have.isApprox(want);
    std::cout << words << ": largest difference " << (have - want).cwiseAbs().maxCoeff() << "\n\n";
  };

  std::cout << "1. The contracted letter k is split nowhere: rows of a, columns of b.\n";
  const auto tiles = times(reshard<P<"data", none>>(whole), reshard<P<none, "model">>(whole));
  visualize(tiles);
  check("rows by columns", tiles);

  std::cout
      << "2. k is split on one side: the other side is held whole, each device cuts its part.\n";
  const auto one_side = times(reshard<P<none, "model">>(whole), whole);
  visualize(one_side);
  check("one side", reshard<P<none, none>>(one_side));

  std::cout << "3. k is split alike on both sides: every device has a term of the sum.\n";
  const auto terms = times(reshard<P<"data", "model">>(whole), reshard<P<"model", none>>(whole));
  visualize(terms);
  // to_host(terms) does not compile: "partial_value_is_read". The sum is finished by name:
  check("both sides", reshard<P<"data", none>>(terms));

  // 4. k is split differently: does not compile, "operand_layouts_conflict", and the message gives
  //    the call that fixes it, reshard<P<"model", none>>(operand 1).
  //      times(reshard<P<none, "model">>(whole), reshard<P<"data", none>>(whole));
  return right ? 0 : 1;
}
