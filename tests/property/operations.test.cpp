// SPDX-License-Identifier: BSL-1.0
#include "property/agreement.hpp"
#include "support/catch.hpp"

using namespace generated;

namespace {

int count_agreements(const std::vector<extents_desc>& extents, bool pending,
                     const tensor_function& f) {
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
    REQUIRE(count_agreements(extents, true, [](const tensors& x) { return maximum(x[0], x[1]); }) >
            5);
  }
}

TEST_CASE("every function has the same bits under every layout, numbers on either side") {
  using call = any_tensor<float> (*)(const tensors&);
  // The numbers of layouts for which functions are legal: one for each law of pending operands.
  const auto counts_of = [](const std::vector<call>& calls,
                            const std::vector<extents_desc>& extents) {
    std::vector<int> all;
    for (call f : calls) all.push_back(count_agreements(extents, true, f));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  };
  const std::vector<call> nonlinear{[](const tensors& x) { return abs(x[0]); },
                                    [](const tensors& x) { return square(x[0]); },
                                    [](const tensors& x) { return sqrt(x[0]); },
                                    [](const tensors& x) { return exp(x[0]); },
                                    [](const tensors& x) { return log(x[0]); },
                                    [](const tensors& x) { return tanh(x[0]); },
                                    [](const tensors& x) { return sigmoid(x[0]); },
                                    [](const tensors& x) { return relu(x[0]); },
                                    [](const tensors& x) { return gelu(x[0]); },
                                    [](const tensors& x) { return x[0] + 1; },
                                    [](const tensors& x) { return 0.1F - x[0]; },
                                    [](const tensors& x) { return 1.0F / x[0]; },
                                    [](const tensors& x) { return maximum(x[0], 0.5F); },
                                    [](const tensors& x) { return minimum(-1, x[0]); },
                                    [](const tensors& x) { return cast<float>(equal(x[0], 2)); },
                                    [](const tensors& x) { return cast<float>(0 < x[0]); },
                                    [](const tensors& x) { return cast<float>(x[0] >= 1); },
                                    [](const tensors& x) { return where(x[0] > 0, 2.0F, 3.0F); },
                                    [](const tensors& x) { return where(x[0] < 1, 0.5F, x[0]); }};
  const std::vector<call> linear{
      [](const tensors& x) { return -x[0]; }, [](const tensors& x) { return x[0] * 2.0F; },
      [](const tensors& x) { return 0.5F * x[0]; }, [](const tensors& x) { return x[0] / 4; }};
  for (const extents_desc& extents : std::vector<extents_desc>{{5, 3}, {4, 1, 3}, {7}, {}}) {
    const std::vector<int> whole = counts_of(nonlinear, {extents});
    const std::vector<int> terms = counts_of(linear, {extents});
    // On every mesh, each axis is unused, at some position in some dimension or, if the function is
    // linear, pending.
    REQUIRE(whole.size() == 1);
    REQUIRE(terms.size() == 1);
    REQUIRE(whole[0] > (extents.empty() ? 2 : 10));
    REQUIRE(terms[0] > whole[0]);
  }
  const std::vector<call> of_two{[](const tensors& x) { return x[0] - x[1]; },
                                 [](const tensors& x) { return minimum(x[0], x[1]); },
                                 [](const tensors& x) { return cast<float>(equal(x[0], x[1])); },
                                 [](const tensors& x) { return cast<float>(x[0] < x[1]); },
                                 [](const tensors& x) { return cast<float>(x[0] <= x[1]); },
                                 [](const tensors& x) { return cast<float>(x[0] > x[1]); },
                                 [](const tensors& x) { return cast<float>(x[0] >= x[1]); },
                                 [](const tensors& x) { return where(x[0] > 0, x[1], x[0]); },
                                 [](const tensors& x) { return where(x[0] > 0, 1.0F, x[1]); },
                                 [](const tensors& x) { return where(x[0] > x[1], x[0], x[1]); }};
  for (int legal : counts_of(of_two, {{5, 3}, {3}})) REQUIRE(legal > 20);
  // Quotients of terms are rounded before they are added.
  REQUIRE(count_agreements({{5, 3}, {3}}, false, [](const tensors& x) { return x[0] / x[1]; }) >
          20);
  REQUIRE(count_agreements({{3, 2}, {2}, {3, 1}}, false,
                           [](const tensors& x) { return where(x[0] > 0, x[1], x[2]); }) > 20);
}

TEST_CASE("every legal layout of a reduction by name agrees, its dimensions kept or not") {
  using call = any_tensor<float> (*)(const tensors&, const over&);
  const std::vector<call> sums{
      [](const tensors& x, const over& dims) { return sum(x[0], dims); },
      [](const tensors& x, const over& dims) { return sum(x[0], dims, keep_dims); }};
  const std::vector<call> means{
      [](const tensors& x, const over& dims) { return mean(x[0], dims); },
      [](const tensors& x, const over& dims) { return mean(x[0], dims, keep_dims); }};
  const std::vector<call> others{
      [](const tensors& x, const over& dims) { return product(x[0], dims); },
      [](const tensors& x, const over& dims) { return product(x[0], dims, keep_dims); },
      [](const tensors& x, const over& dims) { return max(x[0], dims); },
      [](const tensors& x, const over& dims) { return max(x[0], dims, keep_dims); },
      [](const tensors& x, const over& dims) { return min(x[0], dims); },
      [](const tensors& x, const over& dims) { return min(x[0], dims, keep_dims); }};
  for (unsigned bits = 0; bits < 8; ++bits) {
    const over dims = over::of_bits(bits);
    // 5 over 3, 3 over 2 and 2 over 3 devices are uneven, and the last one leaves a device without
    // elements.
    for (call f : sums)
      REQUIRE(count_agreements({{5, 3, 2}}, true, [&](const tensors& x) { return f(x, dims); }) >
              10);
    // The terms of a mean are divided before they are added: exact for these counts, and 4 and 8
    // over 3 devices are uneven.
    for (call f : means)
      REQUIRE(count_agreements({{4, 2, 8}}, true, [&](const tensors& x) { return f(x, dims); }) >
              10);
    for (call f : others)
      REQUIRE(count_agreements({{5, 3, 2}}, false, [&](const tensors& x) { return f(x, dims); }) >
              10);
  }
}

TEST_CASE("a reduction over nothing is the identity") {
  const device_pool pool(3);
  const any_tensor<float> nothing =
      make(pool, {0, 2}, layouts(pool.mesh(), 2, false).back(), 1).tensor;
  REQUIRE(values(reduce(reduction::sum, nothing, over{0})) == std::vector<float>{0, 0});
  REQUIRE(values(reduce(reduction::product, nothing, over{0})) == std::vector<float>{1, 1});
  REQUIRE(values(reduce(reduction::max, nothing, over{0, 1})) ==
          std::vector<float>{-std::numeric_limits<float>::infinity()});
}
