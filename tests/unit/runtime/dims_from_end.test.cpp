// SPDX-License-Identifier: BSL-1.0
// Dimensions counted from the end: the same bits, layouts and instructions as from the first.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... Sizes>
using tensor = sharded_tensor<T, extents<Sizes...>, layout<pod, Spec>>;
using X = tensor<float, P<"data", none>, 4, 6>;
using Cube = tensor<float, P<"data", none, none>, 4, 3, 6>;
using Pairs = tensor<float, P<"data", none, none>, 4, 6, 2>;
using Labels = tensor<std::int32_t, P<"data">, 4>;
using Places = tensor<std::int32_t, P<"data", none>, 4, 2>;
using Row = tensor<float, P<none>, 6>;

/// The bytes of the elements on every device.
template <class Y>
std::vector<unsigned char> bytes(const Y& y) {
  std::vector<unsigned char> all;
  for (const auto& shard : shards(y))
    for (const auto element : shard.elements()) {
      const std::size_t end = all.size();
      all.resize(end + sizeof element);
      std::memcpy(all.data() + end, &element, sizeof element);
    }
  return all;
}

template <class F, int... Dims>
struct with_dims {
  template <class... Y>
  constexpr auto operator()(const Y&... y) const {
    return F{}.template operator()<Dims...>(y...);
  }
};

/// Checks that a function of dimensions, which are template arguments, does the same for `Dim` and
/// for `FromEnd`, on types and on paper. Returns the result.
template <int Dim, int FromEnd, class F, class... Y>
auto same_typed(const F&, const Y&... y) {
  constexpr with_dims<F, Dim> front{};
  constexpr with_dims<F, FromEnd> end{};
  const sharded_tensor expected = front(y...);
  const sharded_tensor typed = end(y...);
  REQUIRE(std::is_same_v<decltype(typed), decltype(expected)>);
  REQUIRE(bytes(typed) == bytes(expected));
  REQUIRE(trace_program(end, abstract<Y>()...) == trace_program(front, abstract<Y>()...));
  return expected;
}
/// The same on tensors with run-time layouts too.
template <int Dim, int FromEnd, class F, class... Y>
void same(const F& f, const Y&... y) {
  constexpr with_dims<F, FromEnd> end{};
  const sharded_tensor expected = same_typed<Dim, FromEnd>(f, y...);
  const any_tensor untyped = end(any_tensor<typename Y::value_type>(y)...);
  REQUIRE(untyped.tensor() == expected.share()->tensor());
  REQUIRE(bytes(untyped) == bytes(expected));
}

TEST_CASE("reductions count dimensions from the end") {
  const device_pool pool{pod{}};
  const X x = iota<X>(pool) * 0.25F - 1.0F;
  same<1, -1>([]<int D>(const auto& a) { return sum<D>(a); }, x);
  same<0, -2>([]<int D>(const auto& a) { return sum<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return sum<0, D>(a, keep_dims); }, x);
  same<1, -1>([]<int D>(const auto& a) { return product<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return mean<D>(a, keep_dims); }, x);
  same<1, -1>([]<int D>(const auto& a) { return max<D>(a) + min<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return argmax<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return argmin<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return variance<D>(a, correction{1}); }, x);
  same<1, -1>([]<int D>(const auto& a) { return standard_deviation<D>(a, keep_dims); }, x);
  same<1, -1>([]<int D>(const auto& a) { return logsumexp<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return nanmean<D>(a) + nanvar<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return l2_norm<D>(a) + lp_norm<D>(a, 3.0); }, x);
  same<1, -1>([]<int D>(const auto& a) { return any<D>(a > 3.0F); }, x);
  same<1, -1>([]<int D>(const auto& a) { return all<D>(a > 3.0F); }, x);
  same<1, -1>([]<int D>(const auto& a) { return count_nonzero<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return quantile<D>(a, 0.3) + trapezoid<D>(a); }, x);

  const any_tensor<float> any = x;
  REQUIRE(bytes(sum(any, over{-1})) == bytes(sum<1>(any)));
  REQUIRE(bytes(mean(any, over{-2}, keep_dims)) == bytes(mean<0>(any, keep_dims)));
  REQUIRE(bytes(logsumexp(any, over(std::vector{-1}))) == bytes(logsumexp<1>(any)));
  REQUIRE(bytes(reduce(reduction::max, any, over{0, -1})) == bytes(max(any)));
}

TEST_CASE("normalisations and losses count dimensions from the end") {
  const device_pool pool{pod{}};
  const X x = iota<X>(pool) * 0.25F - 1.0F;
  const Row scale = iota<Row>(pool);
  const Labels labels = iota<Labels>(pool);
  same<1, -1>([]<int D>(const auto& a) { return softmax<D>(a); }, x);
  same<0, -2>([]<int D>(const auto& a) { return softmax<D>(a, across<"data">); }, x);
  same<1, -1>([]<int D>(const auto& a) { return log_softmax<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return layer_norm<D>(a, 1e-5); }, x);
  same<1, -1>([]<int D>(const auto& a, const auto& s) { return layer_norm<D>(a, s, s, 1e-5); }, x,
              scale);
  same<1, -1>([]<int D>(const auto& a, const auto& s) { return rms_norm<D>(a, s, 1e-5); }, x,
              scale);
  same<1, -1>([]<int D>(const auto& a, const auto& l) { return cross_entropy<D>(a, l); }, x,
              labels);
  same<1, -1>([]<int D>(const auto& a) { return cross_entropy<D>(a, softmax<D>(a)); }, x);
  same<1, -1>([]<int D>(const auto& a) { return glu<D>(a); }, x);
  same_typed<1, -1>([]<int D>(const auto& a) { return nn::normalize<D>(a); }, x);
  same_typed<1, -1>([]<int D>(const auto& a) { return nn::cosine_similarity<D>(a, sin(a)); }, x);
}

TEST_CASE("functions that move elements count dimensions from the end") {
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  const Cube cube = iota<Cube>(pool);
  same<1, -1>([]<int D>(const auto& a) { return concatenate<D>(a, a * 2.0F); }, x);
  same<0, -2>([]<int D>(const auto& a) { return concatenate<D>(a, a, across<"data">); }, x);
  same<2, -1>([]<int D>(const auto& a) { return stack<D>(a, a * 2.0F); }, x);
  same<0, -3>([]<int D>(const auto& a) { return stack<D>(a, a * 2.0F); }, x);
  same<1, -1>([]<int D>(const auto& a) { return std::get<1>(split_at<D, 2, 5>(a)); }, x);
  same<2, -1>([]<int D>(const auto& a) { return transpose<D, 0, 1>(a); }, cube);
  same<1, -2>([]<int D>(const auto& a) { return transpose<0, -1, D>(a); }, cube);
  same<2, -1>([]<int D>(const auto& a) { return unsqueeze<D>(a); }, x);
  same<3, -1>([]<int D>(const auto& a) { return unsqueeze<0, D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return squeeze<D>(sum<D>(a, keep_dims)); }, x);
  same<1, -1>([]<int D>(const auto& a) { return concatenate<D>(std::array{a, a, a}); }, x);
  same<2, -1>([]<int D>(const auto& a) { return stack<D>(std::array{a, a}); }, x);
  same<1, -1>([]<int D>(const auto& a) { return flip<D>(a); }, x);
  same<0, -2>([]<int D>(const auto& a) { return flip<D>(a, across<"data">); }, x);
  same<1, -1>([]<int D>(const auto& a) { return roll<D, 2>(a); }, x);
  same<0, -2>([]<int D>(const auto& a) { return roll<D, 1>(a, across<"data">); }, x);
  same<1, -1>([]<int D>(const auto& a) { return slice_in_dim<D, 1, -1>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return index_at<D, -1>(a); }, x);
  same<0, -2>([]<int D>(const auto& a) { return index_at<D, 3>(a, across<"data">); }, x);
  same<1, -1>([]<int D>(const auto& a) { return dynamic_slice<D, 2>(a, 3); }, x);
  same<1, -1>([]<int D>(const auto& a) { return update_slice<D>(a, dynamic_slice<D, 2>(a, 3), 1); },
              x);
  same<1, -1>([]<int D>(const auto& a) { return repeat<D, 2>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return diff<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return iota_like<D>(a); }, x);
  same<2, -1>(
      []<int D>(const auto& a) {
        return cross<D>(slice_in_dim<D, 0, 3>(a), slice_in_dim<D, 3, 6>(a));
      },
      cube);
  same<1, -2>([]<int D>(const auto& a) { return cross<D>(a, sin(a)); }, cube);
}

TEST_CASE("scans, searches and look-ups count dimensions from the end") {
  const device_pool pool{pod{}};
  const X x = sin(iota<X>(pool));
  const Places places = minimum(iota<Places>(pool), 3);
  const Labels ids = iota<Labels>(pool);
  same<1, -1>([]<int D>(const auto& a) { return cumsum<D>(a) + cumprod<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return cummax<D>(a) + cummin<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return logcumsumexp<D>(a); }, x);
  same<0, -2>([]<int D>(const auto& a) { return cumsum<D>(a, across<"data">); }, x);
  same<0, -2>([]<int D>(const auto& a) { return logcumsumexp<D>(a, across<"data">); }, x);
  same<1, -1>([]<int D>(const auto& a) { return sort<D>(a); }, x);
  same<1, -1>([]<int D>(const auto& a) { return argsort<D>(a); }, x);
  same<0, -2>([]<int D>(const auto& a) { return sort<D>(a, across<"data">); }, x);
  same<1, -1>([]<int D>(const auto& a) { return top_k<D, 2>(a).first; }, x);
  same<0, -2>([]<int D>(const auto& a) { return top_k<D, 2>(a, across<"data">).second; }, x);
  same<0, -2>([]<int D>(const auto& a) { return max_with_index<D>(a, across<"data">).first; }, x);
  same<1, -1>([]<int D>(const auto& a, const auto& i) { return take_along<D>(a, i); }, x, places);
  same<1, -1>([]<int D>(const auto& a, const auto& i) { return take<D>(a, i); },
              iota<tensor<float, P<none, none>, 4, 6>>(pool), ids);
  same<1, -1>([]<int D>(const auto& a,
                        const auto& i) { return put_along<D>(a, i, slice_in_dim<D, 0, 2>(a)); },
              x, places);
  same<1, -1>([]<int D>(const auto& a,
                        const auto& i) { return sum_along<D, 4>(slice_in_dim<D, 0, 2>(a), i); },
              x, places);
}

constexpr auto of_element = [](const auto& column) { return cumsum<-1>(column); };

TEST_CASE("transforms and maps count dimensions from the end") {
  const device_pool pool{pod{}};
  const X x = sin(iota<X>(pool));
  const Pairs pairs = sin(iota<Pairs>(pool));
  same<1, -1>([]<int D>(const auto& a) { return fourier::rfft<D>(a); }, x);
  // Of complex numbers, the last dimension is that before the pairs.
  same<1, -1>([]<int D>(const auto& a) { return fourier::ifft<D>(fourier::fft<D>(a)); }, pairs);
  same<1, -1>([]<int D>(const auto& a) { return fourier::irfft<D>(fourier::rfft<D>(a)); }, x);
  same<1, -1>([]<int D>(const auto& a) { return fourier::irfft<D>(a, fourier::length<11>); },
              pairs);
  same<1, -1>([]<int D>(const auto& a) { return vmap<D>(of_element)(a); },
              iota<tensor<float, P<none, "model">, 4, 6>>(pool));
  same<2, -1>(
      []<int D>(const auto& a, const auto& b) {
        return vmap<D, none>([](const auto& m, const auto& w) { return m * sum(w); })(a, b);
      },
      iota<Cube>(pool), iota<Row>(pool));
  same<0, -2>(
      []<int D>(const auto& a) {
        return disable_manual_sharding<P<none, none>>(
            all_gather<"data", D>(enable_manual_sharding(a)));
      },
      x);
}

TEST_CASE("gradients of functions that count dimensions from the end") {
  const device_pool pool{pod{}};
  const X x = iota<X>(pool) * 0.25F - 1.0F;
  constexpr auto slope = []<int D>(const auto& a) {
    return gradient([](const auto& b) {
      const auto both = concatenate<D>(softmax<D>(b), sin(b));
      return sum(square(sum<D>(flip<D>(both * both)))) + sum(square(cumsum<D>(b)));
    })(a);
  };
  same<1, -1>(slope, x);
}

TEST_CASE("a dimension that a tensor does not have is named as it is written") {
  const device_pool pool{pod{}};
  const any_tensor<float> x = iota<X>(pool);
  constexpr auto wrong = violation::dimension_is_out_of_range;
  const auto message = contains(
      "a dimension is a number from minus the rank to the rank minus one, "
      "where -1 is the last (-3 where at least -2 and less than 2 is needed)");
  REQUIRE_THROWS_WITH((sum<-3>(x)), message);
  REQUIRE_THROWS_WITH(sum(x, over{1, -3}), message);
  REQUIRE_THROWS_WITH(softmax<-3>(x), message);
  REQUIRE_THROWS_WITH((concatenate<-3>(x, x)), message);
  REQUIRE_THROWS_WITH((flip<-3>(x, across<"data">)), message);
  REQUIRE_THROWS_WITH((roll<-3, 1>(x, across<"data">)), message);
  REQUIRE_THROWS_WITH((index_at<-3, 0>(x, across<"data">)), message);
  REQUIRE_THROWS_WITH((top_k<-3, 1>(x, across<"data">)), message);
  REQUIRE_THROWS_WITH(vmap<-3>([](const auto& a) { return a; })(x),
                      contains("(operand 0, -3 where at least -2 and less than 2 is needed)"));
  REQUIRE_THROWS_WITH((stack<-4>(x, x)), contains("(-4 where at least -3 and less than 3"));
  REQUIRE_THROWS_WITH((all_gather<"data", -3>(enable_manual_sharding(x))), message);
  REQUIRE_THROWS_WITH(unsqueeze<-4>(x), contains("(-4 where at least -3 and less than 3"));
  CHECK(refusal([&] { return unsqueeze<-1, -1>(x); }) == violation::dimension_is_repeated);
  CHECK(refusal([&] { return glu<-3>(x); }) == wrong);
  CHECK(refusal([&] { return glu<2>(x, across<"data">); }) == wrong);
  CHECK(refusal([&] { return quantile<-3>(x, 0.5); }) == wrong);
  CHECK(refusal([&] { return trapezoid<-3>(x); }) == wrong);
  REQUIRE_THROWS_WITH((transpose<0, -3>(x)), message);
  CHECK(refusal([&] { return transpose<0, 0>(x); }) == violation::dimensions_are_no_permutation);
  // The same dimension twice.
  CHECK(refusal([&] { return sum<1, -1>(x); }) == violation::dimension_is_repeated);
  CHECK(refusal([&] { return sum(x, over{-2, -2}); }) == violation::dimension_is_repeated);
  CHECK(refusal([&] { return layer_norm<-1, 1>(x, 1e-5); }) == violation::dimension_is_repeated);
}

}  // namespace
