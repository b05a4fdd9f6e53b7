// SPDX-License-Identifier: BSL-1.0
#include <shardwise/operation/manual_collectives.hpp>
#include <shardwise/paper.hpp>

#include <type_traits>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

using X = sharded_tensor<float, extents<512, 64>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<64, 8>, layout<pod, P<none, none>>>;
using M = layout<pod, P<none, none>, manual<"data">>;

// layout_desc.hpp, layout.hpp: manual axes are in order and neither split nor pending.
constexpr auto judged = [](spec_desc spec, partial_desc partial, text_view axes) {
  partial.manual = axes;
  return resolve(pod::value, spec, partial).verdict;
};
static_assert(judged({{"", ""}}, {}, "data,model").ok());
static_assert(judged({{"data", ""}}, {}, "data") ==
              diagnosis{.rule = violation::manual_axis_is_used, .dim = -1, .axis = "data"});
static_assert(judged({{"", ""}}, {.axes = "model"}, "model").rule ==
              violation::manual_axis_is_used);
static_assert(judged({{"", ""}}, {}, "model,data").rule == violation::manual_axis_is_used);
static_assert(judged({{"", ""}}, {}, "modle").rule == violation::manual_axis_is_used);
static_assert(M::value.manual == 1 && M::value.manual_axes() == axis_list{0});
static_assert(type_name<M>() == "[-, -]{manual: data} on mesh(data=2, model=4)");
static_assert(unpack(pack(M::value)) == M::value);
static_assert(std::is_same_v<layout_from_key<pod, pack(M::value)>, M>);

// manual.hpp on values: there and back.
constexpr tensor_desc rows{element::f32, {512, 64}, layout<pod, P<"data", none>>::value};
constexpr tensor_desc manual_rows = to_manual(pod::value, rows).tensor;
static_assert(to_text(pod::value, manual_rows) == "f32[256, 64]{manual: data}");
static_assert(from_manual(pod::value, manual_rows, rows.layout).tensor == rows);
constexpr layout_desc columns = layout<pod, P<none, "data">>::value;
static_assert(to_text(pod::value, from_manual(pod::value, manual_rows, columns).tensor) ==
              "f32[256, 128@data]");
constexpr layout_desc both = layout<pod, P<by("data", "model"), none>>::value;
static_assert(from_manual(pod::value, manual_rows, both).tensor.extents == extents_desc{2048, 64});
constexpr layout_desc whole = layout<pod, P<none, none>>::value;
static_assert(from_manual(pod::value, manual_rows, whole).verdict ==
              diagnosis{.rule = violation::manual_axis_is_left, .axis = "data"});
static_assert(from_manual(pod::value, manual_rows, layout<pod, P<"data">>::value).verdict.rule ==
              violation::rank_differs_from_spec);
// Manual shards have no halos, and joined ones at most the elements of a tensor.
constexpr layout_desc with_halos = layout<pod, P<"data~1:1", none>>::value;
static_assert(to_manual(pod::value, {element::f32, {512, 64}, with_halos}).verdict.rule ==
              violation::dimension_is_split);
static_assert(from_manual(pod::value, manual_rows, with_halos).verdict.rule ==
              violation::dimension_is_split);
constexpr tensor_desc longest{element::f32, {max_elements}, [] {
                                layout_desc how;
                                how.dims = {axis_list{}};
                                how.manual = 1;
                                return how;
                              }()};
static_assert(manual_collective{.kind = collective::all_gather, .axes = {0}, .from = 0}
                  .apply(pod::value, longest)
                  .verdict.rule == violation::tensor_is_too_large);
static_assert(from_manual(pod::value, longest, layout<pod, P<"data">>::value).verdict.rule ==
              violation::tensor_is_too_large);
constexpr auto collective_of = [](const axis_list& axes) {
  return manual_collective{.axes = axes}.apply(pod::value, manual_rows);
};
static_assert(collective_of({0}).tensor.layout == whole);
static_assert(collective_of({0, 1}).verdict ==
              diagnosis{.rule = violation::axis_is_not_manual, .axis = "model"});
// Splits that are not manual stay inside those that were made manual.
constexpr tensor_desc mixed{
    element::f32, {256, 64}, resolve(pod::value, {{"model", ""}}, {.manual = "data"}).layout};
static_assert(from_manual(pod::value, mixed, both).tensor.extents == extents_desc{512, 64});
static_assert(from_manual(pod::value, mixed, rows.layout).verdict.rule ==
              violation::operand_layouts_conflict);
constexpr tensor_desc uneven_rows{
    element::f32, {5, 3}, layout<pod, P<"data", none>, partial<>, uneven>::value};
static_assert(to_manual(pod::value, uneven_rows).verdict.rule ==
              violation::extent_is_not_divisible);
constexpr tensor_desc terms{element::f32, {4}, layout<pod, P<none>, partial<"model">>::value};
static_assert(to_manual(pod::value, terms).verdict ==
              diagnosis{.rule = violation::manual_axis_is_used, .axis = "model"});

// Types: any function of manual values, alone or together with replicated ones.
template <class T>
constexpr message_text name_of(const T&) {
  return type_name<
      sharded_tensor<typename T::value_type, typename T::extents_type, typename T::layout_type>>();
}
constexpr auto x = abstract<X>();
constexpr auto w = abstract<W>();
constexpr auto m = enable_manual_sharding(x);
static_assert(std::is_same_v<decltype(m)::layout_type, M>);
static_assert(name_of(exp(m) * m) == "f32[256, 64]{manual: data}");
static_assert(name_of(einsum<"bi,io->bo">(m, w)) == "f32[256, 8]{manual: data}");
static_assert(name_of(sum<0, 1>(m)) == "f32[]{manual: data}");
static_assert(name_of(all_reduce<"data">(sum<0>(m))) == "f32[64]");
static_assert(name_of(disable_manual_sharding<P<"data", none>>(m)) == "f32[512@data, 64]");
static_assert(
    std::is_same_v<decltype(enable_manual_sharding(w))::layout_type, layout<pod, P<none, none>>>);

// The ledger: only the all_reduce moves data.
constexpr auto norm = [](const auto& rows_of) {
  const auto mine = enable_manual_sharding(rows_of);
  const auto total = all_reduce<"data">(sum<0>(mine * mine));
  return disable_manual_sharding<P<"data", none>>(mine / sqrt(total));
};
constexpr auto cost = trace(norm, abstract<X>());
static_assert(cost.collectives() == 1 && cost.collectives(collective::all_reduce, "data") == 1);
static_assert(cost.bytes_moved() == 256 && cost.bytes_moved("data") == 256);

// A product that contracts a dimension split by another axis is pending over that axis and still
// manual.
using K = sharded_tensor<float, extents<64, 8>, layout<pod, P<"model", none>>>;
constexpr auto part = einsum<"bi,io->bo">(reshard<P<none, "model">>(m), abstract<K>());
static_assert(name_of(part) == "f32[256, 8]{partial sum: model}{manual: data}");
static_assert(name_of(reshard<P<none, none>>(part)) == "f32[256, 8]{manual: data}");

}  // namespace
