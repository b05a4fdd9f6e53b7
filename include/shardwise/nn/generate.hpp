// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/host/any_factories.hpp"
#include "shardwise/host/factories.hpp"
#include "shardwise/host/host.hpp"
#include "shardwise/nn/sample.hpp"
#include "shardwise/operation/index_at.hpp"
#include "shardwise/runtime/compiled_step.hpp"
#include "shardwise/runtime/step.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shardwise {

namespace detail {

/// A prompt: tokens whose layout is a type or a value.
template <class X>
concept TokenTensor = ShardedTensor<X> || ValueOperand<X>;

/// One token for each row, `[batch, 1]`, with the layout of the prompt `[batch, positions]`.
template <class Prompt>
struct one_token {
  using type =
      sharded_tensor<typename Prompt::value_type, extents<Prompt::extents_type::value[0], 1>,
                     typename Prompt::layout_type>;
  template <class F>
  [[nodiscard]] static type make(const device_pool& pool, const Prompt&, const F& f) {
    return shardwise::generate<type>(pool, f);
  }
  static constexpr bool has_last = Prompt::extents_type::value[1] > 0;
  /// The scores of the last position.
  [[nodiscard]] static auto last(const auto& scores) {
    return index_at<1, Prompt::extents_type::value[1] - 1>(scores);
  }
};
template <ValueOperand Prompt>
struct one_token<Prompt> {
  using type = Prompt;
  template <class F>
  [[nodiscard]] static type make(const device_pool& pool, const Prompt& prompt, const F& f) {
    return shardwise::generate<typename Prompt::value_type>(
        pool, f, extents_desc{prompt.extents()[0], 1}, prompt.layout());
  }
  static constexpr bool has_last = true;
  [[nodiscard]] static auto last(const auto& scores) { return index_at<1, -1>(scores); }
};
/// Tokens that have a last position, by their type or by a layout that is a value.
template <class X>
concept PromptTensor = TokenTensor<X> && one_token<X>::has_last;

/// Refuses a token that is no element of the prompt's type, in which the model reads it.
template <class Prompt>
void require_token(std::int32_t token) {
  using T = typename Prompt::value_type;
  if (static_cast<std::int64_t>(static_cast<T>(token)) != token)
    fail({.rule = violation::number_is_out_of_range, .have = token},
         "a token that was sampled is no element of the prompt's type; its tokens may be "
         "std::int32_t");
}

/// Samples a token for each row of scores `[batch, tokens]`, with a key for each row.
template <class Scores>
[[nodiscard]] std::vector<std::int32_t> sample_rows(const Scores& scores, const nn::sampling& by,
                                                    random_key seed) {
  const std::span all = scores.elements();
  const auto width = static_cast<std::size_t>(scores.extents()[1]);
  std::vector<std::int32_t> chosen;
  chosen.reserve(static_cast<std::size_t>(scores.extents()[0]));
  for (index_t row = 0; row < scores.extents()[0]; ++row)
    chosen.push_back(static_cast<std::int32_t>(
        nn::sample(all.subspan(static_cast<std::size_t>(row) * width, width), by,
                   seed.fold_in(static_cast<std::uint64_t>(row)))));
  return chosen;
}
/// The same for a model with an error, which the compiler has reported.
[[nodiscard]] inline std::vector<std::int32_t> sample_rows(const refused_value&,
                                                           const nn::sampling&, random_key) {
  return {};
}

/// The texts from a model that returns `Scores`.
template <class Scores>
struct texts_from {
  using type = std::vector<std::vector<std::int32_t>>;
};

}  // namespace detail

namespace nn {

/// Generates `count` tokens after each row of a prompt `[batch, positions]` and returns them row by
/// row. The prompt follows the tokens that are already in the cache. `model(tokens, cache)` returns
/// scores `[batch, positions, tokens]` and appends the tokens to the cache; afterwards the cache
/// has all tokens except the last one generated.
///
/// Tokens after the first are calls of one compiled step, which is planned for the second. Besides
/// that, each allocates only its tokens and its scores, on the devices and on the host.
///
/// Random choices depend only on the key, the row and the index of the token. Meshes and layouts
/// change the result only by the rounding of the scores. A row ends with its first `end_token`, and
/// the model is not called any more when all rows have ended; until then, rows that have ended
/// append further end tokens to the cache, but not to the result. The layout of the prompt may be a
/// type or a value.
///
///     auto cache = nn::empty_cache<caches>(pool);
///     auto texts = nn::generate(pool, model, cache, prompt, 100, {.temperature = 0.7},
///     random_key{1});
template <class Model, class Cache, detail::PromptTensor Prompt>
[[nodiscard]] auto generate(const device_pool& pool, const Model& model, Cache& cache,
                            const Prompt& prompt, index_t count, const sampling& by,
                            random_key seed)
    // Named here, where the program calls, so that compilers show an error in few lines.
    -> typename detail::texts_from<decltype(model(prompt, cache))>::type {
  using token = detail::one_token<Prompt>;
  detail::require_sampling(by);
  // A count may be any number if an end token ends the texts.
  constexpr index_t longest_reserved = 4096;
  std::vector<std::vector<std::int32_t>> texts(static_cast<std::size_t>(prompt.extents()[0]));
  for (std::vector<std::int32_t>& each : texts)
    each.reserve(static_cast<std::size_t>(std::clamp<index_t>(count, 0, longest_reserved)));
  const auto has_ended = [&](const std::vector<std::int32_t>& row) {
    return by.end_token >= 0 && !row.empty() && row.back() == by.end_token;
  };
  const auto take = [&](const auto& scores, index_t n) {
    const std::vector<std::int32_t> chosen =
        detail::sample_rows(scores, by, seed.fold_in(static_cast<std::uint64_t>(n)));
    for (std::size_t row = 0; row < texts.size(); ++row)
      if (!has_ended(texts[row])) texts[row].push_back(chosen[row]);
  };
  if (count > 0) take(to_host(step(pool, [&] { return token::last(model(prompt, cache)); })), 0);
  // One program for all further tokens.
  auto next_scores = step([&](Cache& kept, const typename token::type& next) {
    return index_at<1, 0>(model(next, kept));
  });
  for (index_t n = 1; n < count && !std::all_of(texts.begin(), texts.end(), has_ended); ++n) {
    for (const std::vector<std::int32_t>& row : texts) detail::require_token<Prompt>(row.back());
    const auto next = token::make(pool, prompt, [&](const global_index& at) {
      return static_cast<typename Prompt::value_type>(
          texts[static_cast<std::size_t>(at[0])].back());
    });
    take(to_host(next_scores(cache, next)), n);
  }
  return texts;
}
/// Error: the model is not const or not called as `model(tokens, cache)`, or the type of the prompt
/// does not say that it has a position.
template <class Model, class Cache, detail::TokenTensor Prompt, std::convertible_to<random_key> Key>
std::vector<std::vector<std::int32_t>> generate(const device_pool&, const Model&, Cache&,
                                                const Prompt&, index_t, const sampling&,
                                                const Key&) {
  constexpr bool has_last_position = detail::one_token<Prompt>::has_last;
  static_assert(has_last_position,
                "a prompt has a position at least, and their number is known to the compiler");
  static_assert(!has_last_position,
                "a model that generates is const and called as model(tokens, cache)");
  return {};
}

}  // namespace nn

}  // namespace shardwise
