// SPDX-License-Identifier: BSL-1.0
// Collectives on manual axes on paper: their results, their costs, and their gradients.
#include <shardwise/operation/axis_index.hpp>
#include <shardwise/paper.hpp>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"model", none>>>;
using B = sharded_tensor<bool, extents<8, 16>, layout<pod, P<"model", none>>>;

template <class T>
constexpr message_text name_of(const T&) {
  return type_name<
      sharded_tensor<typename T::value_type, typename T::extents_type, typename T::layout_type>>();
}
constexpr auto x = abstract<X>();
constexpr auto m = enable_manual_sharding(x);
static_assert(name_of(m) == "f32[2, 16]{manual: model}");
static_assert(name_of(all_gather<"model", 0>(m)) == "f32[8, 16]");
static_assert(name_of(all_gather<"model", 1>(m)) == "f32[2, 64]");
static_assert(name_of(reduce_scatter<"model", 1>(m)) == "f32[2, 4]{manual: model}");
static_assert(name_of(all_to_all<"model", 1, 0>(m)) == "f32[8, 4]{manual: model}");
static_assert(name_of(permute<"model", sends<0, 1>, sends<1, 0>>(m)) ==
              "f32[2, 16]{manual: model}");
static_assert(name_of(shift<"model", 1>(m)) == "f32[2, 16]{manual: model}");
static_assert(name_of(broadcast<"model", 3>(m)) == "f32[2, 16]");
static_assert(name_of(all_mean<"model">(m)) == "f32[2, 16]");
static_assert(name_of(all_or<"model">(m > 0.0F)) == "bool[2, 16]");
static_assert(name_of(all_and<"model">(m > 0.0F)) == "bool[2, 16]");
static_assert(name_of(vary<"data">(m)) == "f32[2, 16]{manual: data, model}");
static_assert(name_of(as_terms<"model">(m)) == "f32[2, 16]{partial sum: model}");
static_assert(name_of(as_partial<"data">(m)) == "f32[2, 16]{partial sum: data}{manual: model}");
static_assert(name_of(all_slice<"data", 1>(m)) == "f32[2, 8]{manual: data, model}");
static_assert(name_of(axis_index<"model">(m)) == "i64[]{manual: model}");
static_assert(name_of(all_gather<by("model", "data"), 0>(vary<"data">(m))) == "f32[16, 16]");
// Axes that are not manual split the remaining extents.
constexpr auto columns = reshard<P<none, "data">>(m);
static_assert(name_of(columns) == "f32[2, 16@data]{manual: model}");
static_assert(name_of(all_gather<"model", 0>(columns)) == "f32[8, 16@data]");

// Errors, as values.
constexpr tensor_desc mine{
    element::f32, {2, 16}, resolve(pod::value, {{"", ""}}, {.manual = "model"}).layout};
constexpr auto verdict_of = [](const manual_collective& called, tensor_desc of = mine) {
  return called.apply(pod::value, of).verdict.rule;
};
constexpr axis_list model{1};
static_assert(verdict_of({.kind = collective::all_gather, .axes = {0}, .from = 0}) ==
              violation::axis_is_not_manual);
static_assert(verdict_of({.kind = collective::all_gather, .axes = model, .from = 2}) ==
              violation::dimension_is_out_of_range);
static_assert(verdict_of({.kind = collective::all_gather, .axes = model}) ==
              violation::dimension_is_out_of_range);
static_assert(verdict_of({.kind = collective::all_gather, .axes = model, .from = -1}) ==
              violation::dimension_is_out_of_range);
static_assert(verdict_of({.kind = collective::reduce_scatter, .axes = model, .to = 0}) ==
              violation::extent_is_not_divisible);
static_assert(verdict_of({.kind = collective::slice, .axes = model}) ==
              violation::operand_is_manual);
static_assert(verdict_of({.kind = collective::broadcast,
                          .axes = model,
                          .moves = position_moves::root(4)}) == violation::positions_are_malformed);
static_assert(verdict_of({.kind = collective::collective_permute,
                          .axes = model,
                          .moves = position_moves::pairs({position_moves::pair{0, 1},
                                                          position_moves::pair{2, 1}})}) ==
              violation::positions_are_malformed);
// A sum over devices of pending maxima is not a maximum of sums.
constexpr tensor_desc maxima{
    element::f32,
    {2, 16},
    resolve(pod::value, {{"", ""}}, {"data", reduction::max, "model"}).layout};
static_assert(verdict_of({.axes = model}, maxima) == violation::partial_value_is_read);
static_assert(verdict_of({.reduce = reduction::max, .axes = model}, maxima) == violation::nothing);
static_assert(verdict_of({.axes = model}, {element::boolean, {2, 16}, mine.layout}) ==
              violation::operand_is_no_number);

// Only what is replicated over an axis can be one term of a sum over it.
constexpr manual_collective one_term{
    .kind = collective::slice, .axes = model, .as_terms = true, .of_one = true};
static_assert(verdict_of(one_term) == violation::operand_is_manual);
static_assert(verdict_of(one_term, {element::f32, {8, 16}, {{axis_list{1}, axis_list{}}}}) ==
              violation::dimension_is_split);
static_assert(verdict_of({.kind = collective::slice, .axes = {0}, .as_terms = true, .of_one = true},
                         maxima) == violation::partial_value_is_read);
static_assert(verdict_of(one_term, {element::boolean, {2}, {{axis_list{}}}}) ==
              violation::operand_is_no_number);

// The attributes describe the collective completely.
constexpr auto same = [](const manual_collective& called) {
  const manual_collective read = manual_collective::read(called.how());
  return read.how() == called.how() && read.kind == called.kind && read.axes == called.axes &&
         read.from == called.from && read.to == called.to && read.as_terms == called.as_terms &&
         read.of_one == called.of_one;
};
static_assert(same({.kind = collective::all_to_all, .axes = {1, 0}, .from = 1, .to = 0}));
static_assert(same({.kind = collective::slice, .axes = {0}, .as_terms = true}));
static_assert(same({.kind = collective::slice, .axes = {6, 0}, .as_terms = true, .of_one = true}));
constexpr position_moves three = position_moves::pairs(
    {position_moves::pair{0, 32767}, position_moves::pair{32767, 0}, position_moves::pair{7, 9}});
static_assert(
    manual_collective::read(manual_collective{.axes = {0}, .moves = position_moves::mirror()}.how())
        .moves.heard_by(1, 70000) == 69998);
static_assert(manual_collective::read(manual_collective{.axes = {0}, .moves = three}.how())
                  .moves.heard_by(9, 70000) == 7);

// The ledger: a row or column of a device is 128 bytes, which come from three others.
constexpr auto cost_of = [](const auto& f) { return trace(f, abstract<X>()); };
constexpr auto gathered = [](const auto& of) {
  return all_gather<"model", 0>(enable_manual_sharding(of));
};
constexpr auto around = [](const auto& of) {
  return shift<"model", 1>(enable_manual_sharding(of));
};
static_assert(cost_of(gathered).bytes_moved("model") == 3 * 128);
static_assert(cost_of(gathered).collectives(collective::all_gather, "model") == 1);
static_assert(cost_of(around).bytes_moved() == 128);
static_assert(cost_of(around).collectives(collective::collective_permute) == 1);

// A tensor that one device has goes to all of them in one collective, also if each of them keeps a
// part of it, and to one other device in a permutation.
constexpr auto from_first = [](const auto& of) {
  return broadcast<"model", 0>(enable_manual_sharding(of));
};
constexpr auto tiled = [](const auto& of) { return reshard<P<none, "model">>(from_first(of)); };
constexpr auto from_second = [](const auto& of) {
  return permute<"model", sends<1, 0>>(enable_manual_sharding(of));
};
static_assert(cost_of(from_first).collectives() == 1 && cost_of(tiled).collectives() == 1 &&
              cost_of(from_second).collectives() == 1);
static_assert(cost_of(from_second).collectives(collective::collective_permute) == 1);
// If the other devices have zeros, the sum is that tensor too.
constexpr auto of_zeros = [](const auto& of) {
  return all_reduce<"model">(enable_manual_sharding(of));
};
static_assert(cost_of(of_zeros).collectives(collective::all_reduce, "model") == 1 &&
              cost_of(of_zeros).collectives() == 1);

// Duals: the gradient of a gather that devices use separately is a reduce_scatter; the gradient of
// a sum that all devices have is passed to each.
constexpr auto dual_of_gather = [](const auto& of) {
  const auto part = enable_manual_sharding(of);
  const auto all = all_gather<"model", 0>(part);
  return all_reduce<"model">(sum(all * vary<"model">(all)));
};
constexpr auto back = trace(gradient(dual_of_gather), abstract<X>());
static_assert(back.collectives(collective::all_gather) == 1);
static_assert(back.collectives(collective::reduce_scatter) == 1 && back.collectives() == 2);
constexpr auto dual_of_sum = [](const auto& of) {
  const auto total = all_reduce<"model">(enable_manual_sharding(of));
  return sum(total * total);
};
static_assert(trace(gradient(dual_of_sum), abstract<X>()).collectives() == 1);

}  // namespace
