// SPDX-License-Identifier: BSL-1.0
// Elements of 8 and 16 bits share the kernels of wider ones: they wrap around, and reduce empty
// shards, as elements of their own type do.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cstdint>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

struct four : mesh<axis<"x", 4>> {};
/// Three elements on four devices: the last shard is empty.
template <class T>
using three = sharded_tensor<T, extents<3>, layout<four, P<"x">, partial<>, uneven>>;
template <class T>
using whole = sharded_tensor<T, extents<3>, layout<four, P<none>>>;

template <class T>
using numbers = std::vector<T>;

template <class T>
numbers<T> elements(const any_tensor<T>& x) {
  const auto host = to_host(x);
  return {host.elements().begin(), host.elements().end()};
}
template <class T>
any_tensor<T> split(const device_pool& pool, const numbers<T>& given) {
  return distribute<three<T>>(pool, given);
}
template <class T>
any_tensor<T> held(const device_pool& pool, const numbers<T>& given) {
  return distribute<whole<T>>(pool, given);
}
template <class T>
T one(const any_tensor<T>& x) {
  return elements(reshard(x, layout_desc{})).at(0);
}

using i8 = std::int8_t;
using u8 = std::uint8_t;

}  // namespace

TEST_CASE("extremes of bytes over an empty shard are those of the others") {
  const device_pool pool(four{}, 2);
  CHECK(one(max(split<i8>(pool, {-5, -7, -3}))) == -3);
  CHECK(one(min(split<i8>(pool, {5, 7, 3}))) == 3);
  CHECK(one(max(split<u8>(pool, {5, 200, 3}))) == 200);
  CHECK(one(min(split<u8>(pool, {250, 200, 255}))) == 200);
  CHECK(one(max_with_index<0>(split<i8>(pool, {-5, -7, -3}), across<"x">).first) == -3);
  CHECK(one(min_with_index<0>(split<u8>(pool, {250, 200, 255}), across<"x">).first) == 200);
}

TEST_CASE("sums, products and scans of bytes wrap around") {
  const device_pool pool(four{}, 2);
  CHECK(one(sum(split<u8>(pool, {200, 100, 1}))) == 45);
  CHECK(one(sum(split<i8>(pool, {100, 100, 1}))) == -55);
  CHECK(one(product(split<u8>(pool, {16, 17, 3}))) == 48);
  CHECK(elements(cumsum<0>(held<i8>(pool, {100, 100, 100}))) == numbers<i8>{100, -56, 44});
  CHECK(elements(cumprod<0>(held<u8>(pool, {16, 17, 3}))) == numbers<u8>{16, 16, 48});
  CHECK(elements(cummax<0>(held<i8>(pool, {-9, -128, 5}))) == numbers<i8>{-9, -9, 5});
  // An elementwise function wraps around too, whatever it is fused with.
  CHECK(elements(held<u8>(pool, {200, 2, 3}) * u8{2} / u8{2}) == numbers<u8>{72, 2, 3});
}

TEST_CASE("products of bytes wrap around") {
  const device_pool pool(four{}, 2);
  const any_tensor<i8> x = held<i8>(pool, {100, -50, 7});
  CHECK(one(einsum<"i,i->">(x, x)) == static_cast<i8>(10000 + 2500 + 49));
  CHECK(elements(einsum<"i,j->ij">(x, x)) ==
        numbers<i8>{static_cast<i8>(10000), static_cast<i8>(-5000), static_cast<i8>(700),
                    static_cast<i8>(-5000), static_cast<i8>(2500), static_cast<i8>(-350),
                    static_cast<i8>(700), static_cast<i8>(-350), 49});
  const any_tensor<u8> y = held<u8>(pool, {200, 100, 50});
  const auto image = unsqueeze<0, 1>(y);
  CHECK(elements(squeeze<0, 1>(convolution<>(image, image))) ==
        numbers<u8>{static_cast<u8>(40000 + 10000 + 2500)});
}

TEST_CASE("bytes are ordered with their signs, and written at indices") {
  const device_pool pool(four{}, 2);
  const any_tensor<i8> x = held<i8>(pool, {3, -128, 127});
  CHECK(elements(sort<0>(x)) == numbers<i8>{-128, 3, 127});
  CHECK(elements(argsort<0>(x)) == numbers<std::int64_t>{1, 0, 2});
  const auto [most, at] = top_k<0, 2>(x);
  CHECK(elements(most) == numbers<i8>{127, 3});
  CHECK(elements(at) == numbers<std::int64_t>{2, 0});
  const any_tensor<u8> bytes = held<u8>(pool, {250, 128, 1});
  CHECK(elements(sort<0>(bytes)) == numbers<u8>{1, 128, 250});
  // Indices may be bytes as well as the elements.
  const any_tensor<u8> places = held<u8>(pool, {0, 0, 2});
  CHECK(elements(scatter<0, scatter_mode::add>(bytes, places, bytes)) ==
        numbers<u8>{static_cast<u8>(250 + 250 + 128), 128, 2});
  CHECK(elements(scatter<0>(bytes, places, bytes)) == numbers<u8>{128, 128, 1});
  CHECK(elements(take<0>(bytes, places)) == numbers<u8>{250, 250, 1});
  CHECK(elements(segment_sum<0, 3>(bytes, places)) == numbers<u8>{122, 0, 1});
}

TEST_CASE("truth values and halves are moved as they are") {
  const device_pool pool(four{}, 2);
  const any_tensor<bool> x = held<bool>(pool, {true, false, false});
  CHECK(elements(flip<0>(x)) == numbers<bool>{false, false, true});
  CHECK(elements(pad<1, 0>(x)) == numbers<bool>{false, true, false, false});
  CHECK(one(any(split<bool>(pool, {false, false, true}))));
  CHECK(!one(all(split<bool>(pool, {true, false, true}))));
  CHECK(one(all(split<bool>(pool, {true, true, true}))));
  const any_tensor<float16> y =
      held<float16>(pool, {float16(65504.0F), float16(-0.0F), float16(1.5F)});
  CHECK(elements(roll<0, 1>(y)) ==
        numbers<float16>{float16(1.5F), float16(65504.0F), float16(-0.0F)});
  const any_tensor<float16> z = held<float16>(pool, {float16(1.0F), float16(-2.0F), float16(0.5F)});
  const numbers<float> lower{1, 0, 0, -2, 4, 0, 0.5F, -1, 0.25F};
  const numbers<float16> products = elements(tril(einsum<"i,j->ij">(z, z)));
  CHECK(numbers<float>(products.begin(), products.end()) == lower);
}
