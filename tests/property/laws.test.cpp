// SPDX-License-Identifier: BSL-1.0
// A function of pending operands is applied to their terms before they are reduced. Where the
// library allows this, the result must equal that of the function of the reduced values.
#include "property/generated.hpp"
#include "support/catch.hpp"

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace generated;

namespace {

constexpr std::array kinds{reduction::sum, reduction::product, reduction::max, reduction::min};
constexpr index_t devices = 3;
constexpr index_t count = 24;

/// Integers, including zero and negative ones: all sums, products and quotients in these tests are
/// exact in floating point. Integer types also get the ends of their range.
template <class T>
std::vector<T> terms(index_t seed) {
  numbers random(static_cast<std::uint64_t>(seed));
  std::vector<T> all;
  for (index_t i = 0; i < count; ++i) {
    T term = static_cast<T>(random.below(9) - 4);
    if (std::integral<T> && i % 4 == 3)
      term = static_cast<T>(
          (random.below(2) == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min()) /
          static_cast<T>(1 + random.below(3)));
    all.push_back(term);
  }
  return all;
}

/// Positive and negative powers of two, by which floating-point numbers are divided exactly.
template <class T>
std::vector<T> divisors(index_t seed) {
  numbers random(static_cast<std::uint64_t>(seed));
  std::vector<T> all;
  for (index_t i = 0; i < count; ++i)
    all.push_back(static_cast<T>((1 << random.below(3)) * (random.below(2) == 0 ? 1 : -1)));
  return all;
}

/// A pending tensor with a term on each device, or a replicated one.
template <class T>
any_tensor<T> make_terms(const device_pool& pool, std::optional<reduction> pending, index_t seed,
                         std::vector<T> (*values_of)(index_t)) {
  layout_desc layout;
  layout.dims.resize(1);
  if (pending) {
    layout.pending = 1;
    layout.kind = *pending;
  }
  auto place =
      std::make_shared<const shard_table>(pool.mesh(), tensor_desc{element_of<T>, {count}, layout});
  std::vector<shard_buffer<T>> shards;
  for (index_t s = 0; s < place->count(); ++s) {
    shard_buffer<T> shard(pool.state()->storage(), count);
    const std::vector<T> elements = values_of(seed * devices + s);
    std::copy(elements.begin(), elements.end(), shard.writable());
    shards.push_back(shard);
  }
  auto made = std::make_shared<tensor_node>(pool.state(), std::move(place), shards);
  made->charge(pool.state()->memory());
  return internal::handle_of<any_tensor<T>>(std::move(made));
}

template <class T>
any_tensor<T> reduced(const any_tensor<T>& x) {
  return reshard(x, spec_desc{{""}});
}
/// Returns the elements, with 0 instead of -0, since only the sum of -0 and -0 is -0.
template <class T>
std::vector<T> elements(const any_tensor<T>& x) {
  std::vector<T> all;
  const auto host = to_host(reduced(x));
  for (T element : host) all.push_back(element == T{0} ? T{0} : element);
  return all;
}

/// Applies `f` to the terms and to the reduced values for every set of pending operands. Checks
/// that the results are equal, and returns how many of the sets are legal.
template <class T, std::size_t N, class F>
int legal_choices(const std::string& name, const F& f) {
  const device_pool pool(devices, 2);
  int legal = 0;
  std::array<std::size_t, N> chosen{};
  const auto next = [&] {
    std::size_t o = 0;
    while (o < N && ++chosen[o] > kinds.size()) chosen[o++] = 0;
    return o < N;
  };
  while (next())
    for (const auto values_of : {terms<T>, divisors<T>}) {
      std::vector<any_tensor<T>> before, after;
      for (std::size_t o = 0; o < N; ++o) {
        std::optional<reduction> pending;
        if (chosen[o] > 0) pending = kinds[chosen[o] - 1];
        // A floating-point number is divided only by powers of two, so that nothing is rounded.
        const auto elements_of = std::floating_point<T> && o > 0 ? divisors<T> : values_of;
        before.push_back(make_terms<T>(pool, pending, static_cast<index_t>(o + 1), elements_of));
        after.push_back(reduced(before.back()));
      }
      std::optional<any_tensor<T>> applied;
      try {
        applied = f(before);
      } catch (const error&) {
        continue;
      }
      ++legal;
      CAPTURE(name, chosen, values_of == divisors<T>);
      CHECK(elements(*applied) == elements(f(after)));
    }
  return legal;
}

template <class T>
using tensors = std::vector<any_tensor<T>>;

/// Applies a function; `bool` results become 1 and 0.
template <class T, class Function, class... X>
any_tensor<T> apply(const X&... x) {
  auto made = elementwise<Function>(x...);
  if constexpr (std::is_same_v<decltype(made), any_tensor<bool>>)
    return cast<T>(made);
  else
    return made;
}

/// The functions of all types, then those of floating-point numbers.
template <class T>
int check_all() {
  int legal = 0;
  const auto one = [&]<class Function>(Function, const char* name) {
    legal +=
        legal_choices<T, 1>(name, [](const tensors<T>& x) { return apply<T, Function>(x[0]); });
  };
  const auto two = [&]<class Function>(Function, const char* name) {
    const std::string words = name;
    legal += legal_choices<T, 2>(
        words, [](const tensors<T>& x) { return apply<T, Function>(x[0], x[1]); });
    legal += legal_choices<T, 1>(words + " of one operand", [](const tensors<T>& x) {
      return apply<T, Function>(x[0], x[0]);
    });
    for (const T number : {T{2}, static_cast<T>(-4)}) {
      legal += legal_choices<T, 1>(words + " a number", [number](const tensors<T>& x) {
        return apply<T, Function>(x[0], number);
      });
      legal += legal_choices<T, 1>("a number " + words, [number](const tensors<T>& x) {
        return apply<T, Function>(number, x[0]);
      });
    }
  };
  one(functions::identity{}, "identity");
  one(functions::negate{}, "negate");
  one(functions::abs{}, "abs");
  one(functions::square{}, "square");
  one(functions::relu{}, "relu");
  two(functions::add{}, "+");
  two(functions::subtract{}, "-");
  two(functions::multiply{}, "*");
  two(functions::divide{}, "/");
  two(functions::maximum{}, "maximum");
  two(functions::minimum{}, "minimum");
  two(functions::equal{}, "equal");
  two(functions::not_equal{}, "not_equal");
  two(functions::less{}, "less");
  two(functions::less_equal{}, "less_equal");
  two(functions::greater{}, "greater");
  two(functions::greater_equal{}, "greater_equal");
  legal += legal_choices<T, 3>("where",
                               [](const tensors<T>& x) { return where(x[0] > T{0}, x[1], x[2]); });
  if constexpr (std::floating_point<T>) {
    one(functions::sqrt{}, "sqrt");
    one(functions::exp{}, "exp");
    one(functions::log{}, "log");
    one(functions::tanh{}, "tanh");
    one(functions::sigmoid{}, "sigmoid");
    one(functions::gelu{}, "gelu");
  }
  return legal;
}

}  // namespace

TEST_CASE("what a function gives of float terms is what it gives of their reduction") {
  REQUIRE(check_all<float>() > 20);
}
TEST_CASE("what a function gives of double terms is what it gives of their reduction") {
  REQUIRE(check_all<double>() > 20);
}
TEST_CASE("what a function gives of 32-bit terms is what it gives of their reduction") {
  REQUIRE(check_all<std::int32_t>() > 20);
}
TEST_CASE("what a function gives of 64-bit terms is what it gives of their reduction") {
  REQUIRE(check_all<std::int64_t>() > 20);
}
