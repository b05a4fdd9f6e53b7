// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using M = sharded_tensor<float, extents<5, 4>, layout<pod, P<"data", none>, partial<>, uneven>>;
using S = sharded_tensor<float, extents<4, 4>, layout<pod, P<none, "model">>>;
using K = sharded_tensor<float, extents<4, 2>, layout<pod, P<"model", none>>>;

}  // namespace

TEST_CASE("a device's part is a view of its shard with its range and replica") {
  const device_pool pool{pod{}};
  const M x = iota<M>(pool);
  const auto part = local(x, 3);
  REQUIRE(part.device() == 3);
  REQUIRE(part.replica() == 1);
  REQUIRE(part.range() == index_box{index_range{3, 5}, index_range{0, 4}});
  REQUIRE(part.elements().size() == 8);
  REQUIRE(part.elements()[0] == 12.0F);
  const auto block = part.matrix();
  REQUIRE(block.rows() == 2);
  REQUIRE(block(1, 3) == 19.0F);
  REQUIRE_THROWS_WITH(local(x, 4), contains("device_is_out_of_range"));
  REQUIRE_THROWS_AS(local(x, -1), error);

  const host_tensor<float> whole = to_host(reshard<none, "data">(any_tensor<float>(x)));
  REQUIRE(whole(4, 3) == 19.0F);
  REQUIRE_THROWS_WITH(whole(5, 0),
                      contains("index_is_out_of_range") && contains("(dimension 0, 5"));
  REQUIRE_THROWS_WITH(whole(0, -1), contains("(dimension 1, -1"));
}

TEST_CASE("a part outlives the tensor and the pool") {
  auto part = [] {
    const device_pool pool{pod{}};
    return local(iota<M>(pool) + 1.0F, 0);
  }();
  REQUIRE(part.elements()[0] == 1.0F);
}

TEST_CASE("a sum over one device is no sum, for operations and for the host alike") {
  struct lone : mesh<axis<"data", 2>, axis<"model", 1>> {};
  using terms = sharded_tensor<float, extents<4>, layout<lone, P<"data">, partial<"model">>>;
  const device_pool pool{lone{}};
  const auto x = iota<terms>(pool);
  REQUIRE(to_host(x) == to_host(x * 1.0F));
  REQUIRE(to_host(x)(3) == 3.0F);
  const any_tensor<float> same = x;
  REQUIRE(to_host(same) == to_host(x));
  REQUIRE(to_host(exp(same))(0) == 1.0F);
}

TEST_CASE("all parts cover the tensor, each replica once") {
  const device_pool pool{pod{}};
  const auto parts = shards(iota<M>(pool));
  REQUIRE(parts.size() == 4);
  index_t first_replicas = 0;
  for (const auto& part : parts)
    if (part.replica() == 0) first_replicas += volume_of(part.range());
  REQUIRE(first_replicas == 20);
  REQUIRE(parts[0].elements().data() == parts[1].elements().data());
}

TEST_CASE("the elements of a temporary are safe to walk and to keep") {
  const device_pool pool{pod{}};
  const M x = iota<M>(pool);
  float total = 0;
  for (const float v : to_host(x).elements()) total += v;
  REQUIRE(total == 190.0F);
  const auto kept = to_host(x).elements();
  REQUIRE(kept.size() == 20);
  REQUIRE(kept[19] == 19.0F);
}

TEST_CASE("a pending term is read as what it is, and is not the value") {
  const device_pool pool{pod{}};
  const auto y = einsum<"bi,io->bo">(iota<S>(pool), ones<K>(pool));
  REQUIRE(type_name<std::remove_const_t<decltype(y)>>() == "f32[4, 2]{partial sum: model}");
  REQUIRE(local(y, 0).elements()[0] == 1.0F);  // 0 + 1
  REQUIRE(local(y, 1).elements()[0] == 5.0F);  // 2 + 3
  REQUIRE(to_host(reshard<P<none, none>>(y))(0, 0) == 6.0F);
  REQUIRE_THROWS_WITH(to_host(any_tensor<float>(y)),
                      contains("partial_value_is_read") && contains("model"));
}

TEST_CASE("sync computes tensors together and once") {
  const device_pool pool{pod{}};
  const M x = iota<M>(pool);
  const sharded_tensor a = x * 2.0F;
  const sharded_tensor b = a + 1.0F;
  pool.reset_counters();
  sync(a, b);
  REQUIRE(pool.counters().flops() == 2 * 3 * 4);
  REQUIRE(a.share()->ready());
  REQUIRE(to_host(b)(4, 3) == 39.0F);
  REQUIRE(pool.counters().flops() == 2 * 3 * 4);
}

TEST_CASE("a host tensor converts to Eigen up to rank 2") {
  const device_pool pool{pod{}};
  const Eigen::MatrixXf matrix = to_host(iota<M>(pool));
  REQUIRE(matrix(2, 1) == 9.0F);
  const Eigen::VectorXf sums = to_host(reshard<P<none>>(sum<0>(iota<M>(pool))));
  REQUIRE(sums(1) == 45.0F);
  const Eigen::Matrix<float, 1, 1> total = to_host(reshard<P<>>(sum(iota<M>(pool))));
  REQUIRE(total(0, 0) == 190.0F);
}

TEST_CASE("a host tensor of rank 1 is a row where one is asked for, and fixed sizes must fit") {
  const device_pool pool{pod{}};
  const auto sums = to_host(reshard<P<none>>(sum<0>(iota<M>(pool))));
  const Eigen::RowVectorXf row = sums;
  REQUIRE(row.size() == 4);
  REQUIRE(row(3) == 55.0F);
  REQUIRE(Eigen::RowVector4f(sums)(2) == 50.0F);
  REQUIRE(Eigen::Vector4f(sums)(2) == 50.0F);
  REQUIRE_THROWS_WITH(Eigen::Vector3f(sums),
                      contains("host_size_differs") && contains("dimension 0, 3 where 4"));
  const auto whole = to_host(iota<M>(pool));
  REQUIRE_THROWS_WITH(Eigen::VectorXf(whole), contains("dimension 1, 1 where 4"));
  REQUIRE_THROWS_WITH(Eigen::Matrix2f(whole), contains("dimension 0, 2 where 5"));
}

TEST_CASE("a host tensor converts to an Eigen array and to a vector of its elements") {
  const device_pool pool{pod{}};
  const Eigen::ArrayXXf all = to_host(iota<M>(pool));
  REQUIRE((all.rows() == 5 && all.cols() == 4 && all(2, 1) == 9.0F));
  const auto sums = to_host(reshard<P<none>>(sum<0>(iota<M>(pool))));
  const Eigen::ArrayXf column = sums;
  const Eigen::Array<float, 1, 4> row = sums;
  REQUIRE((column.rows() == 4 && column(1) == 45.0F && row(3) == 55.0F));
  REQUIRE_THROWS_WITH((Eigen::Array<float, 3, 1>(sums)), contains("host_size_differs"));

  const std::vector<float> expected = {40, 45, 50, 55};
  const std::vector<float> copied = sums;
  REQUIRE(copied == expected);
  std::vector<float> made(to_host(reshard<P<none>>(sum<0>(iota<M>(pool)))));
  REQUIRE(made == expected);
  made.clear();
  made = to_host(reshard<P<none>>(sum<0>(iota<M>(pool))));
  REQUIRE(made == expected);
  REQUIRE(sums.size() == 4);
  const std::vector<bool> large = to_host(reshard<P<none>>(sum<0>(iota<M>(pool))) > 45.0F);
  REQUIRE(large == std::vector<bool>{false, false, true, true});
}

TEST_CASE("an element of a host tensor is named by one index a dimension") {
  const device_pool pool{pod{}};
  const auto whole = to_host(iota<M>(pool));
  REQUIRE(whole(4, 3) == 19.0F);
  REQUIRE_THROWS_WITH(whole(4), contains("operand_rank_differs") && contains("1 where 2"));
  REQUIRE_THROWS_WITH(whole(4, 3, 2), contains("3 where 2"));
}
