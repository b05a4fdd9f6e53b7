// SPDX-License-Identifier: BSL-1.0
// Typed programs, and every operation with every layout, with one, two and three owners.
#include "property/generated_program.hpp"
#include "property/owner_outcomes.hpp"

using namespace generated;

namespace {

std::vector<float> rough_numbers(index_t count, std::uint64_t seed) {
  std::vector<float> all(static_cast<std::size_t>(count));
  fill_normal(random_key{seed}, 0, all.data(), count);
  return all;
}

/// A program of these operations whose results are read one by one.
template <int... Steps>
void run_steps(const device_pool& pool, outcome& out) {
  for (index_t rows : {index_t{7}, index_t{1}, index_t{0}}) {
    const X x = distribute<X>(pool, rough_numbers(rows * 6, 1), rows);
    const W w = distribute<W>(pool, rough_numbers(36, 2));
    const V v = distribute<V>(pool, rough_numbers(36, 3));
    pool.reset_counters();
    const auto y = sharded_tensor(generated_program<Steps...>::run(x, w, v));
    read(out, pool, any_tensor<float>(reshard<P<none, none>>(y)));
  }
}

}  // namespace

TEST_CASE("typed programs give the same bits and cost for all owners") {
  same_for_owners(grid::value, [](const device_pool& pool, outcome& out) {
    run_steps<0, 4, 5>(pool, out);
    run_steps<1, 2, 8>(pool, out);
    run_steps<3, 6, 7>(pool, out);
    run_steps<9, 8, 3>(pool, out);
    run_steps<10, 11, 3>(pool, out);
  });
}

TEST_CASE("operations give the same bits for all owners, wherever layouts are legal") {
  for (const mesh_desc& mesh : meshes({{3}, {2, 2}})) {
    const std::vector<layout_desc> all =
        grained_layouts(mesh, 2, true, {grain::cyclic(1), grain::strided(2)});
    same_for_owners(mesh, [&](const device_pool& pool, outcome& out) {
      int legal = 0;
      const std::size_t stride = mesh.rank() == 1 ? 1 : 53;
      std::size_t number = 0;
      for (const layout_desc& first : all)
        for (const layout_desc& second : all) {
          if (++number % stride != 0) continue;
          const any_tensor<float> x = make(pool, {5, 4}, first, number).tensor;
          const any_tensor<float> y = make(pool, {5, 4}, second, number + 1).tensor;
          const auto attempt = [&](const auto& f) {
            try {
              const any_tensor<float> z = f();
              layout_desc whole;
              whole.dims.resize(z.extents().size());
              read(out, pool, reshard(z, whole));
              ++legal;
            } catch (const error&) {
            }
          };
          attempt([&] { return x + y; });
          attempt([&] { return einsum<float>("ij,kj->ik", x, y); });
          attempt([&] { return einsum<float>("ij,ik->jk", x, y); });
          attempt([&] { return exp(x) * 0.5F; });
          attempt([&] { return max(x, over{0}); });
          attempt([&] { return sum(y, over{0, 1}); });
          attempt(
              [&] { return average_pool<windows<3>, strides<1>, paddings<1>>(x, across<"x">); });
          attempt([&] {
            return max_pool<windows<4, 3>, strides<1, 1>, paddings<3, 0, 1, 1>>(x, across<"x">);
          });
          attempt([&] { return slice_in_dim<0, 1, open_end>(x, across<"x">); });
          attempt([&] { return pad<2, 1, 0, 0>(x, 0.5F, across<"x">); });
          attempt([&] { return diff<0>(x, across<"x">); });
          attempt([&] { return flip<0, 1>(x, across<"x">); });
          attempt([&] { return roll<1, 3>(x, across<"x">); });
          attempt([&] { return index_at<1, 2>(x, across<"x">); });
        }
      if (legal < 50) throw std::logic_error("few operations were legal");
    });
  }
}
