// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/name_pattern.hpp"
#include "shardwise/host/any_factories.hpp"
#include "shardwise/host/factories.hpp"
#include "shardwise/nn/attention_cache.hpp"
#include "shardwise/nn/make_nest.hpp"
#include "shardwise/nn/parameters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
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

/// Returns random numbers after applying `change(x)`. Narrow elements are rounded at the end, since
/// numbers from 0 to 1 that are rounded have another mean.
template <class X, class Fill, class Change>
[[nodiscard]] X drawn(const device_pool& pool, const tensor_desc& tensor, const Fill& fill_row,
                      const Change& change) {
  using T = typename X::value_type;
  const auto fill = [&](std::uint64_t first, T* row, index_t count) {
    std::array<compute_type<T>, 256> wide;
    for (index_t done = 0; done < count; done += std::ssize(wide)) {
      const index_t some = std::min(count - done, index_t{std::ssize(wide)});
      fill_row(first + static_cast<std::uint64_t>(done), wide.data(), some);
      for (index_t i = 0; i < some; ++i)
        row[done + i] = static_cast<T>(static_cast<compute_type<T>>(
            change(static_cast<double>(wide[static_cast<std::size_t>(i)]))));
    }
  };
  return handle_of<X>(fill_numbered<T>(pool, tensor, fill));
}
template <class X>
[[nodiscard]] X scaled_normal(const device_pool& pool, const tensor_desc& tensor, random_key seed,
                              double deviation) {
  return drawn<X>(
      pool, tensor, [=](auto... row) { fill_normal(seed, row...); },
      [=](double x) { return x * deviation; });
}
template <class X>
[[nodiscard]] X scaled_uniform(const device_pool& pool, const tensor_desc& tensor, random_key seed,
                               double deviation) {
  const double bound = std::sqrt(3.0) * deviation;
  return drawn<X>(
      pool, tensor, [=](auto... row) { fill_uniform(seed, row...); },
      [=](double x) { return (2 * x - 1) * bound; });
}
template <class X>
[[nodiscard]] X truncated(const device_pool& pool, const tensor_desc& tensor, random_key seed,
                          double deviation) {
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
  return handle_of<X>(fill_numbered<T>(pool, tensor, fill));
}

/// The standard deviation of weights of a kind, with these extents, in each initialisation.
[[nodiscard]] inline double kaiming_deviation(nn::weight_of kind, const extents_desc& extents,
                                              double gain) {
  return gain / std::sqrt(fans_of(kind, extents).in);
}
[[nodiscard]] inline double xavier_deviation(nn::weight_of kind, const extents_desc& extents,
                                             double gain) {
  const fans of = fans_of(kind, extents);
  return gain * std::sqrt(2 / (of.in + of.out));
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
  const tensor_desc tensor = internal::described<X>(pool);
  return detail::scaled_normal<X>(pool, tensor, seed,
                                  detail::kaiming_deviation(Kind, tensor.extents, gain));
}
/// The same with a run-time layout, a `layout_desc` or a `spec_desc`, with the same bits. The
/// functions below have this form too.
///
///     auto w = nn::kaiming_normal<float>(pool, random_key{1}, extents_desc{16, 32},
///                                        spec_desc{{"", "model"}});
template <Fractional T, weight_of Kind = weight_of::linear, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> kaiming_normal(const device_pool& pool, random_key seed,
                                           const extents_desc& extents, const Target& target,
                                           double gain = std::sqrt(2.0)) {
  return detail::scaled_normal<any_tensor<T>>(pool,
                                              internal::described_as<T>(pool, extents, target),
                                              seed, detail::kaiming_deviation(Kind, extents, gain));
}
/// Returns uniform weights with the same variance.
template <ShardedTensor X, weight_of Kind = weight_of::linear>
[[nodiscard]] X kaiming_uniform(const device_pool& pool, random_key seed,
                                double gain = std::sqrt(2.0)) {
  const tensor_desc tensor = internal::described<X>(pool);
  return detail::scaled_uniform<X>(pool, tensor, seed,
                                   detail::kaiming_deviation(Kind, tensor.extents, gain));
}
template <Fractional T, weight_of Kind = weight_of::linear, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> kaiming_uniform(const device_pool& pool, random_key seed,
                                            const extents_desc& extents, const Target& target,
                                            double gain = std::sqrt(2.0)) {
  return detail::scaled_uniform<any_tensor<T>>(
      pool, internal::described_as<T>(pool, extents, target), seed,
      detail::kaiming_deviation(Kind, extents, gain));
}
/// Returns normal weights with the variance `2 / (in + out)` of fan-in and fan-out (Xavier).
template <ShardedTensor X, weight_of Kind = weight_of::linear>
[[nodiscard]] X xavier_normal(const device_pool& pool, random_key seed, double gain = 1) {
  const tensor_desc tensor = internal::described<X>(pool);
  return detail::scaled_normal<X>(pool, tensor, seed,
                                  detail::xavier_deviation(Kind, tensor.extents, gain));
}
template <Fractional T, weight_of Kind = weight_of::linear, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> xavier_normal(const device_pool& pool, random_key seed,
                                          const extents_desc& extents, const Target& target,
                                          double gain = 1) {
  return detail::scaled_normal<any_tensor<T>>(pool,
                                              internal::described_as<T>(pool, extents, target),
                                              seed, detail::xavier_deviation(Kind, extents, gain));
}
/// Returns uniform weights with the same variance.
template <ShardedTensor X, weight_of Kind = weight_of::linear>
[[nodiscard]] X xavier_uniform(const device_pool& pool, random_key seed, double gain = 1) {
  const tensor_desc tensor = internal::described<X>(pool);
  return detail::scaled_uniform<X>(pool, tensor, seed,
                                   detail::xavier_deviation(Kind, tensor.extents, gain));
}
template <Fractional T, weight_of Kind = weight_of::linear, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> xavier_uniform(const device_pool& pool, random_key seed,
                                           const extents_desc& extents, const Target& target,
                                           double gain = 1) {
  return detail::scaled_uniform<any_tensor<T>>(pool,
                                               internal::described_as<T>(pool, extents, target),
                                               seed, detail::xavier_deviation(Kind, extents, gain));
}
/// Returns normal numbers with this standard deviation, truncated at two standard deviations:
/// numbers beyond are drawn again. The standard deviation of the result is 0.88 times as large.
template <ShardedTensor X>
[[nodiscard]] X truncated_normal(const device_pool& pool, random_key seed, double deviation) {
  return detail::truncated<X>(pool, internal::described<X>(pool), seed, deviation);
}
template <Fractional T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> truncated_normal(const device_pool& pool, random_key seed,
                                             double deviation, const extents_desc& extents,
                                             const Target& target) {
  return detail::truncated<any_tensor<T>>(pool, internal::described_as<T>(pool, extents, target),
                                          seed, deviation);
}

/// Returns an empty cache, or a nest of them; see `attention_cache`.
///
///     auto caches = nn::empty_cache<std::array<nn::cache_for<Block, X, 512>, 6>>(pool);
template <class Cache>
[[nodiscard]] Cache empty_cache(const device_pool& pool) {
  return make_nest<Cache>(
      [&]<class X>(std::type_identity<X>, const leaf_path&) { return zeros<X>(pool); });
}

/// Returns the empty cache of a module of tensors with run-time layouts, an attention or a block
/// that contains one, for inputs like `x`, `[batch, positions, width]`, and a total of `capacity`
/// positions. Its heads are split as in the weights, its batch as in `x`.
///
///     auto cache = nn::empty_cache(pool, block, x, 512);      // of any_tensor<float>
template <class Module, EitherOperand X>
[[nodiscard]] auto empty_cache(const device_pool& pool, const Module& module, const X& x,
                               index_t capacity) {
  if constexpr (!detail::HasCache<Module>) {
    static_assert(detail::HasCache<Module>,
                  "a cache belongs to an nn::attention, or to a module that contains one: an "
                  "nn::transformer_block, or one of the two in nn::between");
  } else if constexpr (!ValueOperand<X> &&
                       !ValueOperand<typename detail::cached_part<Module>::key_type>) {
    constexpr bool layouts_are_values = ValueOperand<X>;
    static_assert(layouts_are_values,
                  "the cache of a module whose layouts are types is created from its type, "
                  "nn::empty_cache<nn::cache_for<Module, X, Capacity>>(pool)");
  } else {
    return detail::cached_part<Module>::call(
        module, x, [&](const auto& input, const auto& key, const auto& value) {
          const auto empty = [&](const auto& weight) {
            // Only its description is read, and it is not computed.
            const auto made = einsum<"bsd,dhe->bhse">(input, weight);
            using T = typename std::remove_cvref_t<decltype(made)>::value_type;
            tensor_desc wanted = made.tensor();
            wanted.extents[2] = capacity;
            return zeros<T>(pool, wanted.extents, wanted.layout);
          };
          auto keys = empty(key);
          auto values = empty(value);
          return attention_cache<decltype(keys), decltype(values)>{
              std::move(keys), std::move(values),
              zeros<std::int32_t>(pool, extents_desc{}, layout_desc{})};
        });
  }
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
[[nodiscard]] X initial_of(const device_pool& pool, const tensor_desc& tensor, random_key own,
                           const leaf_path& path) {
  using T = typename X::value_type;
  const std::string_view full_name(path.data(), path.size());
  const std::string_view name = full_name.substr(full_name.rfind('.') + 1);
  const auto filled = [&](int value) { return handle_of<X>(fill_value<T>(pool, tensor, value)); };
  if (name == "scale" || name == "variance") return filled(1);
  if (name == "bias" || name == "shift" || name == "mean") return filled(0);
  if (name == "table" || name == "token" || name == "positions")
    return truncated<X>(pool, tensor, own, 0.02);
  const nn::weight_of kind = name == "filter" ? nn::weight_of::filter
                             : name == "out"  ? nn::weight_of::merge
                                              : nn::weight_of::linear;
  return truncated<X>(pool, tensor, own, 1 / std::sqrt(fans_of(kind, tensor.extents).in));
}

/// Returns the initial values of one tensor after another, each with a key of its own, and knows
/// which patterns have matched.
template <class... Make>
class initialiser {
 public:
  initialiser(const device_pool& pool, random_key seed, const nn::initial<Make>&... given)
      : pool_(pool), seed_(seed), given_(given...) {}

  /// `of` is the first argument of a pattern's function: the type of the tensor, or the tensor
  /// itself.
  template <class X, class Of>
  [[nodiscard]] X next(const tensor_desc& tensor, const Of& of, const leaf_path& path) {
    const random_key own = seed_.split(number_++);
    std::optional<X> chosen;
    std::size_t i = 0;
    [[maybe_unused]] const auto choose = [&](const auto& each) {
      const bool matches = name_matches(path, each.pattern);
      if (matches && !chosen) chosen.emplace(made<X>(each.make, of, own));
      are_found_[i] = are_found_[i] || matches;
      ++i;
    };
    std::apply([&](const auto&... each) { (choose(each), ...); }, given_);
    return chosen ? std::move(*chosen) : initial_of<X>(pool_, tensor, own, path);
  }
  /// Throws `pattern_matches_nothing` for the first pattern that has not matched.
  void require_found() const {
    std::size_t i = 0;
    [[maybe_unused]] const auto require_one = [&](text_view pattern) {
      if (!are_found_[i++])
        fail({.rule = violation::pattern_matches_nothing},
             "'" + std::string(pattern.data(), pattern.size()) + "' is the name of no tensor");
    };
    std::apply([&](const auto&... each) { (require_one(each.pattern), ...); }, given_);
  }

 private:
  template <class X, class One, class Of>
  [[nodiscard]] static X made(const One& make, const Of& of, random_key own) {
    if constexpr (std::is_invocable_v<const One&, const Of&, random_key>)
      return make(of, own);
    else
      return make(std::type_identity<X>{}, own);
  }

  const device_pool& pool_;
  random_key seed_;
  std::tuple<const nn::initial<Make>&...> given_;
  std::uint64_t number_ = 0;
  std::array<bool, sizeof...(Make)> are_found_{};
};

}  // namespace detail

namespace nn {

/// Returns a model for the start of training. The name of a tensor determines its initial values:
/// `scale` and `variance` have ones, `bias`, `shift` and `mean` zeros; `table`, and `token` and
/// `positions`, the learnt vectors of a vision transformer, use `truncated_normal` with standard
/// deviation 0.02, and all others use `truncated_normal` with variance 1 / fan-in, where `out` is a
/// `weight_of::merge`, `filter` a `weight_of::filter`, and all others are `weight_of::linear`. Each
/// tensor has its own key.
///
/// Other values are those of the first pattern that matches the name. Members that are not tensors
/// have their default values; they follow the tensors of their aggregate. Throws
/// `pattern_matches_nothing`.
///
///     auto model = nn::initialise<gpt>(pool, random_key{1});
///     auto vit = nn::initialise<vision>(pool, random_key{1}, nn::initial{"head.*", zero});
template <class Model, class... Make>
[[nodiscard]] Model initialise(const device_pool& pool, random_key seed,
                               const initial<Make>&... given) {
  detail::require_defaults<Model>();
  detail::initialiser<Make...> values(pool, seed, given...);
  Model made = make_nest<Model>([&]<class X>(std::type_identity<X> type, const leaf_path& path) {
    return values.template next<X>(internal::described<X>(pool), type, path);
  });
  values.require_found();
  return made;
}

/// The same for the tensors of a model that exists, whose extents and layouts do not change: for
/// tensors with run-time layouts, and for vectors of modules. Tensors of the same names, extents
/// and order have the same bits. `make` of a pattern is called with the tensor and the key, if it
/// can be, or else with the type and the key.
///
///     nn::linear<any_tensor<float>> layer{
///         zeros<float>(pool, extents_desc{16, 32}, spec_desc{{"", "model"}})};
///     layer = nn::initialise(pool, random_key{1}, std::move(layer));
template <class Model, class... Make>
[[nodiscard]] Model initialise(const device_pool& pool, random_key seed, Model model,
                               const initial<Make>&... given) {
  detail::initialiser<Make...> values(pool, seed, given...);
  for_each_parameter(model, [&]<class X>(const leaf_path& path, X& x) {
    internal::require_pool(pool.mesh(), x.mesh());
    x = values.template next<X>(x.share()->tensor(), std::as_const(x), path);
  });
  values.require_found();
  return model;
}

}  // namespace nn

}  // namespace shardwise
