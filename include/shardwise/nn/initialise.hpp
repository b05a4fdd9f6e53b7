// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/name_pattern.hpp"
#include "shardwise/host/factories.hpp"
#include "shardwise/nn/make_nest.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace nn {

/// Which dimensions of a weight are inputs and which are outputs, for its fan-in and fan-out:
/// `linear` is `[in, out...]`; `merge` is `[in..., out]`, like `out` of an attention; `filter` is
/// `[features, channels / groups, window...]` of a convolution.
enum class weight_of : std::uint8_t { linear, merge, filter };

}  // namespace nn

namespace detail {

/// The fan-in and fan-out of a weight.
struct fans {
  double in = 1;
  double out = 1;
};
[[nodiscard]] constexpr fans fans_of(nn::weight_of kind, const extents_desc& extents) noexcept {
  fans of;
  for (int d = 0; d < extents.ssize(); ++d) {
    const auto size = static_cast<double>(extents[d]);
    const bool is_last = d + 1 == extents.ssize();
    if (kind == nn::weight_of::filter ? d > 0 : kind == nn::weight_of::merge ? !is_last : d == 0)
      of.in *= size;
    if (kind == nn::weight_of::filter ? d != 1 : kind == nn::weight_of::merge ? is_last : d > 0)
      of.out *= size;
  }
  return of;
}

/// Returns random numbers after applying `change(x)`.
template <class X, class Fill, class Change>
[[nodiscard]] X drawn(const device_pool& pool, const Fill& fill_row, const Change& change) {
  using T = typename X::value_type;
  const auto fill = [&](std::uint64_t first, T* row, index_t count) {
    fill_row(first, row, count);
    for (index_t i = 0; i < count; ++i)
      row[i] = static_cast<T>(change(static_cast<double>(row[i])));
  };
  return handle_of<X>(fill_numbered<T>(pool, described<X>(pool), fill));
}
template <class X>
[[nodiscard]] X scaled_normal(const device_pool& pool, random_key seed, double deviation) {
  return drawn<X>(
      pool, [=](auto... row) { fill_normal(seed, row...); },
      [=](double x) { return x * deviation; });
}
template <class X>
[[nodiscard]] X scaled_uniform(const device_pool& pool, random_key seed, double bound) {
  return drawn<X>(
      pool, [=](auto... row) { fill_uniform(seed, row...); },
      [=](double x) { return (2 * x - 1) * bound; });
}

}  // namespace detail

namespace nn {

/// Returns weights for layers with `relu`: normal, with the variance `gain^2 / in` (Kaiming), where
/// `in` is the fan-in. Like all random numbers they depend only on the key and the global index.
///
///     auto w = nn::kaiming_normal<W>(pool, random_key{1});
///     auto f = nn::kaiming_normal<F, nn::weight_of::filter>(pool, random_key{2});
template <ShardedTensor X, weight_of Kind = weight_of::linear>
[[nodiscard]] X kaiming_normal(const device_pool& pool, random_key seed,
                               double gain = std::sqrt(2.0)) {
  constexpr detail::fans of = detail::fans_of(Kind, X::extents_type::value);
  return detail::scaled_normal<X>(pool, seed, gain / std::sqrt(of.in));
}
/// Returns uniform weights with the same variance.
template <ShardedTensor X, weight_of Kind = weight_of::linear>
[[nodiscard]] X kaiming_uniform(const device_pool& pool, random_key seed,
                                double gain = std::sqrt(2.0)) {
  constexpr detail::fans of = detail::fans_of(Kind, X::extents_type::value);
  return detail::scaled_uniform<X>(pool, seed, gain * std::sqrt(3.0 / of.in));
}
/// Returns normal weights with the variance `2 / (in + out)` of fan-in and fan-out (Xavier).
template <ShardedTensor X, weight_of Kind = weight_of::linear>
[[nodiscard]] X xavier_normal(const device_pool& pool, random_key seed, double gain = 1) {
  constexpr detail::fans of = detail::fans_of(Kind, X::extents_type::value);
  return detail::scaled_normal<X>(pool, seed, gain * std::sqrt(2 / (of.in + of.out)));
}
/// Returns uniform weights with the same variance.
template <ShardedTensor X, weight_of Kind = weight_of::linear>
[[nodiscard]] X xavier_uniform(const device_pool& pool, random_key seed, double gain = 1) {
  constexpr detail::fans of = detail::fans_of(Kind, X::extents_type::value);
  return detail::scaled_uniform<X>(pool, seed, gain * std::sqrt(6 / (of.in + of.out)));
}
/// Returns normal numbers with this standard deviation, truncated at two standard deviations:
/// numbers beyond are drawn again. The standard deviation of the result is 0.88 times as large.
template <ShardedTensor X>
[[nodiscard]] X truncated_normal(const device_pool& pool, random_key seed, double deviation) {
  using T = typename X::value_type;
  const auto fill = [=](std::uint64_t first_number, T* row, index_t count) {
    for (index_t i = 0; i < count; ++i) {
      const auto place = first_number + static_cast<std::uint64_t>(i);
      double x = normal<double>(seed, place);
      for (std::uint64_t again = 0; std::abs(x) > 2; ++again)
        x = normal<double>(seed.split(again), place);
      row[i] = static_cast<T>(x * deviation);
    }
  };
  return detail::handle_of<X>(detail::fill_numbered<T>(pool, detail::described<X>(pool), fill));
}

/// Returns an empty cache, or a nest of them; see `attention_cache`.
///
///     auto caches = nn::empty_cache<std::array<nn::cache_for<Block, X, 512>, 6>>(pool);
template <class Cache>
[[nodiscard]] Cache empty_cache(const device_pool& pool) {
  return make_nest<Cache>(
      [&]<class X>(std::type_identity<X>, const leaf_path&) { return zeros<X>(pool); });
}

/// Initial values of the parameters whose names match a pattern: `make(type, key)` returns them.
///
///     nn::initial{"*.gate", [&]<class X>(std::type_identity<X>, random_key) {
///       return zeros<X>(pool);
///     }}
template <class Make>
struct initial {
  text_view pattern;
  Make make;
};
template <class Make>
initial(text_view, Make) -> initial<Make>;
template <class Make>
initial(const char*, Make) -> initial<Make>;

}  // namespace nn

namespace detail {

/// Returns the initial values of a parameter with this name.
template <class X>
[[nodiscard]] X initial_of(const device_pool& pool, random_key own, const leaf_path& path) {
  const std::string_view full_name(path.data(), path.size());
  const std::string_view name = full_name.substr(full_name.rfind('.') + 1);
  if (name == "scale" || name == "variance") return ones<X>(pool);
  if (name == "bias" || name == "shift" || name == "mean") return zeros<X>(pool);
  if (name == "table" || name == "token" || name == "positions")
    return nn::truncated_normal<X>(pool, own, 0.02);
  const nn::weight_of kind = name == "filter" ? nn::weight_of::filter
                             : name == "out"  ? nn::weight_of::merge
                                              : nn::weight_of::linear;
  const fans of = fans_of(kind, X::extents_type::value);
  return nn::truncated_normal<X>(pool, own, 1 / std::sqrt(of.in));
}

}  // namespace detail

namespace nn {

/// Returns a model for the start of training. The name of a tensor determines its initial values:
/// `scale` and `variance` have ones, `bias`, `shift` and `mean` zeros; `table`, and `token` and
/// `positions`, the learnt vectors of a vision transformer, use `truncated_normal` with standard
/// deviation 0.02, and all others use `truncated_normal` with variance 1 / fan-in, where `out` is a
/// `weight_of::merge`, `filter` a `weight_of::filter`, and all others are `weight_of::linear`. Each
/// tensor has its own key.
///
/// Other values are those of the first pattern that matches the name. Throws
/// `pattern_matches_nothing`.
///
///     auto model = nn::initialise<gpt>(pool, random_key{1});
///     auto vit = nn::initialise<vision>(pool, random_key{1}, nn::initial{"head.*", zero});
template <class Model, class... Make>
[[nodiscard]] Model initialise(const device_pool& pool, random_key seed,
                               const initial<Make>&... given) {
  std::uint64_t number = 0;
  std::array<bool, sizeof...(Make)> are_found{};
  Model made = make_nest<Model>([&]<class X>(std::type_identity<X> type, const leaf_path& path) {
    const random_key own = seed.split(number++);
    std::optional<X> chosen;
    std::size_t i = 0;
    [[maybe_unused]] const auto choose = [&](const auto& each) {
      const bool matches = name_matches(path, each.pattern);
      if (matches && !chosen) chosen.emplace(each.make(type, own));
      are_found[i] = are_found[i] || matches;
      ++i;
    };
    (choose(given), ...);
    return chosen ? std::move(*chosen) : detail::initial_of<X>(pool, own, path);
  });
  std::size_t i = 0;
  [[maybe_unused]] const auto require_found = [&](text_view pattern) {
    if (!are_found[i++])
      fail({.rule = violation::pattern_matches_nothing},
           "'" + std::string(pattern.data(), pattern.size()) + "' is the name of no tensor");
  };
  (require_found(given.pattern), ...);
  return made;
}

}  // namespace nn

}  // namespace shardwise
