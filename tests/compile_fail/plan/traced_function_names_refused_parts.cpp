// SPDX-License-Identifier: BSL-1.0
// The parts of the type of an invalid result, and what is made of them, cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
// expect: a pending reduction is finished before its value is read
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct tiles : layout<pod, P<"data", "model">> {};
struct rows : layout<pod, P<"model", none>> {};
using X = sharded_tensor<float, extents<8, 16>, tiles>;
using W = sharded_tensor<float, extents<16, 8>, rows>;
constexpr auto f = [](const auto& x, const auto& w) {
  const auto h = relu(einsum<"bi,io->bo">(x, w));
  using H = std::remove_cvref_t<decltype(h)>;
  using L = typename H::layout_type;
  using M = typename L::mesh_type;
  static_assert(H::extents_type::rank == 2 && H::extents_type::dynamic_rank == 0);
  static_assert(H::extents_type::value[1] == 8 && H::extents_type::value.ssize() == 2);
  static_assert(M::devices == 8);
  constexpr auto columns = H::extents_type::value[H::extents_type::rank - 1];
  using T = sharded_tensor<typename H::value_type, extents<columns, 3>, layout<M, P<>>>;
  using Like = sharded_tensor<float, typename H::extents_type, L>;
  const auto some = abstract<T>() + abstract<Like>();
  const auto all = sum<H::extents_type::rank - 1>(h);
  return reshard<typename L::spec_type>(all) * some / float(H::extents_type::rank);
};
static_assert(trace(f, abstract<X>(), abstract<W>()).collectives() == 1);
static_assert(trace(f, abstract<X>(), abstract<W>()).flops() > 100);
