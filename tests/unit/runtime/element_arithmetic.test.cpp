// SPDX-License-Identifier: BSL-1.0
// Reductions, products and sums of every element type, compared with plain loops.
#include "unit/runtime/element_values.hpp"

#include <vector>

using namespace element_values;

namespace {

/// Reduces some dimensions of a row-major block of rank 3 by plain loops.
template <class T>
row<T> plain_reduction(reduction kind, const row<T>& x, const extents_desc& e, unsigned bits) {
  const index_t kept[3] = {(bits & 1U) != 0 ? 1 : e[0], (bits & 2U) != 0 ? 1 : e[1],
                           (bits & 4U) != 0 ? 1 : e[2]};
  row<T> out(static_cast<std::size_t>(kept[0] * kept[1] * kept[2]));
  std::vector<char> seen(out.size(), 0);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = nothing<T>(kind);
  for (index_t i = 0; i < e[0]; ++i)
    for (index_t j = 0; j < e[1]; ++j)
      for (index_t k = 0; k < e[2]; ++k) {
        const auto to = static_cast<std::size_t>(((i % kept[0]) * kept[1] + j % kept[1]) * kept[2] +
                                                 k % kept[2]);
        const T next = x[static_cast<std::size_t>((i * e[1] + j) * e[2] + k)];
        out[to] = seen[to] != 0 ? reduced(kind, out[to], next) : next;
        seen[to] = 1;
      }
  return out;
}

template <class T>
void check_reductions() {
  generated::numbers random(11);
  for (const mesh_desc& mesh : generated::meshes({{2}, {3, 2}})) {
    const device_pool pool(mesh, 2);
    for (const extents_desc& extents : {extents_desc{5, 3, 2}, extents_desc{2, 0, 3}}) {
      const auto all = generated::layouts(mesh, 3, false);
      for (reduction kind : reductions<T>())
        for (unsigned bits = 0; bits < 8; ++bits)
          for (int round = 0; round < 4; ++round) {
            const layout_desc& layout =
                all[static_cast<std::size_t>(random.below(std::ssize(all)))];
            const known<T> x = make<T>(pool, extents, layout, 5);
            const any_tensor<T> y = reduce(kind, x.tensor, over::of_bits(bits), (round & 1) != 0);
            INFO(to_text(kind) << " of " << to_text(mesh, x.tensor.tensor()).c_str() << " over "
                               << bits);
            REQUIRE(same_bits(values(y), plain_reduction(kind, x.value, extents, bits)));
          }
    }
  }
}

/// Products of matrices under legal layouts, and a transpose.
template <class T>
void check_products() {
  const index_t b = 4, i = 5, o = 3;
  int legal = 0;
  for (const mesh_desc& mesh : generated::meshes({{2}, {3, 2}})) {
    const device_pool pool(mesh, 2);
    const auto all = generated::layouts(mesh, 2, false);
    for (std::size_t l = 0; l < all.size(); ++l) {
      const known<T> x = make<T>(pool, {b, i}, all[l], 1);
      row<T> turned(x.value.size());
      for (index_t m = 0; m < b; ++m)
        for (index_t n = 0; n < i; ++n) turned[n * b + m] = x.value[m * i + n];
      REQUIRE(same_bits(values(einsum("bi->ib", x.tensor)), turned));
      for (std::size_t r = 0; r < all.size(); ++r) {
        const known<T> w = make<T>(pool, {i, o}, all[r], 2);
        row<T> expected(static_cast<std::size_t>(b * o));
        for (index_t m = 0; m < b; ++m)
          for (index_t n = 0; n < o; ++n) {
            T sum = nothing<T>(reduction::sum);
            for (index_t k = 0; k < i; ++k)
              sum = reduced(reduction::sum, sum,
                            reduced(reduction::product, x.value[m * i + k], w.value[k * o + n]));
            expected[m * o + n] = sum;
          }
        row<T> product;
        try {
          product = values(einsum("bi,io->bo", x.tensor, w.tensor));
        } catch (const error&) {
          continue;
        }
        ++legal;
        REQUIRE(same_bits(product, expected));
      }
    }
  }
  REQUIRE(legal > 20);
}

/// 16-bit elements are added as float, and the sum is rounded once.
template <class T>
void check_wide_sums() {
  const device_pool pool(1);
  layout_desc whole;
  whole.dims.resize(1);
  const index_t count = 4096;
  const auto sums = [&](const std::vector<T>& x) {
    std::vector<float> wide(x.begin(), x.end());
    const T narrow =
        values(reduce(reduction::sum, distribute<T>(pool, x, {count}, whole), over{0}))[0];
    const float sum =
        values(reduce(reduction::sum, distribute<float>(pool, wide, {count}, whole), over{0}))[0];
    REQUIRE(narrow.bits() == T(sum).bits());
    return static_cast<float>(narrow);
  };
  // If each partial sum were rounded to 16 bits, the sum would stop growing long before the end.
  const T little(1.0F + static_cast<float>(std::numeric_limits<T>::epsilon()));
  REQUIRE(sums(std::vector<T>(count, little)) ==
          static_cast<float>(T(4096 * static_cast<float>(little))));
  std::vector<T> mixed;
  generated::numbers random(3);
  for (index_t i = 0; i < count; ++i)
    mixed.push_back(T(static_cast<float>(random.below(1000)) / 777.0F));
  (void)sums(mixed);
}

/// Integers wrap around alike in one fused pass, operation by operation, and in plain arithmetic.
template <class T>
void check_wrapping() {
  const device_pool pool(2);
  layout_desc split;
  split.dims.resize(1);
  split.dims[0].push_back(0);
  split.uneven = true;
  const index_t count = 700;
  const known<T> a = make<T>(pool, {count}, split, 1);
  const known<T> b = make<T>(pool, {count}, split, 2);
  const any_tensor<T> fused = (a.tensor * b.tensor + a.tensor) * T{7} - square(b.tensor);
  const any_tensor<T> product = a.tensor * b.tensor;
  const any_tensor<T> added = product + a.tensor;
  const any_tensor<T> seven = added * T{7};
  const any_tensor<T> squared = square(b.tensor);
  const any_tensor<T> alone = seven - squared;
  row<T> expected(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto x = static_cast<std::uint64_t>(a.value[i]);
    const auto y = static_cast<std::uint64_t>(b.value[i]);
    expected[i] = static_cast<T>((x * y + x) * 7 - y * y);
  }
  REQUIRE(same_bits(values(fused), expected));
  REQUIRE(same_bits(values(alone), expected));
}

}  // namespace

TEST_CASE("every element type reduces as plain loops do, uneven and empty shards among them") {
  for_each_type([]<class T>(std::type_identity<T>) { check_reductions<T>(); });
}

TEST_CASE("matrices of every type of numbers are multiplied as plain loops do") {
  for_each_type([]<class T>(std::type_identity<T>) {
    if constexpr (!std::same_as<T, bool>) check_products<T>();
  });
}

TEST_CASE("sums of 16 bits are added in float and rounded once") {
  check_wide_sums<bfloat16>();
  check_wide_sums<float16>();
}

TEST_CASE("whole numbers wrap around alike fused and op by op") {
  check_wrapping<std::int8_t>();
  check_wrapping<std::uint8_t>();
  check_wrapping<std::int32_t>();
  check_wrapping<std::int64_t>();
}
