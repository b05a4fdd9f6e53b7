// SPDX-License-Identifier: BSL-1.0
// Mapped gradients are the gradients of each row: for functions of operands of different ranks, on
// several meshes, typed and untyped, with the batch split or not.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct single : mesh<axis<"data", 1>, axis<"model", 1>> {};
struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};

template <class Mesh, class Spec, index_t... N>
using tensor = sharded_tensor<double, extents<N...>, layout<Mesh, Spec, partial<>, uneven>>;

constexpr index_t batch = 4;

/// A batch of matrices, of rows and of columns, whose dimension of size 1 may be split, and a
/// weight for the whole batch.
template <class Mesh, fixed_string Batch, fixed_string One>
struct types {
  using mesh_type = Mesh;
  using matrices = tensor<Mesh, P<Batch, none, none>, batch, 3, 4>;
  using rows = tensor<Mesh, P<Batch, none>, batch, 4>;
  using columns = tensor<Mesh, P<Batch, none, One>, batch, 3, 1>;
  using matrix = tensor<Mesh, P<none, none>, 3, 4>;
  using row = tensor<Mesh, P<none>, 4>;
  using column = tensor<Mesh, P<none, One>, 3, 1>;
  using weight = tensor<Mesh, P<none, none>, 4, 2>;
};

constexpr auto complete = [](const auto& x) { return reshard<P<>>(x); };

std::vector<double> numbers(index_t count, std::uint64_t seed) {
  std::vector<double> all;
  for (index_t i = 0; i < count; ++i)
    all.push_back(shardwise::uniform<double>(random_key{seed}, i) * 2 - 1);
  return all;
}
std::vector<double> part_of(const std::vector<double>& all, index_t row) {
  const auto size = static_cast<std::ptrdiff_t>(all.size()) / batch;
  return {all.begin() + row * size, all.begin() + (row + 1) * size};
}

/// Compares a mapped gradient with that of each row.
template <class Types, bool Typed, class F>
void check(const char* name, const F& f) {
  INFO(name);
  CAPTURE(Typed);
  const device_pool pool{typename Types::mesh_type{}};
  const auto given = [&]<class X>(std::type_identity<X>, const std::vector<double>& all) {
    const X typed = distribute<X>(pool, all);
    if constexpr (Typed)
      return typed;
    else
      return any_tensor<double>(typed);
  };
  const auto x = numbers(batch * 12, 1), v = numbers(batch * 4, 2), c = numbers(batch * 3, 3);
  const auto w = given(std::type_identity<typename Types::weight>{}, numbers(8, 4));
  const auto slopes = gradient<0, 1, 2, 3>(f);
  const auto mapped =
      vmap<0, 0, 0, none>(slopes)(given(std::type_identity<typename Types::matrices>{}, x),
                                  given(std::type_identity<typename Types::rows>{}, v),
                                  given(std::type_identity<typename Types::columns>{}, c), w);
  // The gradient of the sum of all rows; that of the weight is a sum too.
  const auto joint = gradient<0, 1, 2, 3>([&](const auto&... each) {
    return complete(sum(vmap<0, 0, 0, none>(f)(each...)));
  })(given(std::type_identity<typename Types::matrices>{}, x),
     given(std::type_identity<typename Types::rows>{}, v),
     given(std::type_identity<typename Types::columns>{}, c), w);
  std::vector<double> of_weight(8, 0.0);
  for (index_t r = 0; r < batch; ++r) {
    const auto alone =
        slopes(given(std::type_identity<typename Types::matrix>{}, part_of(x, r)),
               given(std::type_identity<typename Types::row>{}, part_of(v, r)),
               given(std::type_identity<typename Types::column>{}, part_of(c, r)), w);
    const auto compare = [&](const auto& all, const auto& one) {
      const auto many = to_host(all), few = to_host(one);
      const auto size = static_cast<index_t>(few.elements().size());
      REQUIRE(static_cast<index_t>(many.elements().size()) == size * batch);
      for (index_t i = 0; i < size; ++i)
        REQUIRE(many.elements()[static_cast<std::size_t>(r * size + i)] ==
                Approx(few.elements()[static_cast<std::size_t>(i)]).epsilon(1e-12).margin(1e-14));
    };
    compare(std::get<0>(mapped), std::get<0>(alone));
    compare(std::get<1>(mapped), std::get<1>(alone));
    compare(std::get<2>(mapped), std::get<2>(alone));
    compare(std::get<3>(mapped), std::get<3>(alone));
    compare(std::get<0>(joint), std::get<0>(alone));
    compare(std::get<1>(joint), std::get<1>(alone));
    compare(std::get<2>(joint), std::get<2>(alone));
    const auto own = to_host(std::get<3>(alone));
    for (std::size_t i = 0; i < of_weight.size(); ++i) of_weight[i] += own.elements()[i];
  }
  const auto found = to_host(std::get<3>(joint));
  for (std::size_t i = 0; i < of_weight.size(); ++i)
    REQUIRE(found.elements()[i] == Approx(of_weight[i]).epsilon(1e-12).margin(1e-14));
}
/// With types on one layout of a mesh of several devices, and as values on all.
template <class F>
void check_all(const char* name, const F& f) {
  check<types<pod, "data", "model">, true>(name, f);
  check<types<single, none, none>, false>(name, f);
  check<types<pod, none, none>, false>(name, f);
  check<types<pod, none, "model">, false>(name, f);
  check<types<pod, "data", none>, false>(name, f);
  check<types<pod, "data", "model">, false>(name, f);
  check<types<pod, "model", "data">, false>(name, f);
}

constexpr auto whole = [](const auto& column) { return reshard<P<none, none>>(column); };

}  // namespace

TEST_CASE("mapped gradients of elementwise functions of different ranks") {
  check_all("row", [](const auto& x, const auto& v, const auto&, const auto&) {
    return complete(sum(x * v));
  });
  check_all("row and column", [](const auto& x, const auto& v, const auto& c, const auto&) {
    return complete(sum(sin(x + whole(c)) * v));
  });
  check_all("row times column", [](const auto&, const auto& v, const auto& c, const auto&) {
    return complete(sum(exp(v * whole(c))));
  });
  check_all("condition", [](const auto& x, const auto& v, const auto& c, const auto&) {
    return complete(sum(where(x > v, x * x, whole(c))));
  });
  check_all("split dimension of size 1", [](const auto&, const auto&, const auto& c, const auto&) {
    return complete(sum(sin(c * sum<0>(square(c)))));
  });
  check_all("number", [](const auto& x, const auto& v, const auto&, const auto&) {
    return complete(sum(x / (2.0 + sum(square(v)))));
  });
}

TEST_CASE("mapped gradients of numbers made of reductions") {
  check_all("square of sum", [](const auto& x, const auto& v, const auto&, const auto&) {
    return square(sum(x)) * sum(v);
  });
  check_all("means", [](const auto& x, const auto& v, const auto& c, const auto&) {
    return complete(mean(x) * sum(v) * sum(square(c)));
  });
  check_all("largest", [](const auto& x, const auto& v, const auto&, const auto&) {
    return max(x) + max(max<1>(x)) * max(v);
  });
  check_all("product", [](const auto& x, const auto& v, const auto&, const auto&) {
    return product(v) + sum(product<0>(x) * v);
  });
  check_all("kept dimension", [](const auto& x, const auto&, const auto& c, const auto&) {
    return complete(sum(square(x - mean<1>(x, keep_dims)) * whole(c)));
  });
  check_all("norm", [](const auto& x, const auto& v, const auto&, const auto&) {
    return sqrt(sum(square(x))) * sum(sqrt(sum<0>(square(x))) * v);
  });
}

TEST_CASE("mapped gradients of lines") {
  check_all("softmax", [](const auto& x, const auto& v, const auto&, const auto&) {
    return sum(softmax<1>(x) * v) + sum(log_softmax<0>(x) * v);
  });
  check_all("logsumexp", [](const auto& x, const auto& v, const auto&, const auto&) {
    return sum(square(logsumexp<1>(x + v)));
  });
  check_all("sums so far", [](const auto& x, const auto& v, const auto& c, const auto&) {
    return complete(sum(cumsum<1>(x) * whole(c))) + sum(square(cumsum<0>(v)));
  });
  check_all("sorted", [](const auto& x, const auto& v, const auto&, const auto&) {
    return sum(sort<1>(x) * v) + sum(square(sort<0>(v)));
  });
}

TEST_CASE("mapped gradients of linear maps") {
  check_all("mean pooling", [](const auto& x, const auto&, const auto&, const auto& w) {
    return sum(square(mean<0>(einsum<"ti,io->to">(x, w))));
  });
  check_all("matrix and vector", [](const auto& x, const auto& v, const auto&, const auto& w) {
    return sum(tanh(einsum<"ti,i->t">(x, v))) * sum(square(einsum<"i,io->o">(v, w)));
  });
  check_all("outer product", [](const auto& x, const auto& v, const auto&, const auto& w) {
    return sum(square(einsum<"i,j->ij">(v, sum<0>(x)))) + sum(w * sum(v));
  });
  check_all("transposed", [](const auto& x, const auto& v, const auto&, const auto&) {
    return sum(square(transpose<1, 0>(x) * unsqueeze<1>(v)));
  });
}

TEST_CASE("mapped gradients of operations that are applied to one row after another") {
  check_all("attention", [](const auto& x, const auto& v, const auto&, const auto& w) {
    const auto q = unsqueeze<0>(x);
    const auto k = unsqueeze<0>(transpose<1, 0>(einsum<"ti,io->ot">(x, w)));
    const auto padded = einsum<"hok,j->hoj">(k, v);
    return sum(square(attention<attends::to_earlier>(q, padded, padded)));
  });
  check_all("linear algebra", [](const auto& x, const auto& v, const auto&, const auto& w) {
    const auto a = einsum<"ti,si->ts">(x * v, x * v) + einsum<"i,io->">(v, w);
    return sum(square(linalg::inverse(a + einsum<"ti,si->ts">(exp(x), exp(x)))));
  });
  check_all("middle", [](const auto& x, const auto& v, const auto&, const auto&) {
    return sum(median<0>(x) * v) + quantile<0>(v, 0.3);
  });
}
