// SPDX-License-Identifier: BSL-1.0
#include <shardwise/paper.hpp>

#include <type_traits>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct slice : mesh<axis<"data", dyn>> {};
struct widest : mesh<axis<"a", 1>, axis<"b", 2>, axis<"c", 3>, axis<"d", 1>, axis<"e", 2>,
                     axis<"f", 3>, axis<"g", 2>> {};

template <class Extents, class Spec, class Partial = partial<>, class Policy = exact,
          class T = float>
using tensor = sharded_tensor<T, Extents, layout<pod, Spec, Partial, Policy>>;
template <class Extents, class Spec, class Partial = partial<>, class Policy = exact,
          class T = float>
using on_paper = abstract_tensor<T, Extents, layout<pod, Spec, Partial, Policy>>;

using X = tensor<extents<8, 16>, P<"x", none>>;
using W = tensor<extents<16, 8>, P<none, "y">>;
using V = tensor<extents<16, 8>, P<"y", none>>;
using T = tensor<extents<8, 16>, P<"x", none>, partial<"y">>;

// operand.hpp: the operands of operations.
static_assert(Operand<on_paper<extents<8>, P<"x">>> &&
              Operand<const on_paper<extents<8>, P<"x">>&>);
static_assert(!Operand<float> && !Operand<X> && !Operand<tensor_desc> && !Operand<int*>);
static_assert(Scalar<float> && Scalar<const int&> && Scalar<bool> && !Scalar<X> &&
              !Scalar<const char*>);
static_assert(ElementwiseOperands<on_paper<extents<8>, P<"x">>, float>);
static_assert(!ElementwiseOperands<float, float> && ElementwiseOperands<X, X>);  // a rule refuses

// over.hpp: dimensions as values.
static_assert(over(0, 2).bits() == 5 && over(2U, 0L, 2).bits() == 5 && over::all(3).bits() == 7 &&
              over::all(0).bits() == 0 && over::of_bits(6).bits() == 6);
static_assert(over(axis_list{1, 0}).bits() == 3 && over(axis_list{}).judge(0).ok());
static_assert(over(0, 2).judge(3).ok() && over(0, 2).judge(2).have == 2 &&
              over(0, 2).judge(2).want == 2 && over(9, -1).judge(2).have == -1 &&
              over::of_bits(1U << 31U).judge(max_rank).rule ==
                  violation::dimension_is_out_of_range);
static_assert(over(-1, 0).from_front(3).bits() == 5 && over(-3, 1).from_front(3).bits() == 3 &&
              over(-1).from_front(0).judge(0).have == -1 &&
              over(0, -4).from_front(3).judge(3).have == -4 &&
              over(3, -1).from_front(3).judge(3).have == 3 &&
              over(2, -1).from_front(3).judge(3).dim == 2 &&
              over(-2, -2).from_front(3).judge(3).dim == 1 &&
              over(1, 1).from_front(3).judge(3).dim == 1 && over(-1).judge(3).have == -1);
static_assert(over(0, 2).count({5, 3, 2}) == 10 && over(axis_list{}).count({5, 3}) == 1 &&
              over(1).count({5, 0}) == 0);

// Types of results. Nothing here is inside trace, so nothing is recorded.
template <class Result, class Expected>
inline constexpr bool is = std::is_same_v<std::remove_cvref_t<Result>, Expected>;

static_assert(is<decltype(einsum<"bi,ih->bh">(abstract<X>(), abstract<W>())),
                 on_paper<extents<8, 8>, P<"x", "y">>>);
static_assert(is<decltype(einsum<"ib,ih->bh">(einsum<"bi->ib">(abstract<X>()), abstract<W>())),
                 on_paper<extents<8, 8>, P<"x", "y">>>);
static_assert(is<decltype(einsum<"bi,ih->bh">(abstract<X>(), abstract<V>())),
                 on_paper<extents<8, 8>, P<"x", none>, partial<"y">>>);
static_assert(
    is<decltype(einsum<"bi->ib">(abstract<X>())), on_paper<extents<16, 8>, P<none, "x">>>);
static_assert(is<decltype(einsum<"bi->">(abstract<X>())), on_paper<extents<>, P<>, partial<"x">>>);

static_assert(is<decltype(abstract<X>() + abstract<X>()), on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(is<decltype(abstract<X>() * 2), on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(is<decltype(1.0F - abstract<X>()), on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(
    is<decltype(abstract<T>() / 2.0F), on_paper<extents<8, 16>, P<"x", none>, partial<"y">>>);
static_assert(is<decltype(-abstract<T>()), on_paper<extents<8, 16>, P<"x", none>, partial<"y">>>);
static_assert(is<decltype(abstract<T>() - abstract<T>()),
                 on_paper<extents<8, 16>, P<"x", none>, partial<"y">>>);
static_assert(is<decltype(abstract<T>() * abstract<X>()),
                 on_paper<extents<8, 16>, P<"x", none>, partial<"y">>>);
static_assert(is<decltype(less_equal(abstract<X>(), 0)), decltype(abstract<X>() <= 0)> &&
              is<decltype(greater(0, abstract<X>())), decltype(0 > abstract<X>())> &&
              is<decltype(greater_equal(abstract<X>(), abstract<X>(), across<"x">)),
                 decltype(abstract<X>() >= abstract<X>())>);
static_assert(is<decltype(where(less(abstract<X>(), 0), 0, abstract<X>())),
                 on_paper<extents<8, 16>, P<"x", none>>>);
// Comparisons return `bool`, which `where` takes.
using truth = abstract_tensor<bool, extents<8, 16>, layout<pod, P<"x", none>>>;
static_assert(is<decltype(abstract<X>() > 0), truth>);
static_assert(is<decltype(1.5F <= abstract<X>()), truth>);
static_assert(is<decltype(equal(abstract<X>(), abstract<X>())), truth>);
static_assert(is<decltype(logical_not(logical_and(abstract<X>() > 0, abstract<X>() < 1))), truth>);
static_assert(
    is<decltype(where(abstract<X>() > 0, 1.0F, 0.0F)), on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(is<decltype(cast<double>(abstract<X>())),
                 abstract_tensor<double, extents<8, 16>, layout<pod, P<"x", none>>>>);
static_assert(is<decltype(cast<float>(cast<bfloat16>(abstract<X>()) * bfloat16(2.0F))),
                 on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(is<decltype(transpose<1, 0>(abstract<T>())),
                 on_paper<extents<16, 8>, P<none, "x">, partial<"y">>>);
static_assert(is<decltype(stop_gradient(abstract<T>())),
                 on_paper<extents<8, 16>, P<"x", none>, partial<"y">>>);
static_assert(is<decltype(gelu(relu(exp(log(tanh(sigmoid(sqrt(square(abs(abstract<X>())))))))))),
                 on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(is<decltype(maximum(abstract<X>(), 0)), on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(is<decltype(minimum(max<1>(abstract<X>()), min<1>(abstract<X>()))),
                 on_paper<extents<8>, P<"x">>>);
using peaks = tensor<extents<8>, P<none>, partial<"y", reduction::max>>;
static_assert(is<decltype(maximum(abstract<peaks>(), abstract<peaks>())),
                 on_paper<extents<8>, P<none>, partial<"y", reduction::max>>>);

// Broadcasting; a policy of any operand is the result's.
static_assert(is<decltype(abstract<X>() + abstract<tensor<extents<16>, P<none>>>()),
                 on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(is<decltype(abstract<X>() + abstract<tensor<extents<16>, P<"y">>>()),
                 on_paper<extents<8, 16>, P<"x", "y">>>);
static_assert(is<decltype(abstract<X>() + abstract<tensor<extents<8, 1>, P<"x", none>>>()),
                 on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(
    is<decltype(abstract<X>() + abstract<tensor<extents<16>, P<none>, partial<>, uneven>>()),
       on_paper<extents<8, 16>, P<"x", none>, partial<>, uneven>>);
// A `dyn` extent takes the size of the other operand.
static_assert(is<decltype(abstract<X>() + abstract<tensor<extents<dyn, 16>, P<"x", none>>>(8)),
                 on_paper<extents<8, 16>, P<"x", none>>>);
static_assert((abstract<tensor<extents<dyn>, P<"x">>>(6) * 2).extents() == extents_desc{6});

// Reductions.
static_assert(is<decltype(sum<1>(abstract<X>())), on_paper<extents<8>, P<"x">>>);
static_assert(is<decltype(sum<0>(abstract<X>())), on_paper<extents<16>, P<none>, partial<"x">>>);
static_assert(is<decltype(sum(abstract<X>())), on_paper<extents<>, P<>, partial<"x">>>);
static_assert(is<decltype(sum<0, 1>(abstract<X>())), decltype(sum(abstract<X>()))>);
static_assert(is<decltype(mean<0>(abstract<X>())), on_paper<extents<16>, P<none>, partial<"x">>>);
static_assert(is<decltype(max<0>(abstract<X>())),
                 on_paper<extents<16>, P<none>, partial<"x", reduction::max>>>);
static_assert(
    is<decltype(min(abstract<X>())), on_paper<extents<>, P<>, partial<"x", reduction::min>>>);
static_assert(is<decltype(product<0>(abstract<X>())),
                 on_paper<extents<16>, P<none>, partial<"x", reduction::product>>>);
static_assert(is<decltype(sum<0>(abstract<T>())), on_paper<extents<16>, P<none>, partial<"x,y">>>);
static_assert(is<decltype(sum(sum(abstract<X>()))), on_paper<extents<>, P<>, partial<"x">>>);

// Kept dimensions have one element and are not split, so that the result can be combined with its
// operand.
static_assert(
    is<decltype(sum<1>(abstract<X>(), keep_dims)), on_paper<extents<8, 1>, P<"x", none>>>);
static_assert(is<decltype(sum<0>(abstract<X>(), keep_dims)),
                 on_paper<extents<1, 16>, P<none, none>, partial<"x">>>);
static_assert(is<decltype(sum(abstract<X>(), keep_dims)),
                 on_paper<extents<1, 1>, P<none, none>, partial<"x">>>);
static_assert(
    is<decltype(sum<0, 1>(abstract<X>(), keep_dims)), decltype(sum(abstract<X>(), keep_dims))>);
static_assert(
    is<decltype(mean<1>(abstract<X>(), keep_dims)), on_paper<extents<8, 1>, P<"x", none>>>);
static_assert(is<decltype(max<0>(abstract<X>(), keep_dims)),
                 on_paper<extents<1, 16>, P<none, none>, partial<"x", reduction::max>>>);
static_assert(
    is<decltype(min<1>(abstract<X>(), keep_dims)), on_paper<extents<8, 1>, P<"x", none>>>);
static_assert(
    is<decltype(product<1>(abstract<X>(), keep_dims)), on_paper<extents<8, 1>, P<"x", none>>>);
static_assert(is<decltype(sum<0>(abstract<T>(), keep_dims)),
                 on_paper<extents<1, 16>, P<none, none>, partial<"x,y">>>);
static_assert(is<decltype(abstract<X>() - max<1>(abstract<X>(), keep_dims)),
                 on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(is<decltype(exp(abstract<X>()) / sum<1>(exp(abstract<X>()), keep_dims)),
                 on_paper<extents<8, 16>, P<"x", none>>>);

// A layout may be a named struct, which equals the layout that it derives from.
struct named_rows : layout<pod, P<"x", none>> {};
using N = sharded_tensor<float, extents<8, 16>, named_rows>;
static_assert(is<decltype(abstract<N>() + abstract<X>()), on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(is<decltype(einsum<"bi,ih->bh">(abstract<N>(), abstract<W>())),
                 on_paper<extents<8, 8>, P<"x", "y">>>);
static_assert(is<decltype(reshard<named_rows>(abstract<T>())),
                 abstract_tensor<float, extents<8, 16>, named_rows>>);
static_assert(
    is<decltype(reshard<P<none, "y">>(abstract<N>())), on_paper<extents<8, 16>, P<none, "y">>>);

// Operations on the result of an invalid operation return such a result too, without further
// errors.
template <class X>
constexpr bool silent = std::is_same_v<std::remove_cvref_t<X>, refused_value>;
constexpr refused_value no;
static_assert(Operand<refused_value> && AnyRefused<int, const refused_value&> && !AnyRefused<int>);
static_assert(silent<decltype(relu(no))> && silent<decltype(-no)>);
static_assert(silent<decltype(no * 2.0F)> && silent<decltype(1 - no)>);
static_assert(silent<decltype(abstract<X>() + no)> && silent<decltype(no / abstract<X>())>);
static_assert(silent<decltype(where(no, abstract<X>(), 0))>);
static_assert(silent<decltype(einsum<"bi,ih->bh">(abstract<X>(), no))> &&
              silent<decltype(einsum<"no einsum">(no))>);
static_assert(silent<decltype(sum<7>(no))> && silent<decltype(mean(no))> &&
              silent<decltype(max(no, keep_dims))>);
static_assert(silent<decltype(reshard<P<"x", none>>(no))> &&
              silent<decltype(reshard<named_rows>(no))>);

// Numbers with a fraction would be truncated beside tensors of integers.
static_assert(internal::number_that_is_cut<std::int32_t, X, double> == 1 &&
              internal::number_that_is_cut<std::int64_t, const float&, X> == 0);
static_assert(internal::number_that_is_cut<std::int32_t, X, long> == -1 &&
              internal::number_that_is_cut<float, X, double> == -1 &&
              internal::number_that_is_cut<double, int, X> == -1);
using I = tensor<extents<8>, P<"x">, partial<>, exact, std::int32_t>;
static_assert(
    is<decltype(abstract<I>() * 2), on_paper<extents<8>, P<"x">, partial<>, exact, std::int32_t>>);

// A sum over an axis of one device is not pending, so every operation may read it.
struct narrow : mesh<axis<"x", 2>, axis<"one", 1>> {};
template <class Spec, class Partial = partial<>>
using on_narrow = abstract_tensor<float, extents<8>, layout<narrow, Spec, Partial>>;
using quiet = sharded_tensor<float, extents<8>, layout<narrow, P<"x">, partial<"one">>>;
using peak =
    sharded_tensor<float, extents<8>, layout<narrow, P<"x">, partial<"one", reduction::max>>>;
using split = sharded_tensor<float, extents<8>, layout<narrow, P<by("x", "one")>>>;
using calm = sharded_tensor<float, extents<8>, layout<narrow, P<"x">>>;
static_assert(is<decltype(exp(abstract<quiet>())), on_narrow<P<"x">>> &&
              is<decltype(-abstract<peak>()), on_narrow<P<"x">>>);
static_assert(is<decltype(abstract<quiet>() + abstract<calm>()), on_narrow<P<"x">>> &&
              is<decltype(abstract<quiet>() * abstract<quiet>()), on_narrow<P<"x">>> &&
              is<decltype(abstract<calm>() / abstract<peak>()), on_narrow<P<"x">>>);
static_assert(is<decltype(sum(abstract<split>())),
                 abstract_tensor<float, extents<>, layout<narrow, P<>, partial<"x">>>>);
static_assert(
    is<decltype(max(abstract<quiet>())),
       abstract_tensor<float, extents<>, layout<narrow, P<>, partial<"x", reduction::max>>>>);

// Reshards.
static_assert(
    is<decltype(reshard<P<none, "y">>(abstract<X>())), on_paper<extents<8, 16>, P<none, "y">>>);
static_assert(
    is<decltype(reshard<none, "y">(abstract<X>())), on_paper<extents<8, 16>, P<none, "y">>>);
static_assert(
    is<decltype(reshard<P<"x", none>>(abstract<T>())), on_paper<extents<8, 16>, P<"x", none>>>);
static_assert(is<decltype(reshard<layout<pod, P<none, none>, partial<"y">>>(abstract<T>())),
                 on_paper<extents<8, 16>, P<none, none>, partial<"y">>>);
static_assert(is<decltype(reshard<P<by("x", "y"), none>>(abstract<X>())),
                 on_paper<extents<8, 16>, P<"x,y", none>>>);
static_assert(is<decltype(reshard<P<"y">, uneven>(abstract<tensor<extents<6>, P<"x">>>())),
                 on_paper<extents<6>, P<"y">, partial<>, uneven>>);

// Tests of legality that cause no error.
template <class A>
using paper = paper_of<decltype(abstract<A>())>;
static_assert(is_legal<einsum_of<"bi,ih->bh">, paper<X>, paper<W>>);
static_assert(!is_legal<einsum_of<"bi,ih->bh">, paper<X>> &&
              !is_legal<einsum_of<"bi,ih->bh">, paper<X>, paper<X>>);
static_assert(!is_legal<pointwise<functions::relu>, paper<T>> &&
              is_legal<pointwise<functions::negate>, paper<T>>);
static_assert(!is_legal<pointwise<functions::add>, paper<X>, paper<T>>);
static_assert(is_legal<reduction_of<reduction::sum, 1>, paper<T>> &&
              !is_legal<reduction_of<reduction::max, 1>, paper<T>>);
static_assert(!is_legal<pointwise<functions::add>, paper<X>,
                        paper<tensor<extents<8, 16>, P<"x", none>, partial<>, exact, double>>>);

// The limits: rank 8, 7 axes.
using wide = sharded_tensor<float, extents<1, 2, 3, 1, 2, 3, 2, 5>,
                            layout<widest, P<"a", "b", "c", "d", "e", "f", "g", none>>>;
static_assert(is<decltype(einsum<"abcdefgh->hgfedcba">(abstract<wide>())),
                 abstract_tensor<float, extents<5, 2, 3, 2, 1, 3, 2, 1>,
                                 layout<widest, P<none, "g", "f", "e", "d", "c", "b", "a">>>>);
static_assert(is<decltype(sum(abstract<wide>())),
                 abstract_tensor<float, extents<>, layout<widest, P<>, partial<"b,c,e,f,g">>>>);
static_assert(is<decltype(einsum<"abcdefgh,ijklmnop->">(
                     abstract<wide>(),
                     abstract<sharded_tensor<
                         float, extents<1, 2, 3, 1, 2, 3, 2, 5>,
                         layout<widest, P<none, none, none, none, none, none, none, none>>>>())),
                 abstract_tensor<float, extents<>, layout<widest, P<>, partial<"b,c,e,f,g">>>>);
static_assert(
    is<decltype(reshard<P<none, none, none, none, none, none, none, none>>(abstract<wide>())),
       abstract_tensor<float, extents<1, 2, 3, 1, 2, 3, 2, 5>,
                       layout<widest, P<none, none, none, none, none, none, none, none>>>>);

// A mesh of unknown size.
using rows = sharded_tensor<float, extents<dyn, 4>, layout<slice, P<"data", none>>>;
static_assert(sum<0>(abstract<rows>(6, 3)).mesh().devices() == 3);
static_assert(abstract<rows>(6, 3).extents() == extents_desc{6, 4});
static_assert(sum<1>(abstract<rows>(6, 3), keep_dims).extents() == extents_desc{6, 1});
static_assert(sum<0>(abstract<rows>(6, 3), keep_dims).extents() == extents_desc{1, 4});
static_assert((abstract<rows>(6, 3) / sum<1>(abstract<rows>(6, 3), keep_dims)).extents() ==
              extents_desc{6, 4});

// fused.hpp
using leaf = fused::argument<0>;
using tree = fused::call<functions::add, fused::call<functions::multiply, leaf, fused::argument<1>>,
                         fused::argument<2>>;
static_assert(tree::arguments == 3 && tree::flops == 2 && std::is_empty_v<leaf>);
static_assert(fused::call<functions::gelu, tree>::flops == 11 &&
              fused::constant<float>::arguments == 0);
static_assert(
    is<decltype(internal::shifted_by<3>::of(tree{})),
       fused::call<functions::add,
                   fused::call<functions::multiply, fused::argument<3>, fused::argument<4>>,
                   fused::argument<5>>>);

// type_name of what an expression may be
constexpr bool names_expressions(const auto& x, const auto& w) {
  const auto y = relu(x) * 2.0F;
  return type_name<decltype(x)>() == "f32[8@x, 16]" && type_name<decltype(y)>() == "f32[8@x, 16]" &&
         type_name<decltype(-x + 1.0F)>() == "f32[8@x, 16]" &&
         type_name<decltype(einsum<"bi,io->bo">(x, w))>() == "f32[8@x, 8@y]" &&
         type_name<decltype(sum<0>(x))>() == "f32[16]{partial sum: x}";
}
static_assert(names_expressions(abstract<X>(), abstract<W>()));
