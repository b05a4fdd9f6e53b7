// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "support/paper.hpp"

#include <algorithm>
#include <map>

using namespace paper;

namespace {

/// The values of one operand: the term of the devices at each position along its pending axes, and
/// the reduced value.
struct operand_values {
  std::vector<std::vector<index_t>> terms;
  std::vector<index_t> reduced;
};

index_t reduce_two(reduction kind, index_t a, index_t b) {
  switch (kind) {
    case reduction::sum:
      return a + b;
    case reduction::product:
      return a * b;
    case reduction::max:
      return std::max(a, b);
    default:
      return std::min(a, b);
  }
}

operand_values make_values(const mesh_desc& mesh, const tensor_desc& tensor, numbers& random) {
  operand_values values;
  const index_t terms = mesh.parts(tensor.layout.pending_axes());
  for (index_t t = 0; t < terms; ++t) {
    std::vector<index_t> term;
    for (index_t i = 0; i < element_count(tensor.extents); ++i) term.push_back(random(9) - 4);
    for (std::size_t i = 0; t > 0 && i < term.size(); ++i)
      values.reduced[i] = reduce_two(tensor.layout.kind, values.reduced[i], term[i]);
    if (t == 0) values.reduced = term;
    values.terms.push_back(term);
  }
  return values;
}

/// A function with this law and no other.
index_t function_of(linearity law, const std::vector<index_t>& x) {
  const index_t a = x[0];
  const index_t b = x.size() > 1 ? x[1] : 1;
  switch (law) {
    case linearity::additive:
      return x.size() > 1 ? a - 3 * b : -a;
    case linearity::multilinear:
      return a * b;
    case linearity::first_operand:
      return a * (b * b + 1);
    case linearity::max_of:
      return std::max(a, x.size() > 1 ? b : a);
    case linearity::min_of:
      return std::min(a, x.size() > 1 ? b : a);
    case linearity::product_of:
      return a * b;
    default:
      return a * a + 5 * b * b + a;
  }
}

/// Calls `visit` for every point of a box.
template <class Visit>
void for_each_point(const index_box& part, const Visit& visit) {
  std::vector<index_t> at;
  for (const index_range& range : part) {
    if (range.empty()) return;
    at.push_back(range.begin);
  }
  for (;;) {
    visit(at);
    int d = part.ssize() - 1;
    while (d >= 0 && ++at[static_cast<std::size_t>(d)] == part[d].end) {
      at[static_cast<std::size_t>(d)] = part[d].begin;
      --d;
    }
    if (d < 0) return;
  }
}

/// The position of the element of a tensor that a point of the factor space reads.
std::size_t offset_of(const factor_map& map, const extents_desc& extents,
                      const std::vector<index_t>& at) {
  index_t offset = 0;
  for (int d = 0; d < map.ssize(); ++d)
    offset = offset * extents[d] + (map[d] == repeated ? 0 : at[map[d]]);
  return static_cast<std::size_t>(offset);
}

using result_values = std::map<std::size_t, index_t>;

/// Computes the operation on a part of its factor space, element by element.
result_values compute(const factor_rule& rule, const tensor_descs& operands,
                      const extents_desc& extents, const index_box& part,
                      const std::vector<const std::vector<index_t>*>& data) {
  result_values results;
  for_each_point(part, [&](const std::vector<index_t>& at) {
    std::vector<index_t> read;
    for (int o = 0; o < operands.ssize(); ++o)
      read.push_back((*data[static_cast<std::size_t>(o)])[offset_of(rule.operands[o],
                                                                    operands[o].extents, at)]);
    // A reduction reads its operand unchanged.
    const bool reduces = rule.operands.size() == 1 && rule.law == law_of(rule.reduce) &&
                         rule.factors.contains(factor_kind::reduction);
    const index_t value = reduces ? read[0] : function_of(rule.law, read);
    const auto [where, fresh] = results.emplace(offset_of(rule.result, extents, at), value);
    if (!fresh) where->second = reduce_two(rule.reduce, where->second, value);
  });
  return results;
}

/// True if the box contains every element of a tensor that a part of the factor space reads.
bool holds_what_is_read(const factor_map& map, const index_box& held, const index_box& part) {
  for (const index_range& range : part)
    if (range.empty()) return true;
  for (int d = 0; d < map.ssize(); ++d) {
    const index_range read = map[d] == repeated ? index_range{0, 1} : part[map[d]];
    if (read.begin < held[d].begin || read.end > held[d].end) return false;
  }
  return true;
}

/// Runs the operation on every device with its own elements. Returns the first property that the
/// verdict violates, or nothing.
const char* broken_law(const mesh_desc& mesh, const factor_rule& rule, const tensor_descs& operands,
                       const propagation& found, numbers& random) {
  const layout_desc& layout = found.result.layout;
  if (!is_legal_layout(mesh, layout, found.result.extents))
    return "the layout of the result is not legal";
  std::vector<operand_values> values;
  std::vector<const std::vector<index_t>*> data;
  for (const tensor_desc& operand : operands) values.push_back(make_values(mesh, operand, random));
  for (const operand_values& operand : values) data.push_back(&operand.reduced);
  index_box everything;
  for (index_t size : found.sizes) everything.push_back({0, size});
  const result_values wanted = compute(rule, operands, found.result.extents, everything, data);

  std::vector<result_values> held;
  for (index_t device = 0; device < mesh.devices(); ++device) {
    const coordinates where = mesh.at(device);
    index_box part;
    for (int f = 0; f < found.sizes.ssize(); ++f)
      part.push_back(held_of(mesh, found.axes[f], found.grains[f], found.sizes[f], where).range);
    for (int o = 0; o < operands.ssize(); ++o) {
      const layout_desc& theirs = operands[o].layout;
      if (!holds_what_is_read(rule.operands[o],
                              shard_box(mesh, theirs, operands[o].extents, device), part))
        return "a device reads what it does not hold";
      const device_groups terms(mesh, theirs.pending_axes());
      data[static_cast<std::size_t>(o)] =
          &values[static_cast<std::size_t>(o)]
               .terms[static_cast<std::size_t>(terms.position_of(device))];
    }
    const index_box result = shard_box(mesh, layout, found.result.extents, device);
    for (int d = 0; d < rule.result.ssize(); ++d)
      if (!(result[d] == (rule.result[d] == repeated ? index_range{0, 1} : part[rule.result[d]])))
        return "the result's shard is not what the device computes";
    held.push_back(compute(rule, operands, found.result.extents, part, data));
  }

  const device_groups terms(mesh, layout.pending_axes());
  const device_groups shards = shards_of(mesh, layout);
  for (index_t device = 0; device < mesh.devices(); ++device) {
    const result_values& mine = held[static_cast<std::size_t>(device)];
    const index_t first = shards.member(0, shards.position_of(device));
    if (mine != held[static_cast<std::size_t>(first)]) return "replicas differ";
    result_values reduced;
    for (index_t t = 0; t < terms.size(); ++t)
      for (const auto& [at, value] :
           held[static_cast<std::size_t>(terms.member(terms.group_of(device), t))]) {
        const auto [where, fresh] = reduced.emplace(at, value);
        if (!fresh) where->second = reduce_two(layout.kind, where->second, value);
      }
    for (const auto& [at, value] : reduced)
      if (value != wanted.at(at)) return "the terms do not reduce to the value";
  }

  // A sum over an axis of one device is not pending.
  unsigned reasons = 0;
  for (const tensor_desc& operand : operands) reasons |= operand.layout.pending;
  for (int f = 0; f < rule.factors.ssize(); ++f)
    if (rule.factors[f] == factor_kind::reduction)
      for (std::uint8_t a : found.axes[f]) reasons |= 1U << a;
  for (int a = 0; a < mesh.rank(); ++a)
    if (mesh.size(a) == 1) reasons &= ~(1U << a);
  if (layout.pending != reasons)
    return "an axis is pending without a reason, or not pending with one";
  return nullptr;
}

struct tally {
  index_t legal = 0;
  index_t refused = 0;
  index_t corrected_at_once = 0;
  index_t corrected = 0;
};

void check_operation(const mesh_desc& mesh, const factor_rule& rule, const tensor_descs& operands,
                     numbers& random, tally& count) {
  propagation found = propagate(mesh, rule, operands);
  const char* law = nullptr;
  if (found.verdict.ok()) {
    ++count.legal;
    law = broken_law(mesh, rule, operands, found, random);
  } else {
    ++count.refused;
    tensor_descs corrected = operands;
    for (int steps = 1; steps <= 8 && !found.verdict.ok(); ++steps) {
      const suggested_reshard fix = propose(mesh, rule, corrected, found.verdict);
      if (fix.operand < 0) {
        law = "layouts are refused and nothing is proposed";
        break;
      }
      if (fix.layout == corrected[fix.operand].layout) {
        law = "what is proposed is what was refused";
        break;
      }
      corrected[fix.operand].layout = fix.layout;
      found = propagate(mesh, rule, corrected);
      if (found.verdict.ok()) {
        ++count.corrected;
        if (steps == 1) ++count.corrected_at_once;
      }
    }
    if (law == nullptr && !found.verdict.ok()) law = "the proposals do not end";
  }
  if (law == nullptr) return;
  std::string words;
  for (const tensor_desc& operand : operands) words += show(mesh, operand) + "; ";
  CAPTURE(words, describe(found.verdict).c_str());
  FAIL(law);
}

/// Every pair of layouts of two operands (or every layout of one) on every mesh of two axes.
tally check_all(const factor_rule& rule, const extents_desc& first, const extents_desc* second,
                reduction kind = reduction::sum) {
  tally count;
  numbers random(1);
  const auto all_of = [&](const extents_desc& extents) {
    std::vector<tensor_desc> all;
    for (layout_desc layout : layouts(2, extents.ssize(), true, {grain::single_cut()})) {
      if (layout.pending != 0) layout.kind = kind;
      all.push_back({element::i64, extents, layout});
    }
    return all;
  };
  for (const mesh_desc& mesh : meshes(2))
    for (const tensor_desc& a : all_of(first)) {
      if (second == nullptr) {
        check_operation(mesh, rule, {a}, random, count);
        continue;
      }
      for (const tensor_desc& b : all_of(*second))
        check_operation(mesh, rule, {a, b}, random, count);
    }
  CHECK(count.legal > 0);
  CHECK(count.corrected == count.refused);
  return count;
}

tally check_einsum(text_view equation, const extents_desc& first, const extents_desc& second) {
  const factor_rule rule = parse_einsum(equation).rule;
  REQUIRE(rule.operands.size() == 2);
  return check_all(rule, first, &second);
}

}  // namespace

TEST_CASE("an einsum that is legal is computed by every device from what it holds") {
  tally all;
  const auto add = [&](const tally& some) {
    all.legal += some.legal;
    all.refused += some.refused;
    all.corrected_at_once += some.corrected_at_once;
  };
  add(check_einsum("ij,jk->ik", {4, 3}, {3, 5}));
  add(check_einsum("ij,ij->ij", {4, 3}, {4, 3}));
  add(check_einsum("ij,ij->", {2, 5}, {2, 5}));
  add(check_einsum("ij,ji->j", {2, 5}, {5, 2}));
  add(check_einsum("i,j->ij", {3}, {4}));
  add(check_einsum("i,i->", {7}, {7}));
  add(check_einsum("ij,j->i", {4, 4}, {4}));
  add(check_einsum("ii,ij->ij", {3, 3}, {3, 2}));
  add(check_all(parse_einsum("ij->ji").rule, {3, 4}, nullptr));
  CHECK(all.legal > 3000);
  CHECK(all.refused > 3000);
  // Most errors are corrected by one reshard; if both operands are split wrongly, by one for each.
  CHECK(all.corrected_at_once * 5 > all.refused * 4);
}

TEST_CASE("a function of elements that is legal is computed by every device from what it holds") {
  tally all;
  for (linearity law :
       {linearity::nonlinear, linearity::additive, linearity::multilinear, linearity::first_operand,
        linearity::max_of, linearity::min_of, linearity::product_of})
    for (reduction kind : {reduction::sum, reduction::product, reduction::max, reduction::min}) {
      const auto run = [&](const extents_desc& first, const extents_desc* second) {
        inplace_vector<extents_desc, max_operands> extents{first};
        if (second != nullptr) extents.push_back(*second);
        const tally some = check_all(elementwise_rule(law, extents), first, second, kind);
        all.legal += some.legal;
        all.refused += some.refused;
        all.corrected_at_once += some.corrected_at_once;
      };
      const extents_desc row{3};
      const extents_desc column{4, 1};
      const extents_desc scalar{};
      run({4, 3}, &row);
      run({1, 3}, &column);
      run({5}, &scalar);
    }
  CHECK(all.legal > 3000);
  CHECK(all.corrected_at_once * 2 > all.refused);
}

TEST_CASE("a reduction that is legal is computed by every device from what it holds") {
  numbers random(3);
  for (reduction reduce : {reduction::sum, reduction::product, reduction::max, reduction::min})
    for (reduction kind : {reduction::sum, reduction::product, reduction::max, reduction::min})
      for (unsigned bits = 0; bits < 4; ++bits)
        for (bool keep : {false, true})
          for (const extents_desc& extents :
               {extents_desc{4, 3}, extents_desc{2, 5}, extents_desc{0, 3}})
            for (const mesh_desc& mesh : meshes(2))
              for (layout_desc layout : layouts(2, 2, true, {grain::single_cut()})) {
                if (layout.pending != 0) layout.kind = kind;
                tally count;
                check_operation(mesh, reduction_rule(reduce, 2, bits, keep),
                                {tensor_desc{element::i64, extents, layout}}, random, count);
              }
}

TEST_CASE("operands that agree are never refused") {
  for (text_view equation : {"ij,jk->ik", "ij,ij->ij", "ij,ij->", "i,j->ij"}) {
    const factor_rule rule = parse_einsum(equation).rule;
    const int factors = rule.factors.ssize();
    for (const mesh_desc& mesh : meshes(3))
      for (const layout_desc& split : layouts(3, factors)) {
        tensor_descs operands;
        for (const factor_map& map : rule.operands) {
          tensor_desc operand{element::i64, {}, {}};
          operand.layout.uneven = true;
          for (std::uint8_t f : map) {
            operand.extents.push_back(index_t{f} + 2);
            operand.layout.dims.push_back(split.dims[f]);
          }
          operands.push_back(operand);
        }
        const propagation found = propagate(mesh, rule, operands);
        REQUIRE(found.verdict.ok());
        for (int d = 0; d < rule.result.ssize(); ++d)
          REQUIRE(found.result.layout.dims[d] == split.dims[rule.result[d]]);
      }
  }
}
