// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/data/gathered_batch.hpp"
#include "shardwise/data/row_tensor.hpp"
#include "shardwise/host/owner_rows.hpp"
#include "shardwise/tensor/any_tensor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise::detail {

/// The tensors that are made of the fields of a batch: their elements, extents and layouts, the
/// number of rows being `dyn` or that of every batch.
class batch_layouts {
 public:
  /// Checks the tensors of a full batch, and of the last one.
  batch_layouts(std::shared_ptr<pool_state> home, std::vector<tensor_desc> tensors,
                const epoch_plan& plan, int batchdim);

  [[nodiscard]] const std::shared_ptr<pool_state>& home() const noexcept { return home_; }
  [[nodiscard]] int batchdim() const noexcept { return batchdim_; }
  /// Returns the extents of a row of a field.
  [[nodiscard]] extents_desc row(std::size_t field) const {
    return without_dimension(tensors_[field].extents, batchdim_);
  }
  /// Returns the tensor of a field in a batch of so many rows, whose extents are `row`.
  [[nodiscard]] tensor_desc tensor(std::size_t field, const extents_desc& row, index_t rows) const {
    return {tensors_[field].type, with_dimension(row, batchdim_, rows), tensors_[field].layout};
  }
  /// Returns true for the rows of a batch of which this process needs the samples.
  [[nodiscard]] std::vector<bool> needed(index_t rows) const;

 private:
  std::shared_ptr<pool_state> home_;
  std::vector<tensor_desc> tensors_;
  int batchdim_;
};

inline batch_layouts::batch_layouts(std::shared_ptr<pool_state> home,
                                    std::vector<tensor_desc> tensors, const epoch_plan& plan,
                                    int batchdim)
    : home_(std::move(home)), tensors_(std::move(tensors)), batchdim_(batchdim) {
  for (std::size_t f = 0; f < tensors_.size(); ++f) {
    const extents_desc& extents = tensors_[f].extents;
    if (extents.ssize() <= batchdim_)
      fail({.rule = violation::dimension_is_out_of_range,
            .operand = static_cast<int>(f),
            .have = batchdim_,
            .want = extents.ssize()},
           "batchdim is a dimension of every tensor of a batch");
    const auto check = [&](index_t rows, const char* which) {
      if (extents[batchdim_] != dyn && extents[batchdim_] != rows)
        fail({.rule = violation::host_size_differs,
              .operand = static_cast<int>(f),
              .dim = batchdim_,
              .have = rows,
              .want = extents[batchdim_]},
             which);
      extents_desc known = tensor(f, row(f), rows).extents;
      for (index_t& extent : known)
        if (extent == dyn) return;
      require(check_known(home_->mesh(), tensors_[f].layout, known));
    };
    check(plan.batch, "the number of samples in a batch is an extent of its tensors, or dyn");
    if (plan.last == remaining_samples::kept && plan.samples % plan.batch != 0)
      check(plan.samples % plan.batch,
            "the last batch is smaller: drop or pad it, or let the extent of its tensors be dyn");
  }
}

inline std::vector<bool> batch_layouts::needed(index_t rows) const {
  const owner_link* const link = home_->link();
  std::vector<bool> all(static_cast<std::size_t>(rows), link == nullptr);
  if (link == nullptr) return all;
  for (const tensor_desc& tensor : tensors_) {
    const owner_rows owned(home_->mesh(), tensor.layout, link->owners());
    if (batchdim_ != 0 || !owned.verdict().ok()) return std::vector<bool>(all.size(), true);
    for (const index_range& range : owned.of(link->self(), rows))
      for (index_t row = range.begin; row < range.end; ++row)
        all[static_cast<std::size_t>(row)] = true;
  }
  return all;
}

/// Makes one tensor of a field of a batch; `field_of(sample)` returns the field.
template <class T, class Stream, class FieldOf>
[[nodiscard]] node_ptr make_field(const batch_layouts& to, const gathered_batch<Stream>& from,
                                  std::size_t field, index_t rows, const FieldOf& field_of) {
  using U = field_element<decltype(field_of(std::declval<const sample_type<Stream>&>()))>;
  extents_desc row = to.row(field);
  std::vector<host_block<U>> blocks(from.samples.size());
  for (std::size_t r = 0; r < blocks.size(); ++r) {
    if (!from.samples[r]) continue;
    blocks[r] = row_of_field(field_of(**from.samples[r]), row.ssize());
    shape_row(blocks[r], row, field, from.samples[r]->index());
    // All rows of a batch have the extents of its first.
    row = blocks[r].view.extents;
  }
  const auto row_at = [&](index_t r) {
    return r < static_cast<index_t>(blocks.size()) ? &blocks[static_cast<std::size_t>(r)].view
                                                   : nullptr;
  };
  return internal::make_filled<T>(
      to.home(), to.tensor(field, row, rows),
      [&](const held_box& part, const strided<T>& block) {
        fill_from_rows<T, U>(part, block, to.batchdim(), row_at);
      },
      internal::filled_by::caller);
}

/// Makes the mask of a batch: 1 for its samples, 0 for rows that are padded.
template <class T>
[[nodiscard]] node_ptr make_mask(const batch_layouts& to, std::size_t field, index_t samples,
                                 index_t rows) {
  return internal::make_filled<T>(
      to.home(), to.tensor(field, to.row(field), rows),
      [&](const held_box& part, const strided<T>& block) {
        internal::for_each_run(part, [&](const global_index& at, index_t place, index_t count) {
          const bool counts_rows = to.batchdim() == part.ssize() - 1;
          for (index_t i = 0; i < count; ++i)
            block.data[place + i] =
                static_cast<T>(at[to.batchdim()] + (counts_rows ? i : 0) < samples ? 1 : 0);
        });
      },
      internal::filled_by::caller);
}

/// Makes the tensors `X...` of the batches of a stream: one for each field, and the mask.
template <class Stream, bool IsPadded, class... X>
class batch_tensors {
 public:
  using sample = sample_type<Stream>;
  /// What a loop receives: one tensor, or a tuple of several.
  using value = std::conditional_t<sizeof...(X) == 1, std::tuple_element_t<0, std::tuple<X...>>,
                                   std::tuple<X...>>;

  explicit batch_tensors(batch_layouts to) : to_(std::move(to)) {}

  [[nodiscard]] const batch_layouts& layouts() const noexcept { return to_; }

  [[nodiscard]] value make(const gathered_batch<Stream>& from, const epoch_plan& plan) const {
    const index_t rows = plan.padded_rows(from.number);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return value{internal::handle_of<X>(make_part<I, typename X::value_type>(from, rows))...};
    }
    (std::index_sequence_for<X...>());
  }
  /// Calls `f(node)` for each tensor of a batch.
  template <class F>
  static void for_each_node(const value& batch, const F& f) {
    if constexpr (sizeof...(X) == 1)
      f(batch.share());
    else
      std::apply([&](const X&... each) { (f(each.share()), ...); }, batch);
  }

 private:
  static constexpr std::size_t fields = sizeof...(X) - (IsPadded ? 1 : 0);

  template <std::size_t I, class T>
  [[nodiscard]] node_ptr make_part(const gathered_batch<Stream>& from, index_t rows) const {
    if constexpr (I == fields)
      return make_mask<T>(to_, I, from.rows, rows);
    else
      return make_field<T>(to_, from, I, rows, [](const sample& s) -> decltype(auto) {
        return (std::get<I>(fields_of(s)));
      });
  }

  batch_layouts to_;
};

/// Makes tensors of the same keys of samples that are maps of blocks.
template <class Stream, bool IsPadded>
class batch_maps {
 public:
  using sample = sample_type<Stream>;
  using T = field_element<typename sample::mapped_type>;
  using value = std::map<std::string, any_tensor<T>>;

  batch_maps(batch_layouts to, std::vector<std::string> keys)
      : to_(std::move(to)), keys_(std::move(keys)) {}

  [[nodiscard]] const batch_layouts& layouts() const noexcept { return to_; }

  [[nodiscard]] value make(const gathered_batch<Stream>& from, const epoch_plan& plan) const {
    const index_t rows = plan.padded_rows(from.number);
    for (const auto& held : from.samples)
      if (held && (**held).size() != keys_.size() - (IsPadded ? 1 : 0))
        fail({.rule = violation::sample_differs,
              .have = static_cast<index_t>((**held).size()),
              .want = static_cast<index_t>(keys_.size() - (IsPadded ? 1 : 0))},
             "sample " + std::to_string(held->index()) + " has other keys than the first one");
    value made;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      const bool is_mask = IsPadded && k + 1 == keys_.size();
      made.emplace(keys_[k], internal::handle_of<any_tensor<T>>(
                                 is_mask ? make_mask<T>(to_, k, from.rows, rows)
                                         : make_field<T>(to_, from, k, rows, at_key{keys_[k]})));
    }
    return made;
  }
  template <class F>
  static void for_each_node(const value& batch, const F& f) {
    for (const auto& [key, tensor] : batch) f(tensor.share());
  }

 private:
  struct at_key {
    const std::string& key;
    const typename sample::mapped_type& operator()(const sample& s) const {
      const auto found = s.find(key);
      if (found == s.end())
        fail({.rule = violation::sample_differs}, "a sample lacks the key '" + key + "'");
      return found->second;
    }
  };

  batch_layouts to_;
  std::vector<std::string> keys_;
};

}  // namespace shardwise::detail
