// SPDX-License-Identifier: BSL-1.0
// Norms whose scale and shift are split over permitted axes.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/operation/infer_operation.hpp>
#include <shardwise/shardwise.hpp>

#include <ratio>
#include <string>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<double, extents<N...>, layout<pod, Spec, partial<>, uneven>>;
template <class Spec>
using matrix = tensor<Spec, 5, 3>;
template <class Spec>
using vector = tensor<Spec, 3>;

template <class Permitted>
constexpr auto layers = [](const auto& x, const auto& scale, const auto& shift) {
  return layer_norm<-1>(x, scale, shift, 1e-3, Permitted{});
};
template <class Permitted>
constexpr auto roots =
    [](const auto& x, const auto& scale) { return rms_norm<-1>(x, scale, 1e-3, Permitted{}); };
using over_model = across_axes<"model">;
using over_both = across_axes<"data", "model">;

/// Checks a norm of tensors with these specs against that of replicated ones: its elements, its
/// layout with types and as a value, its gradients, and the communication on paper.
template <class Permitted, class XSpec, class ScaleSpec, class Made>
void check(int all_reduces, int all_gathers) {
  constexpr auto norm = layers<Permitted>;
  const device_pool pool{pod{}};
  const auto x = normal<matrix<XSpec>>(pool, random_key{1});
  const auto scale = normal<vector<ScaleSpec>>(pool, random_key{2});
  const auto shift = normal<vector<ScaleSpec>>(pool, random_key{3});
  const matrix<P<none, none>> whole = reshard<P<none, none>>(x);
  const vector<P<none>> whole_scale = reshard<P<none>>(scale),
                        whole_shift = reshard<P<none>>(shift);

  const auto y = norm(x, scale, shift);
  STATIC_REQUIRE(
      std::is_same_v<typename std::remove_cvref_t<decltype(y)>::layout_type::spec_type, Made>);
  require_close(values(y), values(norm(whole, whole_scale, whole_shift)));

  const any_tensor<double> any_x = x, any_scale = scale, any_shift = shift;
  const any_tensor<double> any_y = norm(any_x, any_scale, any_shift);
  REQUIRE(any_y.layout() == std::remove_cvref_t<decltype(y)>::layout_type::value);
  REQUIRE(values(any_y) == values(y));
  REQUIRE(values(norm(any_x, scale, shift)) == values(y));  // of both kinds
  REQUIRE(values(norm(x, any_scale, any_shift)) == values(y));

  constexpr auto loss = [](const auto& a, const auto& b, const auto& c) {
    return reshard<P<>>(sum(square(layers<Permitted>(a, b, c)) + roots<Permitted>(a, c)));
  };
  const auto wanted = gradient<0, 1, 2>(loss)(whole, whole_scale, whole_shift);
  const auto [dx, dscale, dshift] = gradient<0, 1, 2>(loss)(x, scale, shift);
  STATIC_REQUIRE(
      std::is_same_v<typename std::remove_cvref_t<decltype(dscale)>::layout_type::spec_type,
                     ScaleSpec>);
  require_close(values(dx), values(std::get<0>(wanted)));
  require_close(values(dscale), values(std::get<1>(wanted)));
  require_close(values(dshift), values(std::get<2>(wanted)));
  const auto [ax, ascale, ashift] = gradient<0, 1, 2>(loss)(any_x, any_scale, any_shift);
  require_close(values(ascale), values(std::get<1>(wanted)));

  // The trace, the inference on paper and a run communicate alike.
  constexpr cost_ledger cost = trace(norm, abstract<matrix<XSpec>>(), abstract<vector<ScaleSpec>>(),
                                     abstract<vector<ScaleSpec>>());
  REQUIRE(cost.collectives(collective::all_reduce) == all_reduces);
  REQUIRE(cost.collectives(collective::all_gather) == all_gathers);
  REQUIRE(cost.collectives() == all_reduces + all_gathers);
  operation_arguments given;
  REQUIRE(given.set("dims", "-1").ok());
  const tensor_desc beside = paper_of<vector<ScaleSpec>>::value;
  const operation_inference inferred = infer_operation(
      pod::value, *find_operation("layer_norm"), given,
      {paper_of<matrix<XSpec>>::value, beside, beside}, {Permitted::bits(pod::value), nullptr});
  REQUIRE(inferred.ok());
  REQUIRE(inferred.reshards.ssize() == all_reduces + all_gathers);
  // A pass whose result is sliced computes only the slice; the inference adds up single operations.
  if (std::is_same_v<XSpec, Made>) REQUIRE(inferred.flops == cost.flops());
  REQUIRE(inferred.results[0].layout == any_y.layout());
  sync(pool);
  pool.reset_counters();
  sync(norm(x, scale, shift));
  REQUIRE(pool.counters().collectives() == cost.collectives());
  REQUIRE(pool.counters().bytes_moved() == cost.bytes_moved());
  REQUIRE(pool.counters().flops() == cost.flops());
}

}  // namespace

TEST_CASE("a scale that is split like the normalised dimension multiplies where it is") {
  check<over_model, P<"data", "model">, P<"model">, P<"data", "model">>(2, 0);
  check<over_both, P<none, by("data", "model")>, P<by("data", "model")>,
        P<none, by("data", "model")>>(2, 0);
}

TEST_CASE("a scale whose axis splits another dimension is gathered over it") {
  check<over_model, P<"model", none>, P<"model">, P<"model", none>>(0, 2);
  check<over_both, P<"model", "data">, P<"model">, P<"model", "data">>(2, 2);
  // A scale that is split by a free axis only slices the result.
  check<over_model, P<"data", none>, P<"model">, P<"data", "model">>(0, 0);
}

TEST_CASE("norms of channels gather a scale that is split like the batch") {
  const device_pool pool{pod{}};
  using X = tensor<P<"data", none, none>, 3, 4, 2>;
  using scale_type = tensor<P<"data">, 4>;
  const auto x = normal<X>(pool, random_key{1});
  const auto scale = normal<scale_type>(pool, random_key{2});
  const tensor<P<none>, 4> whole = reshard<P<none>>(scale);
  constexpr auto over_data = across<"data">;
  require_close(values(batch_norm(x, scale, scale, 1e-3, over_data)),
                values(batch_norm(x, whole, whole, 1e-3, over_data)));
  require_close(values(instance_norm(x, scale, scale, 1e-3, over_data)),
                values(instance_norm(x, whole, whole, 1e-3)));
  require_close(values(group_norm<2>(x, scale, scale, 1e-3, over_data)),
                values(group_norm<2>(x, whole, whole, 1e-3)));
  const any_tensor<double> untyped = x, any_scale = scale;
  require_close(values(group_norm<2>(untyped, any_scale, any_scale, 1e-3, over_data)),
                values(group_norm<2>(x, whole, whole, 1e-3)));
}

TEST_CASE("norms of nn take a permission as the axes over which the dimension is split") {
  const device_pool pool{pod{}};
  using scale = vector<P<"model">>;
  using permitted = over_model;
  const auto x = normal<matrix<P<"data", "model">>>(pool, random_key{1});
  const nn::layer_norm<scale, scale, std::ratio<1, 1000>, permitted> norm{
      normal<scale>(pool, random_key{2}), normal<scale>(pool, random_key{3})};
  require_close(values(norm(x)), values(layers<permitted>(x, norm.scale, norm.shift)));
  const nn::rms_norm<scale, std::ratio<1, 1000>, permitted> root{norm.scale};
  require_close(values(root(x)), values(roots<permitted>(x, norm.scale)));
}

TEST_CASE("a scale that would have to move over another axis is refused with both corrections") {
  const device_pool pool{pod{}};
  const any_tensor<double> x = normal<matrix<P<"data", none>>>(pool, random_key{1});
  const any_tensor<double> scale = normal<vector<P<"data">>>(pool, random_key{2});
  const auto require_both = [](const std::string& axes, const auto& call) {
    std::string words;
    try {
      (void)call();
    } catch (const error& e) {
      words = e.what();
    }
    REQUIRE_THAT(words, contains("axis_would_split_twice") && contains("operand 1"));
    REQUIRE_THAT(words, contains("reshard<P<none>>"));
    REQUIRE_THAT(words, contains("or across<" + axes + ">"));
  };
  require_both("\"data\", \"model\"", [&] { return layers<over_model>(x, scale, scale); });
  require_both("\"data\"", [&] { return rms_norm<-1>(x, scale, 1e-3); });
  // Both calls help.
  REQUIRE_NOTHROW(layers<over_both>(x, scale, scale));
  REQUIRE_NOTHROW(rms_norm<-1>(x, reshard(scale, spec_desc{{""}}), 1e-3));
}
