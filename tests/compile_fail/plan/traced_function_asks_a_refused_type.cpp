// SPDX-License-Identifier: BSL-1.0
// What a traced function asks of the type of an invalid result causes no further errors.
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
  using T = typename H::value_type;
  constexpr auto size = static_cast<T>(H::extents_type::value[0]);
  if constexpr (H::extents_type::rank == 2)
    return h * (T(2) / size);
  else
    return h * T(3);
};
constexpr auto cost = trace(f, abstract<X>(), abstract<W>());
static_assert(cost.collectives() == 0 && cost.flops() > 0);
