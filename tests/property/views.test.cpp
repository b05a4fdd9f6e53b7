// SPDX-License-Identifier: BSL-1.0
// A step that reads an operand through views has the bits of one that reads a copy, whatever the
// views, the step and the layout.
#include "property/generated.hpp"
#include "property/round_trip.hpp"
#include "support/catch.hpp"
#include <shardwise/operation/catalogue.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

/// An operation with its attributes, applied to any number of operands.
struct application {
  const operation* what;
  attributes how;
  diagnosis (*check)(const attributes&, const tensor_descs&);
  /// How often it reads the view; the second time after another one.
  int operands = 1;

  [[nodiscard]] propagation infer(const mesh_desc& mesh, const tensor_descs& read) const {
    propagation out;
    out.verdict = check(how, read);
    return out.verdict.ok() ? shardwise::infer(mesh, *what, how, read) : out;
  }
};

template <class Class>
application with(const attributes& how, int operands = 1) {
  return {&operation_of<Class>, how, &detail::check_of<Class>, operands};
}
template <class Class, class... Integers>
application with(Integers... integers) {
  return with<Class>(integer_attributes(integers...));
}
application sum_over(unsigned dims, bool keeps) {
  return with<reduction_operation>(reduction_operation::how(reduction::sum, dims, keeps));
}
application contract(text_view equation, int operands = 1) {
  return with<einsum_operation>(einsum_operation::how(equation), operands);
}

/// Views of tensors of rank 3 or others.
std::vector<application> views() {
  return {with<transpose_operation>(1, 0, 2),
          with<transpose_operation>(0, 2, 1),
          with<transpose_operation>(2, 0, 1),
          with<transpose_operation>(1, 0),
          with<flip_operation>(2),
          with<flip_operation>(0, 1),
          with<slice_operation>(0, 1, 3, 1, 0),
          with<slice_operation>(2, 0, 6, 2, 0),
          with<slice_operation>(1, open_end, open_end, -1, 0),
          with<slice_operation>(2, 2, 2, 1, 0),
          with<slice_operation>(1, 1, 2, 1, 1),
          with<slice_operation>(2, -1, open_end, 1, 1),
          with<slice_operation>(0, 0, open_end, 1, 0),
          with<broadcast_to_operation>(2, dyn, dyn, dyn),
          with<reshape_operation>(12, 6),
          with<reshape_operation>(4, 18),
          with<reshape_operation>(4, 3, 2, 3),
          with<unsqueeze_operation>(0),
          with<unsqueeze_operation>(2, 4),
          with<squeeze_operation>(0)};
}

std::vector<application> readers() {
  return {with<pointwise<functions::tanh>>(attributes{}),
          with<pointwise<functions::add>>(attributes{}, 2),
          sum_over(1, false),
          sum_over(2, true),
          sum_over(3, false),
          contract("ab->ba"),
          contract("abc->ca"),
          contract("ab,cb->ac", 2),
          contract("ba,bc->ac", 2),
          contract("ab,ac->bc", 2),
          contract("ab,ab->a", 2),
          contract("abc,adc->abd", 2),
          contract("abc,dbc->ad", 2),
          with<transpose_operation>(1, 0),
          with<transpose_operation>(2, 1, 0),
          with<flip_operation>(0),
          with<slice_operation>(0, 1, open_end, 1, 0),
          with<broadcast_to_operation>(3, dyn, dyn, dyn),
          with<reshape_operation>(dyn, 3),
          with<roll_operation>(1, 1),
          with<tile_operation>(2, 1),
          with<repeat_operation>(0, 2),
          with<concatenate_operation>(concatenate_operation::how(1), 2),
          with<stack_operation>(integer_attributes(1), 2),
          with<pad_operation>(pad_operation::how_along(3, 2, 1, 2)),
          with<cumsum_operation>(0),
          with<interpolate_operation>(2, 0, 0, 5),
          with<interpolate_operation>(3, 1, 1, 4)};
}

/// The program of a reader of views of `x`, which is donated. The views are named or not; a second
/// step reads the first of them too if it is shared. Without instructions if the operations are not
/// legal.
stored_program program_of(const any_tensor<float>& x, const std::vector<application>& seen,
                          const application& reader, bool named, bool is_shared) {
  stored_program out(16, is_shared ? 2 : 1);
  program_builder to(out);
  to.place(x.mesh());
  value_ids read;
  const auto append = [&](const application& next, const value_ids& operands) {
    tensor_descs known;
    for (const value_id o : operands) known.push_back(to.value(o));
    const propagation made = next.infer(x.mesh(), known);
    return made.verdict.ok() ? to.append(*next.what, next.how, operands, made.result) : -1;
  };
  const value_id input = to.append(operation_of<input_operation>, {}, {}, x.tensor());
  out.code[0].donated = true;
  for (int k = 0; k < reader.operands; ++k) {
    value_id value = input;
    for (const application& next : seen) {
      value = append(next, {value});
      if (value < 0) return {};
      if (named) to.name(value);
    }
    read.push_back(value);
  }
  const value_id result = append(reader, read);
  if (result < 0) return {};
  to.keep(result);
  if (is_shared) {
    const value_id second = append(with<pointwise<functions::negate>>(attributes{}), {read[0]});
    if (second < 0) return {};
    to.keep(second);
  }
  return out;
}

/// The elements of all shards, one after the other.
std::vector<float> shards_of(const any_tensor<float>& x) {
  sync(x);
  const tensor_node& at = *x.share();
  std::vector<float> all;
  for (index_t s = 0; s < at.where().count(); ++s)
    all.insert(all.end(), at.data<float>(s), at.data<float>(s) + at.where().size_of_shard(s));
  return all;
}

/// How often views were read in place, and how often they were copied.
struct counts {
  int read_through = 0;
  int copied = 0;
};

bool have_same_bits(const any_tensor<float>& x, const any_tensor<float>& y) {
  const auto bits = [](float number) { return std::bit_cast<std::uint32_t>(number); };
  return std::ranges::equal(shards_of(x), shards_of(y), {}, bits, bits);
}

/// Checks the programs of a reader of views, one of which a second step reads if `is_shared`.
void check(const any_tensor<float>& x, const std::vector<application>& seen,
           const application& reader, counts& met, bool is_shared = false) {
  const stored_program views = program_of(x, seen, reader, false, is_shared);
  if (views.count == 0) return;
  const stored_program copies = program_of(x, seen, reader, true, is_shared);
  generated::require_round_trip(views.view());
  generated::require_round_trip(copies.view());
  const prepared_program read(views.view(), {&element_kernels_of<float>});
  const prepared_program copied(copies.view(), {&element_kernels_of<float>});
  const bool is_read_through = read.planned().steps.size() < copied.planned().steps.size();
  ++(is_read_through ? met.read_through : met.copied);
  // Its memory may be that of the result.
  any_tensor<float> given = x * 1.0F;
  sync(given);
  bool are_same = false;
  if (is_shared) {
    const auto a = run<float, float>(read, std::move(given)), b = run<float, float>(copied, x);
    are_same = have_same_bits(std::get<0>(a), std::get<0>(b)) &&
               have_same_bits(std::get<1>(a), std::get<1>(b));
    // A smaller view of one operand that several steps read is copied.
    const auto size = [&](value_id i) {
      return bytes_per_device(x.mesh(), views.values[static_cast<std::size_t>(i)]);
    };
    if (seen.size() == 1 && size(1) < size(0)) are_same = are_same && !is_read_through;
  } else {
    are_same = have_same_bits(run<float>(read, std::move(given)), run<float>(copied, x));
  }
  if (are_same) return;
  for (const application& next : seen) UNSCOPED_INFO(label_of(*next.what, next.how).c_str());
  UNSCOPED_INFO(label_of(*reader.what, reader.how).c_str()
                << " of " << to_text(x.mesh(), x.tensor()).data());
  CHECK(are_same);
}

/// Numbers whose sums are rounded.
any_tensor<float> numbers(const device_pool& pool, const extents_desc& extents,
                          const layout_desc& layout) {
  const any_tensor<float> x = generated::make(pool, extents, layout, 7).tensor * 0.37F;
  sync(x);
  return x;
}

}  // namespace

TEST_CASE("views are read with the bits of their copies under every layout") {
  enter_known<float>();
  counts met;
  for (const mesh_desc& mesh : generated::meshes({{2}, {2, 2}})) {
    const device_pool pool(mesh, 1);
    for (const layout_desc& layout : generated::layouts(mesh, 3, true)) {
      const any_tensor<float> x = numbers(pool, {4, 3, 6}, layout);
      for (const application& view : views())
        for (const application& reader : readers()) check(x, {view}, reader, met);
    }
  }
  CHECK(met.read_through > 5000);
  CHECK(met.copied > 100);
}

TEST_CASE("views that several steps read have the bits of their copies, and cost no more memory") {
  enter_known<float>();
  counts met;
  const mesh_desc mesh = generated::meshes({{2, 2}})[0];
  const device_pool pool(mesh, 1);
  for (const layout_desc& layout : generated::layouts(mesh, 3, false)) {
    const any_tensor<float> x = numbers(pool, {4, 3, 6}, layout);
    for (const application& view : views())
      for (const application& reader : readers())
        if (reader.operands == 1) check(x, {view}, reader, met, true);
  }
  CHECK(met.read_through > 500);
  CHECK(met.copied > 500);
}

TEST_CASE("views of views are read with the bits of their copies") {
  enter_known<float>();
  counts met;
  for (const mesh_desc& mesh : generated::meshes({{2, 2}})) {
    const device_pool pool(mesh, 1);
    layout_desc whole;
    whole.uneven = true;
    whole.dims.resize(3);
    layout_desc split = whole;
    split.dims[1].push_back(0);
    for (const layout_desc& layout : {whole, split}) {
      const any_tensor<float> x = numbers(pool, {4, 3, 6}, layout);
      for (const application& first : views())
        for (const application& second : views())
          for (const application& reader : readers()) check(x, {first, second}, reader, met);
    }
  }
  CHECK(met.read_through > 3000);
}

TEST_CASE("long views are read with the bits of their copies") {
  enter_known<float>();
  counts met;
  const device_pool pool(generated::meshes({{2}})[0], 1);
  layout_desc layout;
  layout.dims.resize(3);
  for (const index_t depth : {5, 40, 300})
    for (const index_t width : {1, 2, 7, 70}) {
      const any_tensor<float> x = numbers(pool, {width, 3, depth}, layout);
      for (const application& view : views())
        for (const application& reader : readers())
          if (reader.what->name == "einsum" || reader.what->name == "reduce")
            check(x, {view}, reader, met);
    }
  // The operands of products that are computed in blocks, and passes over long rows.
  layout.dims.pop_back();
  for (const index_t depth : {1, 20, 300})
    for (const index_t width : {1, 3, 90, 260}) {
      const any_tensor<float> x = numbers(pool, {depth, width}, layout);
      for (const application& view : views())
        for (const application& reader : readers()) check(x, {view}, reader, met);
    }
  CHECK(met.read_through > 300);
}
