// SPDX-License-Identifier: BSL-1.0
// Rows of the table of operations under every combination of layouts, against one device and loops.
#pragma once

#include "property/every_owner.hpp"
#include "property/operation_row.hpp"
#include "property/round_trip.hpp"
#include "support/catch.hpp"
#include "support/watched.hpp"
#include <shardwise/engine/lower.hpp>

#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace generated {

using support::is_watched;

/// A tensor whose distinct shards are filled one by one, and the values that it stands for.
struct filled_operand {
  row_tensor tensor;
  host_array value;
};

inline filled_operand fill_operand(const device_pool& pool, const row_operand& operand,
                                   const layout_desc& layout, std::uint64_t seed) {
  return with_element(operand.type, [&]<class T>(std::type_identity<T>) {
    auto place = pool.state()->place(tensor_desc{element_of<T>, operand.extents, layout});
    const shard_table& where = *place;
    host_array value(operand.extents, operand.type);
    std::vector<bool> seen(value.values.size(), false);
    numbers random(seed);
    // Numbers belong to elements, not to shards; terms of a pending reduction all differ.
    std::vector<double> drawn;
    for (index_t i = 0; i < value.size(); ++i) drawn.push_back(operand.numbers_of(random));
    std::vector<shard_buffer<T>> shards;
    for (index_t s = 0; s < where.count(); ++s) {
      const held_box part = where.held_by(where.device_of(s));
      shard_buffer<T> shard(pool.state()->storage(), element_count(extents_of(part)));
      std::vector<index_t> at(operand.extents.size(), 0);
      for (index_t i = 0; i < shard.size(); ++i) {
        std::vector<index_t> global;
        for (std::size_t d = 0; d < at.size(); ++d)
          global.push_back(part[static_cast<int>(d)].global(at[d]));
        const auto p = static_cast<std::size_t>(value.place_of(global));
        const double number = seen[p] ? operand.numbers_of(random) : drawn[p];
        shard.writable()[i] = static_cast<T>(number);
        const auto term = static_cast<double>(static_cast<T>(number));
        double& into = value.values[p];
        if (!seen[p])
          into = term;
        else if (layout.kind == reduction::sum)
          into += term;
        else if (layout.kind == reduction::product)
          into *= term;
        else
          into = layout.kind == reduction::max ? std::max(into, term) : std::min(into, term);
        seen[p] = true;
        for (std::size_t d = at.size(); d-- > 0;) {
          if (++at[d] < part[static_cast<int>(d)].size()) break;
          at[d] = 0;
        }
      }
      shards.push_back(where.is_here(s) ? shard : shard_buffer<T>());
    }
    auto made = std::make_shared<tensor_node>(pool.state(), std::move(place), shards);
    made->charge(pool.state()->memory());
    return filled_operand{internal::handle_of<any_tensor<T>>(std::move(made)), value};
  });
}

/// The same values held whole by every device.
inline row_tensor hold_whole(const device_pool& pool, const host_array& value) {
  return with_element(value.type, [&]<class T>(std::type_identity<T>) -> row_tensor {
    layout_desc whole;
    whole.dims.resize(value.extents.size());
    // No vector of truth values: it has no elements.
    const auto all = std::make_unique<T[]>(value.values.size());
    for (std::size_t i = 0; i < value.values.size(); ++i) all[i] = static_cast<T>(value.values[i]);
    return distribute(pool, std::span<const T>(all.get(), value.values.size()), value.extents,
                      whole);
  });
}

/// The elements of a tensor, its pending reductions finished first.
inline host_array host_value(const row_tensor& x) {
  return with_element(x.type(), [&]<class T>(std::type_identity<T>) {
    layout_desc whole = x.tensor().layout;
    whole.pending = 0;
    whole.kind = reduction::sum;
    const auto host = to_host(reshard(x.as<T>(), whole));
    host_array out(x.tensor().extents, x.type());
    index_t next = 0;
    for (const T element : host.elements()) out[next++] = static_cast<double>(element);
    return out;
  });
}

/// True if numbers are the same: their bits where nothing is allowed, but for the sign of zeros if
/// `one_zero`; NaN is NaN.
inline bool same_number(double a, double b, double allowed, bool one_zero) {
  if (a != a || b != b) return a != a && b != b;
  if (allowed == 0 && !one_zero)
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  return a == b || std::abs(a - b) <= allowed * std::max(1.0, std::abs(b));
}

inline void require_same(const row_arrays& got, const row_arrays& want, double allowed,
                         bool one_zero) {
  require(got.size() == want.size());
  for (std::size_t r = 0; r < got.size(); ++r) {
    require(got[r].extents == want[r].extents);
    require(got[r].type == want[r].type);
    for (index_t i = 0; i < got[r].size(); ++i)
      if (!same_number(got[r][i], want[r][i], allowed, one_zero))
        require(false, "result " + std::to_string(r) + ", element " + std::to_string(i) + ": " +
                           std::to_string(got[r][i]) + " instead of " + std::to_string(want[r][i]));
  }
}

/// Rules by which operations refuse layouts. Any other refusal is a failure of the row.
inline bool is_about_layouts(violation rule) {
  static const std::set<violation> rules{
      violation::operand_layouts_conflict,  violation::axis_would_split_twice,
      violation::dimension_is_split,        violation::split_would_move,
      violation::partial_value_is_read,     violation::pending_axes_differ,
      violation::pending_axis_meets_itself, violation::axis_is_mapped};
  return rules.count(rule) != 0;
}

/// A pool of one device, on whose mesh there is nothing to split.
inline const device_pool& one_device() {
  static const device_pool pool(
      [] {
        mesh_desc mesh;
        for (const char* axis : {"x", "y", "z"}) mesh.axes.push_back({short_name(axis), 1});
        return mesh;
      }(),
      1);
  return pool;
}

/// What a row gives on operands that one device holds, which must be what its loop gives.
inline row_arrays on_one_device(const operation_row& row, const row_arrays& operands) {
  row_tensors held;
  for (const host_array& value : operands) held.push_back(hold_whole(one_device(), value));
  row_arrays results;
  for (const row_tensor& result : row.apply(held)) results.push_back(host_value(result));
  require_same(results, row.loop(operands), row.error, false);
  return results;
}

/// A function of the values of a row's operands that is computed once for the same values, since
/// they are the same under most layouts. Threads may share it.
class remembered {
 public:
  using function = std::function<row_arrays(const row_arrays&)>;
  explicit remembered(function computed) : compute_(std::move(computed)) {}

  row_arrays operator()(const row_arrays& operands) const {
    std::string bits;  // NaN has no order, its bits have
    for (const host_array& x : operands)
      bits.append(reinterpret_cast<const char*>(x.values.data()), x.values.size() * sizeof(double));
    const std::lock_guard hold(lock_);
    const auto found = known_.find(bits);
    return found != known_.end() ? found->second
                                 : known_.emplace(bits, compute_(operands)).first->second;
  }

 private:
  function compute_;
  mutable std::mutex lock_;
  mutable std::map<std::string, row_arrays> known_;
};

/// Applies a row to operands under these layouts and returns its results, unless it refuses them:
/// then none. The ledger of the program equals the counters of its run, and the results those of
/// one device.
inline std::optional<row_arrays> agrees(const device_pool& pool, const operation_row& row,
                                        const std::vector<layout_desc>& layouts,
                                        const remembered& expected) {
  row_tensors spread;
  row_arrays operands;
  bool pending = false;
  for (std::size_t o = 0; o < row.operands.size(); ++o) {
    const filled_operand x = fill_operand(pool, row.operands[o], layouts[o], o + 1);
    spread.push_back(x.tensor);
    operands.push_back(x.value);
    pending = pending || layouts[o].pending != 0;
  }
  row_tensors made;
  try {
    made = row.apply(spread);
  } catch (const error& refusal) {
    require(is_about_layouts(refusal.code()), refusal.what());
    return std::nullopt;
  }
  std::vector<tensor_node*> roots;
  for (const row_tensor& result : made) {
    pending = pending || result.tensor().layout.pending != 0;
    roots.push_back(result.share().get());
  }
  const cost_ledger planned = [&] {
    const lowered_program program = lower(roots);
    require_round_trip(program.view());
    return summarize(pool.mesh(), program.steps.data(), program.lives.data(),
                     static_cast<std::int32_t>(program.steps.size()));
  }();
  pool.reset_counters();
  run_program(roots);
  require(costs(pool, planned));
  row_arrays results;
  for (const row_tensor& result : made) results.push_back(host_value(result));
  require_same(results, expected(operands), row.rounding, pending);
  return results;
}

/// How layouts of operands are chosen on one mesh: all combinations, or so many at random.
struct layout_choice {
  std::vector<index_t> mesh;
  int at_random = 0;
  std::vector<grain> grains{};
};

/// All combinations of contiguous layouts on meshes of one and two axes, some on three axes, and
/// some with blocks distributed round-robin.
inline const std::vector<layout_choice>& layout_choices() {
  static const std::vector<layout_choice> all{{{2}},
                                              {{3, 2}, 400},
                                              {{2, 1}, 60},
                                              {{2, 2, 2}, 250},
                                              {{3, 2}, 250, {grain::cyclic(1), grain::cyclic(2)}},
                                              {{2, 1}, 100, {grain::cyclic(1), grain::cyclic(2)}}};
  return all;
}

/// How many combinations of layouts are tried of those that are chosen at random: a sixteenth of
/// them shows a sanitizer the same code.
[[nodiscard]] constexpr int tries(const layout_choice& choice) {
  if (!is_watched) return choice.at_random;
  return choice.at_random == 0 ? 16 : (choice.at_random + 15) / 16;
}

/// How many of the combinations two and three owners try.
inline constexpr std::size_t tries_of_owners = is_watched ? 2 : 3;

/// How many combinations of layouts a row allows on a mesh. `check(pool, row, layouts)` throws
/// where one does not agree, and returns its results, or none if the row refuses the layouts. Two
/// and three owners of the devices get the same bits of some of the combinations that are allowed.
using row_check = std::function<std::optional<row_arrays>(const device_pool&, const operation_row&,
                                                          const std::vector<layout_desc>&)>;
inline int agreements(const operation_row& row, const layout_choice& choice,
                      const row_check& check) {
  mesh_desc used = meshes({choice.mesh}).front();
  // Rows name the axes x, y and z, whatever there is to split.
  mesh_desc mesh = used;
  for (std::size_t a = choice.mesh.size(); a < 3; ++a)
    mesh.axes.push_back({short_name(text_view(&"xyz"[a], 1)), 1});
  std::vector<std::vector<layout_desc>> all;
  std::size_t combinations = 1;
  for (const row_operand& operand : row.operands) {
    std::vector<layout_desc> mine;
    for (const layout_desc& layout :
         grained_layouts(used, operand.extents.ssize(), true, choice.grains))
      if (layout.pending == 0 || operand.type != element::boolean) {
        mine.push_back(layout);
        if (layout.pending != 0) mine.back().kind = row.pending;
      }
    combinations *= mine.size();
    all.push_back(std::move(mine));
  }
  const auto pick = [&](std::size_t number) {
    std::vector<layout_desc> chosen;
    for (const auto& mine : all) {
      chosen.push_back(mine[number % mine.size()]);
      number /= mine.size();
    }
    return chosen;
  };
  const auto try_one = [&](const device_pool& pool, std::size_t number) {
    const std::vector<layout_desc> chosen = pick(number);
    try {
      return check(pool, row, chosen);
    } catch (const std::exception& failure) {
      std::string words = row.name;
      for (std::size_t o = 0; o < chosen.size(); ++o)
        words += std::string(" ") +
                 to_text(mesh, {row.operands[o].type, row.operands[o].extents, chosen[o]}).c_str();
      throw std::logic_error(words + ": " + failure.what());
    }
  };
  std::vector<std::size_t> tried;
  const int at_random = tries(choice);
  if (at_random == 0 || combinations <= static_cast<std::size_t>(at_random)) {
    for (std::size_t number = 0; number < combinations; ++number) tried.push_back(number);
  } else {
    numbers random(combinations);
    tried.push_back(0);
    // All layouts at random rarely go together: a quarter split or pend one operand alone.
    std::size_t operand = 0, step = 1;
    for (int i = 0; i < at_random; ++i) {
      if (i % 4 != 0) {
        tried.push_back(static_cast<std::size_t>(random.below(static_cast<index_t>(combinations))));
        continue;
      }
      const std::size_t layouts = all[operand].size();
      tried.push_back(step * static_cast<std::size_t>(random.below(static_cast<index_t>(layouts))));
      step = operand + 1 < all.size() ? step * layouts : 1;
      operand = (operand + 1) % all.size();
    }
  }
  std::vector<std::pair<std::size_t, row_arrays>> allowed;
  {
    const device_pool pool(mesh, 2);
    for (const std::size_t number : tried)
      if (std::optional<row_arrays> results = try_one(pool, number))
        allowed.emplace_back(number, std::move(*results));
  }
  const std::size_t stride = allowed.size() / tries_of_owners + 1;
  for_several_owners(mesh, [&](const device_pool& pool) {
    for (std::size_t i = stride / 2; i < allowed.size(); i += stride) {
      const std::optional<row_arrays> results = try_one(pool, allowed[i].first);
      require(results.has_value(), row.name);
      require_same(*results, allowed[i].second, 0, false);
    }
  });
  return static_cast<int>(allowed.size());
}

/// Checks rows under choices of layouts. Each is allowed somewhere beyond the whole tensor.
inline void check_rows(const std::vector<operation_row>& rows,
                       const std::vector<layout_choice>& choices = layout_choices()) {
  for (const operation_row& row : support::sampled_if_quick(rows, 2)) {
    const remembered expected([&](const row_arrays& held) { return on_one_device(row, held); });
    const row_check check = [&](const device_pool& pool, const operation_row& checked,
                                const std::vector<layout_desc>& layouts) {
      return agrees(pool, checked, layouts, expected);
    };
    int allowed = 0;
    for (const layout_choice& choice : choices) allowed += agreements(row, choice, check);
    INFO(row.name);
    REQUIRE(allowed >= static_cast<int>(choices.size()) + (is_watched ? 0 : 1));
  }
}

}  // namespace generated
