// SPDX-License-Identifier: BSL-1.0
#include "property/agreement.hpp"
#include "support/catch.hpp"

using namespace generated;

namespace {

template <class F>
int count_agreements(const std::vector<extents_desc>& extents, bool pending, const F& f) {
  return agreements({{2}, {3, 2}, {2, 1}}, extents, f,
                    [&](const mesh_desc& mesh, int rank) { return layouts(mesh, rank, pending); });
}

using tensors = std::vector<any_tensor<float>>;

}  // namespace

TEST_CASE("every legal layout of a product gives the product of whole tensors") {
  for (const char* equation :
       {"bi,io->bo", "bi,oi->bo", "ib,io->ob", "bi,bi->b", "bi,bi->", "b,o->bo"}) {
    const parsed_einsum parsed = parse_einsum(equation);
    std::vector<extents_desc> extents;
    for (const factor_map& map : parsed.rule.operands) {
      extents_desc e;
      for (std::uint8_t f : map)
        e.push_back(parsed.letters[f] == 'b' ? 4 : parsed.letters[f] == 'i' ? 5 : 3);
      extents.push_back(e);
    }
    const int legal = count_agreements(
        extents, true, [&](const tensors& x) { return einsum(equation, x[0], x[1]); });
    INFO(equation);
    REQUIRE(legal > 30);
  }
}

TEST_CASE("every legal layout of a one-operand einsum agrees") {
  for (const char* equation : {"ij->ji", "ij->", "ii->i", "ijk->ki", "i->i"}) {
    extents_desc extents;
    for (std::size_t d = 0; equation[d] != '-'; ++d) extents.push_back(equation[d] == 'k' ? 2 : 4);
    REQUIRE(count_agreements({extents}, true,
                             [&](const tensors& x) { return einsum(equation, x[0]); }) > 5);
  }
}

TEST_CASE("every legal layout of an elementwise function agrees, broadcasts among them") {
  const std::vector<std::vector<extents_desc>> shapes{
      {{5, 3}, {5, 3}}, {{5, 3}, {3}}, {{5, 1}, {5, 3}}, {{4}, {1}}, {{2, 3}, {}}};
  for (const std::vector<extents_desc>& extents : shapes) {
    REQUIRE(count_agreements(extents, true, [](const tensors& x) { return x[0] + x[1]; }) > 5);
    REQUIRE(count_agreements(extents, true, [](const tensors& x) { return x[0] * x[1]; }) > 5);
    REQUIRE(count_agreements(extents, true, [](const tensors& x) {
              return elementwise<functions::maximum>(x[0], x[1]);
            }) > 5);
  }
}

TEST_CASE("every legal layout of a fold agrees") {
  for (reduction kind : {reduction::sum, reduction::product, reduction::max, reduction::min})
    for (unsigned reduced = 0; reduced < 8; ++reduced)
      REQUIRE(count_agreements({{4, 3, 2}}, kind == reduction::sum,
                               [&](const tensors& x) { return fold(kind, x[0], reduced); }) > 10);
}

TEST_CASE("a fold over nothing is the identity") {
  const device_pool pool(3);
  const any_tensor<float> nothing =
      make(pool, {0, 2}, layouts(pool.mesh(), 2, false).back(), 1).tensor;
  REQUIRE(values(fold(reduction::sum, nothing, 1)) == std::vector<float>{0, 0});
  REQUIRE(values(fold(reduction::product, nothing, 1)) == std::vector<float>{1, 1});
  REQUIRE(values(fold(reduction::max, nothing, 3)) ==
          std::vector<float>{-std::numeric_limits<float>::infinity()});
}
