// SPDX-License-Identifier: BSL-1.0
#include "unit/rule/propagate_facts.hpp"

using namespace shardwise;

static_assert(einsum_facts_hold());
static_assert(elementwise_facts_hold());
static_assert(reduction_facts_hold());
static_assert(rule_facts_hold());

// einsum.hpp
static_assert(parse_einsum("bi,io->bo").rule.operands.size() == 2);
constexpr parsed_einsum product_of_matrices = parse_einsum("bi,io->bo");
static_assert(product_of_matrices.verdict.ok() &&
              product_of_matrices.rule.law == linearity::multilinear);
static_assert(product_of_matrices.letters == inplace_vector<char, max_factors>{'b', 'i', 'o'});
static_assert(product_of_matrices.rule.operands[0] == factor_map{0, 1});
static_assert(product_of_matrices.rule.operands[1] == factor_map{1, 2});
static_assert(product_of_matrices.rule.result == factor_map{0, 2});
static_assert(product_of_matrices.rule.factors[0] == factor_kind::pass_through);
static_assert(product_of_matrices.rule.factors[1] == factor_kind::reduction);
static_assert(parse_einsum("->").verdict.ok() && parse_einsum("i->").verdict.ok());
static_assert(parse_einsum("ij->ji").rule.result == factor_map{1, 0});
static_assert(parse_einsum("ii->i").rule.operands[0] == factor_map{0, 0});
static_assert(parse_einsum("Ii->iI").rule.operands[0] == factor_map{0, 1});
static_assert(parse_einsum("abcdefgh,ijklmnop->a").verdict.ok());

constexpr auto refused_at = [](text_view equation) {
  const diagnosis verdict = parse_einsum(equation).verdict;
  return verdict.rule == violation::einsum_is_malformed ? verdict.have : index_t{-1};
};
static_assert(refused_at("") == 0 && refused_at("ij") == 2 && refused_at("ij,jk") == 5);
static_assert(refused_at("i j->ij") == 1 && refused_at("ij->ik") == 5 && refused_at("ij->ii") == 5);
static_assert(refused_at("i,j,k->ijk") == 3 && refused_at("i->j->k") == 3 &&
              refused_at("i->,i") == 3);
static_assert(refused_at("i-j") == 1 && refused_at("i-") == 1 && refused_at("...i->i") == 0);
static_assert(refused_at("abcdefghi->a") == 8 && refused_at("1->") == 0);

// factor_rule.hpp
static_assert(law_of(reduction::sum) == linearity::additive &&
              law_of(reduction::max) == linearity::max_of);
static_assert(law_of(reduction::min) == linearity::min_of &&
              law_of(reduction::product) == linearity::product_of);

// suggestion.hpp
constexpr mesh_desc pod{{axis_desc{"x", 2}, axis_desc{"y", 4}}};
constexpr tensor_desc tensor(const extents_desc& extents, const spec_desc& spec,
                             const partial_desc& partial = {}) {
  return {element::f32, extents, resolve(pod, spec, partial).layout};
}
constexpr auto advised = [](const factor_rule& rule, const tensor_descs& operands) {
  return advice(pod, rule, operands, propagate(pod, rule, operands).verdict);
};
static_assert(advised(parse_einsum("ij,jk->ik").rule,
                      {tensor({8, 8}, {{"", "y"}}), tensor({8, 8}, {{"x", ""}})}) ==
              "operands f32[8, 8@y], f32[8@x, 8]; try reshard<P<\"y\", none>>(operand 1)");
static_assert(advised(parse_einsum("ij,jk->ik").rule,
                      {tensor({8, 8}, {{"", "y,x"}}), tensor({8, 8}, {{"x", ""}})}) ==
              "operands f32[8, 8@(y,x)], f32[8@x, 8]; "
              "try reshard<P<by(\"y\", \"x\"), none>>(operand 1)");
static_assert(advised(elementwise_rule(linearity::nonlinear, {extents_desc{8}}),
                      {tensor({8}, {{"x"}}, {"y"})}) ==
              "operands f32[8@x]{partial sum: y}; try reshard<P<\"x\">>(operand 0)");
static_assert(advised(parse_einsum("i,i->").rule, {tensor({8}, {{""}}), tensor({6}, {{""}})}) ==
              "operands f32[8], f32[6]");
