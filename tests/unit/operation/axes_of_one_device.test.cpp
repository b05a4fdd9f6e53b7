// SPDX-License-Identifier: BSL-1.0
// A program that is legal on a mesh is legal if any axis of the mesh has one device: nothing is
// pending over such an axis, so it may be requested that something is.
#include "unit/operation/inference_facts.hpp"
#include <shardwise/shardwise.hpp>

#include <map>
#include <string>
#include <vector>

using namespace inference;

namespace {

/// A legal result on the large mesh, and the one of the same application on the small mesh.
struct result_pair {
  tensor_desc on_large;
  tensor_desc on_small;
};

/// True if a dimension is cut into parts of several sizes: windows and reshapes fit into the parts
/// of some numbers of devices and not into those of others.
bool has_ragged_parts(const mesh_desc& mesh, const tensor_descs& operands) {
  for (const tensor_desc& each : operands)
    for (int d = 0; d < each.rank(); ++d)
      if (each.extents[d] % mesh.parts(each.layout.dims[d]) != 0) return true;
  return false;
}

/// Checks that an application that is legal on the large mesh is legal on the small one, and
/// returns the results on both.
std::vector<result_pair> check_application(const mesh_desc& large, const mesh_desc& small,
                                           const request& asked, const tensor_descs& on_large,
                                           const tensor_descs& on_small) {
  const auto infer = [&](const mesh_desc& mesh, const tensor_descs& operands) {
    return infer_operation(mesh, *asked.entry, asked.given, operands, asked.wishes);
  };
  const operation_inference want = infer(large, on_large);
  if (!want.ok()) return {};
  const operation_inference have = infer(small, on_small);
  if (!have.ok()) {
    // Arguments that name a device of the large mesh.
    if (have.verdict.rule == violation::positions_are_malformed) return {};
    CAPTURE(words_of(large, on_large), words_of(small, on_small));
    const text_view rule = name_of(have.verdict.rule);
    CAPTURE(std::string(rule.data(), rule.size()));
    REQUIRE(have.ok());
  }
  std::vector<result_pair> out;
  for (int r = 0; r < want.results.ssize(); ++r) out.push_back({want.results[r], have.results[r]});
  return out;
}

void check_mesh(const mesh_desc& large, const mesh_desc& small) {
  // The results, each once.
  std::map<std::string, result_pair> known;
  for (const catalogued_operation& entry : catalogue) {
    CAPTURE(std::string(entry.name.data(), entry.name.size()));
    const request asked = request_of(large, entry);
    for_each_layout(asked, [&](const tensor_descs& operands) {
      if (has_ragged_parts(large, operands)) return;
      for (const result_pair& made : check_application(large, small, asked, operands, operands)) {
        // Collectives join and cut what each device has: it depends on their number.
        if (made.on_small.extents != made.on_large.extents) continue;
        // The layout that the result has on the large mesh may be requested on the small one.
        const diagnosis verdict = redistribute(small, made.on_small, made.on_large.layout).verdict;
        if (!verdict.ok()) {
          CAPTURE(words_of(large, operands), words_of(large, made.on_large));
          REQUIRE(verdict.ok());
        }
        known.emplace(words_of(large, made.on_large) + words_of(small, made.on_small), made);
      }
    });
  }
  REQUIRE(known.size() > 100);
  for (const catalogued_operation& entry : catalogue) {
    CAPTURE(std::string(entry.name.data(), entry.name.size()));
    const request asked = request_of(large, entry);
    if (asked.operands.ssize() != 1) continue;
    for (const auto& [words, made] : known)
      if (!has_ragged_parts(large, {made.on_large}))
        (void)check_application(large, small, asked, {made.on_large}, {made.on_small});
  }
}

struct two : mesh<axis<"x", 2>, axis<"y", 2>> {};
struct one : mesh<axis<"x", 2>, axis<"y", 1>> {};

/// A program that requests a layout whose sum over y is pending, typed and not.
template <class Mesh>
void requests_pending() {
  using A = sharded_tensor<float, extents<4, 6>, layout<Mesh, P<"x", "y">>>;
  using B = sharded_tensor<float, extents<6, 2>, layout<Mesh, P<"y", none>>>;
  using Terms = layout<Mesh, P<"x", none>, partial<"y">>;
  const device_pool pool{Mesh{}};
  const auto a = iota<A>(pool);
  const auto b = full<B>(pool, 1.0F);
  const sharded_tensor<float, extents<4, 2>, Terms> c = einsum<"ij,jk->ik">(a, b, as<Terms>);
  const auto twice = add(c, c, as<Terms>);
  const auto whole = to_host(reshard<P<none, none>>(reshard<Terms>(twice)));
  const any_tensor<float> untyped = einsum<"ij,jk->ik">(any_tensor<float>(a), any_tensor<float>(b));
  const layout_desc terms = layout_of(Mesh::value, {{"x", ""}}, {"y"});
  const auto same = to_host(reshard(reshard(untyped + untyped, terms), spec_desc{{"", ""}}));
  for (index_t i = 0; i < 4; ++i)
    for (index_t k = 0; k < 2; ++k) {
      REQUIRE(whole(i, k) == 2 * static_cast<float>(36 * i + 15));
      REQUIRE(same(i, k) == whole(i, k));
    }
}

}  // namespace

TEST_CASE("an application that is legal on a mesh is legal with any of its axes at one device") {
  const mesh_desc large = mesh_of_sizes({2, 2});
  for (const extents_desc& sizes : {extents_desc{1, 2}, extents_desc{2, 1}, extents_desc{1, 1}}) {
    CAPTURE(sizes[0], sizes[1]);
    check_mesh(large, mesh_of_sizes(sizes));
  }
}

TEST_CASE("a pending layout may be requested over an axis of one device") {
  requests_pending<two>();
  requests_pending<one>();
  const mesh_desc mesh = mesh_of_sizes({1});
  const tensor_desc x = type_of(mesh, "f32[8]{partial sum: x}");
  REQUIRE(redistribute(mesh, x, x.layout).verdict.ok());
  REQUIRE(redistribute(mesh, type_of(mesh, "f32[8]"), x.layout).verdict.ok());
}
