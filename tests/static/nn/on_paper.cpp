// SPDX-License-Identifier: BSL-1.0
// Nests of tensors on paper: their types, their sizes, their costs.
#include <shardwise/nn/linear.hpp>
#include <shardwise/nn/mlp.hpp>
#include <shardwise/nn/on_paper.hpp>
#include <shardwise/paper.hpp>

#include <array>
#include <tuple>

namespace {

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;
template <class T, class Spec, index_t... N>
using paper = abstract_tensor<T, extents<N...>, layout<pod, Spec>>;

using W = tensor<float, P<none, "model">, 8, 16>;
using B = tensor<float, P<"model">, 16>;
using V = tensor<bfloat16, P<"model", none>, 16, 8>;

// Tensors with elements are only declared here, so a nest of them is incomplete; its abstract twin
// is complete.
using layer = nn::linear<W, B>;
static_assert(std::is_same_v<on_paper<layer>, nn::linear<paper<float, P<none, "model">, 8, 16>,
                                                         paper<float, P<"model">, 16>>>);
static_assert(std::is_same_v<on_paper<on_paper<layer>>, on_paper<layer>>);
static_assert(std::is_same_v<on_paper<std::array<W, 2>>, std::array<on_paper<W>, 2>>);
static_assert(std::is_same_v<on_paper<pod>, pod>);

static_assert(nest_elements<layer> == 8 * 16 + 16);
static_assert(nest_bytes<layer> == (8 * 16 + 16) / 4 * 4);
static_assert(nest_elements<std::tuple<layer, std::array<V, 3>>> == 8 * 16 + 16 + 3 * 128);
static_assert(nest_bytes<std::tuple<layer, std::array<V, 3>>> == 36 * 4 + 3 * 32 * 2);
static_assert(nest_bytes<on_paper<layer>> == nest_bytes<layer>);
// The largest shard counts: 7 over 4 is 2.
using ragged = sharded_tensor<double, extents<7>, layout<pod, P<"model">, partial<>, uneven>>;
static_assert(nest_elements<ragged> == 7 && nest_bytes<ragged> == 2 * 8);

using X = tensor<float, P<"data", none>, 4, 8>;
constexpr auto cost = trace_nests<64, layer, X>([](const auto& m, const auto& x) { return m(x); });
static_assert(cost.collectives() == 0 && cost.flops() == 2 * 2 * 8 * 4 + 2 * 4);

}  // namespace
