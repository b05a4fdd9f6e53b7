// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/data/batch_loader.hpp"
#include "shardwise/layout/input_sharding.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// Returns the extents of the rows of a sample, by field.
template <class S>
[[nodiscard]] std::vector<extents_desc> rows_of_sample(const S& sample) {
  std::vector<extents_desc> rows;
  const auto add = [&](const auto& field) {
    const auto row = row_of_field(field, 2);
    rows.push_back(row.is_run ? extents_desc{row.count} : row.view.extents);
  };
  if constexpr (SampleMap<S>)
    for (const auto& [key, field] : sample) add(field);
  else
    std::apply([&](const auto&... fields) { (add(fields), ...); }, fields_of(sample));
  return rows;
}

/// Gives rows whose extents are `dyn` those of the first sample, which a process without rows of a
/// batch does not see.
template <class S>
void learn_rows(std::vector<tensor_desc>& tensors, int batchdim, const S& sample) {
  std::size_t number = 0;
  std::apply(
      [&](const auto&... fields) {
        const auto learn = [&](const auto& field) {
          extents_desc& extents = tensors[number].extents;
          const extents_desc row = without_dimension(extents, batchdim);
          auto block = row_of_field(field, row.ssize());
          shape_row(block, row, number++, 0);
          extents = with_dimension(block.view.extents, batchdim, extents[batchdim]);
        };
        (learn(fields), ...);
      },
      fields_of(sample));
}

/// Returns true if the elements of the fields of a sample become those of the tensors.
template <class S, class... X, std::size_t... I>
[[nodiscard]] consteval bool fields_convert(std::index_sequence<I...>) {
  using all = std::tuple<X...>;
  return (
      row_converts<typename std::tuple_element_t<I, all>::value_type, element_of_sample<S, I>> &&
      ...);
}

/// What a call that was refused returns, so that it is the only error.
struct refused_loader {
  [[nodiscard]] refused_loader prefetched(const prefetch_options&) && { return *this; }
};

/// The stage of `distribute<X...>(pool)`.
template <class... X>
struct batches_to_tensors {
  std::shared_ptr<pool_state> home;

  template <class Stream, bool IsPadded>
  [[nodiscard]] friend auto operator|(batched_samples<Stream, IsPadded> batches,
                                      const batches_to_tensors& to) {
    using sample = sample_type<Stream>;
    constexpr std::size_t fields = sizeof...(X) - (IsPadded ? 1 : 0);
    static_assert(!SampleMap<sample>,
                  "samples that are maps have keys: distribute(pool, input_sharding) takes them");
    static_assert(field_count<sample> == fields,
                  "distribute<X...>(pool) names one type of tensor for each field of a sample, and "
                  "one for the mask of padded batches");
    if constexpr (field_count<sample> == fields) {
      static_assert(fields_convert<sample, X...>(std::make_index_sequence<fields>()),
                    "numbers with fractions do not become integer elements: change the samples");
      std::vector<tensor_desc> tensors{desc_of<X>(X::extents_type::value)...};
      if constexpr (((X::extents_type::dynamic_rank > 0) || ...))
        if (batches.plan.samples > 0 &&
            std::all_of(tensors.begin(), tensors.end(), [&](const tensor_desc& each) {
              return each.extents.ssize() > batches.batchdim;
            }))
          learn_rows(tensors, batches.batchdim, batches.samples.sample(0, 0));
      using maker = batch_tensors<Stream, IsPadded, X...>;
      return batch_loader<Stream, maker>(
          std::move(batches.samples), batches.plan,
          maker(batch_layouts(to.home, std::move(tensors), batches.plan, batches.batchdim)));
    } else {
      return refused_loader();
    }
  }
};

/// The stage of `distribute(pool, sharding)`.
struct batches_by_sharding {
  std::shared_ptr<pool_state> home;
  input_sharding sharding;
  policy_desc policy;

  template <class Stream, bool IsPadded>
  [[nodiscard]] friend auto operator|(batched_samples<Stream, IsPadded> batches,
                                      const batches_by_sharding& to) {
    using sample = sample_type<Stream>;
    if (batches.plan.samples == 0)
      fail({.rule = violation::sample_differs},
           "a data set without samples does not tell the shapes of its tensors");
    const sample first = batches.samples.sample(0, 0);
    std::vector<std::string> keys;
    std::vector<element> elements;
    if constexpr (SampleMap<sample>) {
      for (const auto& [key, field] : first) {
        keys.emplace_back(key);
        elements.push_back(element_of<field_element<decltype(field)>>);
      }
    } else {
      for_each_index<field_count<sample>>([&]<std::size_t I>() {
        keys.emplace_back(key_of_field<sample>(I));
        elements.push_back(element_of<element_of_sample<sample, I>>);
      });
    }
    std::vector<extents_desc> rows = rows_of_sample(first);
    if constexpr (IsPadded) {
      if (std::find(keys.begin(), keys.end(), "mask") != keys.end())
        fail({.rule = violation::sample_differs},
             "padded batches have a tensor 'mask', and so has the sample: give its field another "
             "name");
      keys.emplace_back("mask");
      elements.push_back(SampleMap<sample> ? elements.front() : element::boolean);
      rows.emplace_back();
    }
    std::vector<text_view> names;
    names.reserve(keys.size());
    for (const std::string& key : keys) names.emplace_back(key.data(), key.size());
    require(to.sharding.check_keys(list_view<const text_view>(names.data(), names.size())));
    std::vector<tensor_desc> tensors;
    for (std::size_t f = 0; f < keys.size(); ++f) {
      const resolved_layout found =
          to.sharding.layout_of(to.home->mesh(), names[f], rows[f].ssize() + 1, to.policy);
      require(found.verdict);
      tensors.push_back(
          {elements[f], with_dimension(rows[f], batches.batchdim, dyn), found.layout});
    }
    batch_layouts layouts(to.home, std::move(tensors), batches.plan, batches.batchdim);
    if constexpr (SampleMap<sample>) {
      using maker = batch_maps<Stream, IsPadded>;
      return batch_loader<Stream, maker>(std::move(batches.samples), batches.plan,
                                         maker(std::move(layouts), std::move(keys)));
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        using maker = std::conditional_t<
            IsPadded,
            batch_tensors<Stream, true, any_tensor<element_of_sample<sample, I>>...,
                          any_tensor<bool>>,
            batch_tensors<Stream, false, any_tensor<element_of_sample<sample, I>>...>>;
        return batch_loader<Stream, maker>(std::move(batches.samples), batches.plan,
                                           maker(std::move(layouts)));
      }
      (std::make_index_sequence<field_count<sample>>());
    }
  }
};

}  // namespace detail

/// Makes tensors of the batches of a data set: one of each type for each field of a sample.
/// Dimension `batchdim` counts samples, the others are those of the field. Each process reads only
/// the samples of which its devices hold rows.
///
/// Throws `host_size_differs` if the number of samples in a batch is not the extent of a tensor,
/// and what `validate` says of these tensors; a sample with another shape throws `sample_differs`,
/// from the loop.
///
///     auto loader = samples | batch(32, last_batch::dropped) | distribute<X, Y>(pool);
template <ShardedTensor X, ShardedTensor... Rest>
[[nodiscard]] detail::batches_to_tensors<X, Rest...> distribute(const device_pool& pool) {
  internal::require_pool(pool.mesh(), X::mesh_type::value);
  (internal::require_pool(pool.mesh(), Rest::mesh_type::value), ...);
  return {pool.state()};
}

/// Makes tensors with run-time layouts: each field has the spec for its rank or its key. The keys
/// of fields are the names of the members of an aggregate, the keys of a map, or `0`, `1`, ... of a
/// tuple; a mask has the key `mask`. The first sample is read at once for the shapes of the
/// tensors.
///
/// Throws `input_has_no_sharding` if a field has no entry, and `sharding_has_no_input` if an entry
/// has no field.
///
///     const keyed_spec specs[] = {{"image", {{"data", ""}}}, {"label", {{"data"}}}};
///     auto loader = samples | batch(32, last_batch::dropped) |
///                   distribute(pool, input_sharding(list_view<const keyed_spec>(specs)));
[[nodiscard]] inline detail::batches_by_sharding distribute(const device_pool& pool,
                                                            const input_sharding& sharding,
                                                            policy_desc policy = exact{}) {
  return {pool.state(), sharding, policy};
}

}  // namespace shardwise
