// SPDX-License-Identifier: BSL-1.0
// Collectives on manual axes, compared with loops over the devices of a group: their results, their
// costs, and their gradients.
#include "property/operation_row.hpp"
#include "property/owner_outcomes.hpp"
#include "property/round_trip.hpp"
#include <shardwise/runtime/any_manual.hpp>

#include <functional>

using namespace generated;

namespace {

/// The elements of each device of a group, by position.
using blocks = std::vector<host_array>;

double reduced_in(reduction kind, double a, double b) {
  if (kind == reduction::sum) return a + b;
  if (kind == reduction::product) return a * b;
  return kind == reduction::max ? std::max(a, b) : std::min(a, b);
}
/// `count` elements of a dimension from `begin` on.
host_array part_of(const host_array& x, int dim, index_t begin, index_t count) {
  extents_desc extents = x.extents;
  extents[dim] = count;
  host_array out(extents, x.type);
  for (index_t i = 0; i < out.size(); ++i) {
    std::vector<index_t> at = out.index_of(i);
    at[static_cast<std::size_t>(dim)] += begin;
    out[i] = x.at(at);
  }
  return out;
}
host_array joined(const blocks& parts, int dim) {
  extents_desc extents = parts[0].extents;
  const index_t each = extents[dim];
  extents[dim] *= static_cast<index_t>(parts.size());
  host_array out(extents, parts[0].type);
  for (index_t i = 0; i < out.size(); ++i) {
    std::vector<index_t> at = out.index_of(i);
    index_t& along = at[static_cast<std::size_t>(dim)];
    const auto p = static_cast<std::size_t>(along / each);
    along %= each;
    out[i] = parts[p].at(at);
  }
  return out;
}
host_array reduction_of(const blocks& parts, reduction kind) {
  host_array out = parts[0];
  for (std::size_t p = 1; p < parts.size(); ++p)
    for (index_t i = 0; i < out.size(); ++i) out[i] = reduced_in(kind, out[i], parts[p][i]);
  return out;
}

/// The same as a loop: returns the elements of each device of a group afterwards.
blocks loop(const manual_collective& called, const blocks& given) {
  const auto n = static_cast<index_t>(given.size());
  blocks out;
  for (index_t p = 0; p < n; ++p) {
    const auto mine = static_cast<std::size_t>(p);
    const auto cut = [&](const host_array& x) {
      const index_t each = x.extents[called.to] / n;
      return part_of(x, called.to, p * each, each);
    };
    switch (called.kind) {
      case collective::all_reduce:
        out.push_back(reduction_of(given, called.reduce));
        break;
      case collective::all_gather:
        out.push_back(joined(given, called.from));
        break;
      case collective::reduce_scatter:
        out.push_back(cut(reduction_of(given, called.reduce)));
        break;
      case collective::all_to_all: {
        blocks parts;
        for (const host_array& x : given) parts.push_back(cut(x));
        out.push_back(joined(parts, called.from));
        break;
      }
      case collective::slice:
        out.push_back(given[mine]);
        break;
      case collective::collective_permute:
      case collective::broadcast: {
        const index_t from = called.moves.heard_by(p, n);
        out.push_back(from < 0 ? host_array(given[mine].extents, given[mine].type)
                               : given[static_cast<std::size_t>(from)]);
        break;
      }
      case collective::halo_exchange:
        throw std::logic_error("no collective on manual axes");
    }
  }
  return out;
}

struct called_row {
  std::string name;
  manual_collective called;
  bool is_shared = false;
};

/// All collectives over these axes, for tensors of rank 2.
std::vector<called_row> rows_over(const mesh_desc& mesh, const axis_list& axes) {
  std::vector<called_row> rows;
  const index_t n = mesh.parts(axes);
  const auto add = [&](const std::string& name, manual_collective called, bool is_shared) {
    called.axes = axes;
    rows.push_back({name, called, is_shared});
  };
  for (reduction reduce : {reduction::sum, reduction::max, reduction::min, reduction::product}) {
    add("all_reduce", {.kind = collective::all_reduce, .reduce = reduce}, true);
    for (int d : {0, 1})
      add("reduce_scatter", {.kind = collective::reduce_scatter, .reduce = reduce, .to = d}, false);
  }
  for (int d : {0, 1}) {
    add("all_gather", {.kind = collective::all_gather, .from = d}, true);
    for (int e : {0, 1})
      add("all_to_all", {.kind = collective::all_to_all, .from = d, .to = e}, false);
  }
  const auto move = [&](const std::string& name, const position_moves& moves) {
    add(name, {.kind = collective::collective_permute, .moves = moves}, false);
  };
  for (index_t by : {1, -1, 2, 0}) {
    move("ring", position_moves::ring(by));
    move("line", position_moves::line(by));
  }
  position_moves::list swapped, partly;
  for (index_t p = 0; p < n; ++p) swapped.push_back({p, n - 1 - p});
  if (n > 1) partly.push_back({n - 1, 0});
  move("swap", position_moves::pairs(swapped));
  move("mirror", position_moves::mirror());
  move("pairs", position_moves::pairs(partly));
  for (index_t root : {index_t{0}, n - 1})
    add("broadcast", {.kind = collective::broadcast, .moves = position_moves::root(root)}, true);
  return rows;
}

/// All lists of axes of a mesh, in every order.
std::vector<axis_list> lists_of(const mesh_desc& mesh) {
  std::vector<axis_list> all{{}}, out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const axis_list known = all[i];
    if (!known.empty()) out.push_back(known);
    for (std::uint8_t a = 0; a < mesh.rank(); ++a)
      if (!known.contains(a)) {
        axis_list longer = known;
        longer.push_back(a);
        all.push_back(longer);
      }
  }
  return out;
}

/// An unsplit tensor whose rows are the elements of the devices along some axes, and whose columns
/// another axis may split.
struct sample {
  mesh_desc mesh;
  axis_list axes;
  int other = -1;
  host_array whole;

  [[nodiscard]] layout_desc rows() const {
    layout_desc out;
    out.dims.resize(2);
    out.dims[0] = axes;
    return out;
  }
  /// The tensor as each device sees it; the other axis splits it as usual.
  template <class T>
  [[nodiscard]] any_tensor<T> as_manual(const any_tensor<T>& x) const {
    const any_tensor<T> mine = enable_manual_sharding(x);
    layout_desc columns = mine.layout();
    if (other >= 0) columns.dims[1].push_back(static_cast<std::uint8_t>(other));
    return reshard(mine, columns);
  }
  /// The elements of the devices of the groups in part `q` of the other axis.
  [[nodiscard]] blocks parts(const host_array& x, index_t q) const {
    const index_t n = mesh.parts(axes);
    const index_t cuts = other < 0 ? 1 : mesh.size(other);
    blocks out;
    for (index_t p = 0; p < n; ++p)
      out.push_back(part_of(part_of(x, 0, p * (x.extents[0] / n), x.extents[0] / n), 1,
                            q * (x.extents[1] / cuts), x.extents[1] / cuts));
    return out;
  }
};

sample sample_of(const mesh_desc& mesh, const axis_list& axes, int other, std::uint64_t seed,
                 bool distinct = false) {
  const index_t n = mesh.parts(axes);
  const index_t cuts = other < 0 ? 1 : mesh.size(other);
  host_array whole({n * 2 * n, 2 * n * cuts}, element::f64);
  numbers random(seed);
  for (index_t i = 0; i < whole.size(); ++i)
    whole[i] = distinct ? 0.5 + static_cast<double>(i * 37 % 101) / 101 +
                              static_cast<double>(random.below(1000)) * 1e-5
                        : static_cast<double>(random.below(7) - 3);
  return {mesh, axes, other, whole};
}

any_tensor<double> spread(const device_pool& pool, const host_array& x, const layout_desc& layout) {
  return distribute(pool, std::span<const double>(x.values), x.extents, layout);
}

/// Calls `f(sample)` for some splits of the other dimension.
template <class F>
void for_each_sample(const mesh_desc& mesh, std::uint64_t seed, bool distinct, const F& f) {
  for (const axis_list& axes : lists_of(mesh)) {
    f(sample_of(mesh, axes, -1, seed, distinct));
    for (int a = 0; a < mesh.rank(); ++a)
      if (!axes.contains(static_cast<std::uint8_t>(a))) {
        f(sample_of(mesh, axes, a, seed, distinct));
        break;
      }
  }
}

bool is_refused(const sample& given, const manual_collective& called) {
  return given.other >= 0 && (called.from == 1 || called.to == 1);
}

}  // namespace

TEST_CASE("manual collectives give what a loop over the devices gives, and cost what moves") {
  for (const mesh_desc& mesh : meshes({{2}, {3}, {1}, {2, 3}, {2, 1}, {2, 2, 2}})) {
    const device_pool pool(mesh, 2);
    for_each_sample(mesh, 7, false, [&](const sample& given) {
      const any_tensor<double> mine = given.as_manual(spread(pool, given.whole, given.rows()));
      sync(mine);
      for (const called_row& row : rows_over(mesh, given.axes)) {
        INFO(row.name << " of " << to_text(mesh, mine.tensor()).c_str());
        if (is_refused(given, row.called)) {
          REQUIRE_THROWS_WITH(apply_collective(mine, row.called),
                              Catch::Contains("dimension_is_split"));
          continue;
        }
        pool.reset_counters();
        const any_tensor<double> made = apply_collective(mine, row.called);
        sync(made);
        const cost_ledger cost = pool.counters();
        REQUIRE((made.layout().manual == 0) == row.is_shared);
        // The bytes according to the pieces, for the device that receives most.
        const seen_collective seen = seen_as(mesh, row.called, mine.tensor(), made.tensor());
        index_t most = 0;
        bool moves = false;
        for (index_t d = 0; d < mesh.devices(); ++d) {
          index_t bytes = 0;
          for_each_piece(
              mesh, seen.before, seen.step, d,
              [&](const shard_piece& p) {
                if (p.from != p.to) bytes += p.elements * 8;
                moves = moves || p.from != p.to;
              },
              seen.moves);
          most = std::max(most, bytes);
        }
        REQUIRE(cost.collectives() == (moves ? 1 : 0));
        const bool is_one_axis = given.axes.size() == 1;
        REQUIRE((is_one_axis ? cost.bytes_moved() == most : cost.bytes_moved() >= most));
        if (moves) REQUIRE(cost.collectives(row.called.kind) == 1);
        // The elements of each device.
        const device_groups groups(mesh, given.axes);
        const index_t cuts = given.other < 0 ? 1 : mesh.size(given.other);
        for (index_t q = 0; q < cuts; ++q) {
          const blocks want = loop(row.called, given.parts(given.whole, q));
          for (index_t d = 0; d < mesh.devices(); ++d) {
            if (given.other >= 0 && mesh.at(d)[given.other] != q) continue;
            const auto have = local(made, d);
            const host_array& block = want[static_cast<std::size_t>(groups.position_of(d))];
            REQUIRE(have.extents() == block.extents);
            REQUIRE(std::equal(have.elements().begin(), have.elements().end(), block.values.begin(),
                               block.values.end()));
          }
        }
      }
    });
  }
}

namespace {

double weight_of(index_t i) { return 0.5 + 0.37 * static_cast<double>(i * 7 % 11); }

/// The weighted sum of the results of a collective, which differ between devices or are the same on
/// all.
double loss_of(const sample& given, const called_row& row, const host_array& whole, bool varied) {
  const index_t cuts = given.other < 0 ? 1 : given.mesh.size(given.other);
  double sum = 0;
  for (index_t q = 0; q < cuts; ++q) {
    const blocks made = loop(row.called, given.parts(whole, q));
    for (std::size_t p = 0; p < made.size(); ++p) {
      if (row.is_shared && !varied && p > 0) break;
      const index_t columns = made[p].extents[1];
      for (index_t i = 0; i < made[p].size(); ++i) {
        const index_t column = q * columns + i % columns;
        const index_t place = static_cast<index_t>(p) * 13 + i / columns * 5 + column;
        sum += weight_of(place) * made[p][i];
      }
    }
  }
  return sum;
}

/// The weights as a tensor like `y`.
any_tensor<double> weights_for(const device_pool& pool, const sample& given, const tensor_desc& y,
                               bool varied) {
  const index_t n = varied ? given.mesh.parts(given.axes) : 1;
  host_array all({y.extents[0] * n, y.extents[1]}, element::f64);
  for (index_t i = 0; i < all.size(); ++i) {
    const index_t row = i / y.extents[1];
    all[i] = weight_of(row / y.extents[0] * 13 + row % y.extents[0] * 5 + i % y.extents[1]);
  }
  sample same = given;
  if (!varied) same.axes = {};
  return same.as_manual(spread(pool, all, same.rows()));
}

}  // namespace

TEST_CASE("gradients of manual collectives are the slopes of the loop") {
  for (const mesh_desc& mesh : support::sampled(meshes({{2}, {3}, {2, 3}, {2, 2, 2}, {2, 2}}), 2)) {
    const device_pool pool(mesh, 2);
    for_each_sample(mesh, 5, true, [&](const sample& given) {
      if (mesh.parts(given.axes) > 4) return;
      const any_tensor<double> x = spread(pool, given.whole, given.rows());
      for (const called_row& row : rows_over(mesh, given.axes))
        for (const bool varied : {false, true}) {
          if (is_refused(given, row.called) || varied < !row.is_shared) continue;
          INFO(row.name << " of " << to_text(mesh, x.tensor()).c_str()
                        << (varied ? ", varied" : ""));
          const tensor_desc y = apply_collective(given.as_manual(x), row.called).tensor();
          const any_tensor<double> weights = weights_for(pool, given, y, varied);
          const auto loss = [&](const any_tensor<double>& at) {
            const any_tensor<double> made =
                apply_collective(given.as_manual(at), row.called) * weights;
            any_tensor<double> total = sum(made);
            if (total.layout().manual != 0)
              total = apply_collective(total, {.axes = total.layout().manual_axes()});
            return reshard(total, layout_desc{});
          };
          REQUIRE(to_host(loss(x))() == Approx(loss_of(given, row, given.whole, varied)));
          const any_tensor<double> slope = gradient(loss)(x);
          REQUIRE(slope.layout() == x.layout());
          const auto have = to_host(slope).elements();
          for (index_t i = 0; i < given.whole.size(); i += 3) {
            host_array near = given.whole;
            const double step = 1e-6;
            near[i] += step;
            const double above = loss_of(given, row, near, varied);
            near[i] -= 2 * step;
            const double want = (above - loss_of(given, row, near, varied)) / (2 * step);
            REQUIRE(have[static_cast<std::size_t>(i)] == Approx(want).epsilon(1e-4).margin(1e-6));
          }
        }
    });
  }
}

TEST_CASE("manual collectives give the same bits for all owners") {
  for (const mesh_desc& mesh : meshes({{3}, {2, 3}, {2, 2, 2}}))
    same_for_owners(mesh, [&](const device_pool& pool, outcome& out) {
      std::size_t number = 0;
      for_each_sample(mesh, 11, true, [&](const sample& given) {
        std::vector<float> host(given.whole.values.begin(), given.whole.values.end());
        const any_tensor<float> x =
            distribute(pool, std::span<const float>(host), given.whole.extents, given.rows());
        const any_tensor<float> mine = given.as_manual(x);
        for (const called_row& row : rows_over(mesh, given.axes)) {
          if (is_refused(given, row.called) || ++number % (mesh.rank() == 3 ? 7 : 2) != 0) continue;
          any_tensor<float> made = apply_collective(mine, row.called);
          if (!row.is_shared) {
            layout_desc rows = made.layout();
            rows.manual = 0;
            rows.dims[0] = given.axes;
            made = disable_manual_sharding(made, rows);
          }
          read(out, pool, made);
        }
      });
    });
}

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;

constexpr auto exchange = [](const auto& x) {
  const auto mine = enable_manual_sharding(x);
  const auto around = shift<"data", 1>(mine) + permute<"data", sends<1, 0>>(mine);
  const auto all = all_gather<"data", 1>(reduce_scatter<"data", 1>(mine * around));
  const auto first = broadcast<"data", 0>(all_to_all<"data", 1, 0>(mine));
  const auto most = all_reduce<reduction::max, "data">(max(mine));
  return sum(square(all)) + all_mean<"data">(sum(vary<"data">(first))) + most;
};
constexpr auto slope = gradient(exchange);

void check_same(const cost_ledger& counted, const cost_ledger& paper) {
  REQUIRE(counted.collectives() == paper.collectives());
  for (int k = 0; k < collective_count; ++k) {
    const auto kind = static_cast<collective>(k);
    REQUIRE(counted.collectives(kind) == paper.collectives(kind));
    REQUIRE(counted.bytes_moved(kind) == paper.bytes_moved(kind));
  }
  REQUIRE(counted.flops() == paper.flops());
  REQUIRE(counted.peak_bytes_per_device() == paper.peak_bytes_per_device());
}

}  // namespace

TEST_CASE("programs of manual collectives cost what their traces say, with gradients and again") {
  const device_pool pool{pod{}};
  const X x = distribute<X>(pool, whole_numbers(32, 7));
  {
    pool.reset_counters();
    const auto slopes = slope(x);
    sync(slopes);
    constexpr cost_ledger of_slope = trace(slope, abstract<X>());
    check_same(pool.counters(), of_slope);
  }
  pool.reset_counters();
  const auto value = exchange(x);
  sync(value);
  constexpr cost_ledger paper = trace(exchange, abstract<X>());
  check_same(pool.counters(), paper);
  // The recorded program, run from its instructions.
  constexpr auto recorded = trace_program(exchange, abstract<X>());
  generated::require_round_trip(recorded.view());
  const any_tensor<float> again = run<float>(prepare<float>(recorded), x);
  REQUIRE(to_host(again)() == to_host(value)());
}
