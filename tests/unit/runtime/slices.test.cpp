// SPDX-License-Identifier: BSL-1.0
// Slices, padding and differences along split dimensions: halos where they move less than a gather.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 3>> {};
template <index_t Rows, class Spec, class Policy = exact>
using field = sharded_tensor<float, extents<Rows, 4>, layout<pod, Spec, partial<>, Policy>>;
constexpr auto over_all = across<"x", "y">;

/// The elements of a slice, or of a tensor padded with -1, of the numbers from 0 on.
struct expected {
  std::vector<float> elements;
  static expected slice(index_t begin, index_t end, index_t step) {
    expected out;
    for (index_t i = begin; i < end; i += step) out.elements.push_back(static_cast<float>(i));
    return out;
  }
  static expected padded(index_t size, index_t before, index_t behind) {
    expected out;
    for (index_t i = -before; i < size + behind; ++i)
      out.elements.push_back(i < 0 || i >= size ? -1.0F : static_cast<float>(i));
    return out;
  }
};

/// The layouts of a vector of `size` elements: splits over one or both axes, even or uneven.
std::vector<layout_desc> layouts(index_t size) {
  std::vector<layout_desc> out;
  const mesh_desc mesh = pod::value;
  for (const axis_list& axes :
       {axis_list{}, axis_list{0}, axis_list{1}, axis_list{0, 1}, axis_list{1, 0}})
    for (const bool uneven : {false, true}) {
      layout_desc made;
      made.dims.push_back(axes);
      made.uneven = uneven;
      if (check_known(mesh, made, {size}).ok()) out.push_back(made);
    }
  return out;
}

index_t bytes_of(const device_pool& pool, const any_tensor<float>& y) {
  pool.reset_counters();
  sync(y);
  return pool.counters().bytes_moved();
}

/// What became of the results of many calls: those that are wrong, those for which devices received
/// more than a gather of the operand would move, and those that remained split over several
/// devices.
struct outcomes {
  int calls = 0;
  int wrong = 0;
  int dearer = 0;
  int split = 0;

  void add(const device_pool& pool, const any_tensor<float>& x, const any_tensor<float>& y,
           const expected& want) {
    ++calls;
    layout_desc whole;
    whole.dims.push_back({});
    const index_t moved = bytes_of(pool, y);
    dearer += moved > bytes_of(pool, reshard(x, whole)) ? 1 : 0;
    split += y.tensor().layout.dims[0].empty() ? 0 : 1;
    const auto all = to_host(y);
    wrong += std::ranges::equal(all.elements(), want.elements) ? 0 : 1;
  }
};

/// A slice or padding whose numbers are values.
template <class Operation>
any_tensor<float> apply(const attributes& how, const any_tensor<float>& x) {
  return any_domain::apply_with_across<Operation, float>(over_all.bits(pod::value), how, x);
}

// The gradient of a step leaves the other dimensions split, whether they are before or after it.
template <int Dim>
constexpr auto every_other =
    [](const auto& x) { return reshard<P<>>(sum(slice_in_dim<Dim, 0, open_end, 2>(x))); };
template <class Spec>
using block = sharded_tensor<float, extents<4, 6, 6>, layout<pod, Spec>>;
static_assert(
    trace(gradient(every_other<2>), abstract<block<P<none, "y", none>>>()).collectives() == 0);
static_assert(trace(gradient(every_other<1>), abstract<block<P<"x", none, "y">>>()).collectives() ==
              0);

}  // namespace

TEST_CASE("Slices of split dimensions, in steps, are those of whole ones") {
  const device_pool pool{pod{}};
  outcomes seen;
  for (index_t size = 1; size <= 9; ++size)
    for (const layout_desc& layout : layouts(size)) {
      const auto x = iota<float>(pool, {size}, layout);
      for (index_t step = 1; step <= 3; ++step)
        for (index_t begin = 0; begin < size; ++begin)
          for (index_t end = begin; end <= size; ++end)
            seen.add(pool, x, apply<slice_operation>(slice_operation::how(0, begin, end, step), x),
                     expected::slice(begin, end, step));
    }
  CHECK(seen.calls > 4000);
  CHECK(seen.wrong == 0);
  CHECK(seen.dearer == 0);
  CHECK(seen.split > seen.calls / 3);
}

TEST_CASE("Padding of split dimensions is that of whole ones") {
  const device_pool pool{pod{}};
  outcomes seen;
  const auto value =
      any_tensor<float>(full<sharded_tensor<float, extents<>, layout<pod, P<>>>>(pool, -1.0F));
  for (index_t size = 0; size <= 9; ++size)
    for (const layout_desc& layout : layouts(size)) {
      const auto x = iota<float>(pool, {size}, layout);
      for (index_t before = 0; before <= 7; ++before)
        for (index_t behind = 0; behind <= 7; ++behind)
          seen.add(pool, x,
                   any_domain::apply_with_across<pad_operation, float>(
                       over_all.bits(pod::value), pad_operation::how_along(1, 0, before, behind), x,
                       value),
                   expected::padded(size, before, behind));
    }
  CHECK(seen.calls > 4000);
  CHECK(seen.wrong == 0);
  CHECK(seen.dearer == 0);
  CHECK(seen.split > seen.calls / 3);
}

namespace {

/// Checks a function of a tensor against the same function of the whole tensor, its trace, and the
/// bytes that it moves.
template <class X, class F>
void check(const device_pool& pool, F f, index_t bytes) {
  const auto x = iota<X>(pool);
  const auto y = f(x);
  CAPTURE(type_name<X>().c_str(), type_name<decltype(y)>().c_str());
  pool.reset_counters();
  sync(y);
  CHECK(pool.counters() == trace(f, abstract<X>()));
  CHECK(pool.counters().bytes_moved() == bytes);
  CHECK(to_host(y) == to_host(f(reshard<P<none, none>>(x))));
  // The same program with a layout that is a value.
  const any_tensor<float> any = x;
  CHECK(explain(f(any)) == explain(f(x)));
  CHECK(to_host(f(any)) == to_host(y));
}

template <index_t Begin, index_t End, index_t Step = 1>
constexpr auto slice = [](const auto& x) { return slice_in_dim<0, Begin, End, Step>(x, over_all); };
constexpr auto steps_of = [](const auto& x) { return diff<0>(x, over_all); };

}  // namespace

TEST_CASE("Slices, padding and differences move what crosses the boundaries of shards") {
  const device_pool pool{pod{}};
  using rows = field<12, P<"x", none>>;
  // The second device reads a row of 16 bytes of the first one; three rows.
  check<rows>(pool, slice<2, 8>, 16);
  check<rows>(pool, slice<6, open_end>, 48);
  // Each device has what it reads.
  check<rows>(pool, slice<1, open_end, 2>, 0);
  // 9 rows are not split over 2 devices, so the operand is gathered.
  check<rows>(pool, slice<0, -3>, 96);
  check<rows>(
      pool, [](const auto& x) { return pad<1, 5, 0, 0>(x, over_all); }, 32);
  check<rows>(
      pool, [](const auto& x) { return pad<2, 2, 1, 1>(x, -1.0F, over_all); }, 0);
  // 4 rows of a shard; then 1 column of those and of the 4 rows of the shard.
  check<field<12, P<"y", "x">>>(
      pool, [](const auto& x) { return pad<0, 6, 2, 0>(x, 3.0F, over_all); }, 64);
  // One halo for both neighbours, or one gather.
  check<field<13, P<"x", none>, uneven>>(pool, steps_of, 16);
  check<rows>(pool, steps_of, 96);
  check<field<6, P<"y", none>, uneven>>(pool, steps_of, 16);
}

TEST_CASE("Gradients of slices and padding return over the same axes") {
  const device_pool pool{pod{}};
  using rows = field<12, P<"x", none>>;
  const auto f = [](const auto& x) {
    return sum(square(slice_in_dim<0, 2, 8>(x, over_all))) +
           sum(square(pad<2, 4, 0, 0>(x, over_all)));
  };
  const auto x = iota<rows>(pool);
  pool.reset_counters();
  const auto dx = gradient(f)(x);
  static_assert(std::is_same_v<std::remove_const_t<decltype(dx)>, gradient_of<rows>>);
  sync(dx);
  CHECK(pool.counters() == trace(gradient(f), abstract<rows>()));
  CHECK(pool.counters().collectives() == 4);
  CHECK(pool.counters().collectives(collective::halo_exchange) == 4);
  const auto all = to_host(dx);
  int wrong = 0;
  for (index_t i = 0; i < 12; ++i)
    for (index_t j = 0; j < 4; ++j) {
      const float factor = i >= 2 && i < 8 ? 4.0F : 2.0F;
      wrong += all(i, j) == factor * static_cast<float>(i * 4 + j) ? 0 : 1;
    }
  CHECK(wrong == 0);
}
