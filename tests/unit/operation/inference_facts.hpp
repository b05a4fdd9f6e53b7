// SPDX-License-Identifier: BSL-1.0
// The results of operations of the catalogue for types, as facts in text form.
#pragma once

#include "support/catch.hpp"
#include "unit/layout/shard_facts.hpp"
#include <shardwise/notation/jax_type.hpp>
#include <shardwise/operation/infer_operation.hpp>
#include <shardwise/plan/paper_moves.hpp>

#include <string>
#include <vector>

namespace inference {

using namespace shardwise;

/// An operation with its arguments, `sum dims=0 keep_dims=`, its operands, and its results or, for
/// an error, `rule: ` and the suggested operands. Types are separated by `; `. The axes of the mesh
/// are x, y, z, u, v.
struct fact {
  extents_desc mesh;
  const char* operation;
  const char* operands;
  const char* outcome;
};

/// The parts of a text between separators.
inline std::vector<std::string> parts_of(const std::string& words, const std::string& between) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin <= words.size()) {
    const std::size_t end = std::min(words.find(between, begin), words.size());
    if (end > begin) out.push_back(words.substr(begin, end - begin));
    begin = end + between.size();
  }
  return out;
}

inline tensor_desc type_of(const mesh_desc& mesh, const std::string& words) {
  CAPTURE(words);
  const read_tensor read = parse_shown_type(text_view(words), mesh);
  REQUIRE(read.verdict.ok());
  REQUIRE(validate(mesh, read.tensor.layout).ok());
  REQUIRE(validate(mesh, read.tensor.layout, read.tensor.extents).ok());
  return read.tensor;
}
inline std::string words_of(const mesh_desc& mesh, const tensor_desc& type) {
  const auto words = to_text(mesh, type);
  return std::string(words.data(), words.size());
}

/// An operation of the catalogue and its operands, which refer to the text.
struct request {
  const catalogued_operation* entry = nullptr;
  std::vector<std::string> words;
  operation_arguments given{};
  tensor_descs operands{};
  inference_wishes wishes{};
};
inline request read_request(const mesh_desc& mesh, const char* operation, const char* operands) {
  request out;
  out.words = parts_of(operation, " ");
  out.entry = find_operation(text_view(out.words[0]));
  REQUIRE(out.entry != nullptr);
  for (std::size_t i = 1; i < out.words.size(); ++i) {
    const std::string& word = out.words[i];
    const std::size_t equals = word.find('=');
    const text_view name(word.data(), equals);
    REQUIRE(
        out.given.set(name, text_view(word.data() + equals + 1, word.size() - equals - 1)).ok());
    if (name == "across")
      for (const std::string& axis : parts_of(word.substr(equals + 1), ","))
        out.wishes.permitted |= 1U << mesh.find(text_view(axis));
  }
  const argument_fault fault = check_arguments(*out.entry, out.given);
  REQUIRE(fault.missing.empty());
  REQUIRE(!fault.has_unknown);
  REQUIRE(fault.too_long.empty());
  for (const std::string& type : parts_of(operands, "; "))
    out.operands.push_back(type_of(mesh, type));
  return out;
}

inline void check_fact(const fact& one) {
  CAPTURE(one.operation, one.operands);
  const mesh_desc mesh = mesh_of_sizes(one.mesh);
  const request asked = read_request(mesh, one.operation, one.operands);
  const operation_inference made =
      infer_operation(mesh, *asked.entry, asked.given, asked.operands, asked.wishes);
  std::string outcome;
  const auto list = [&](const auto& types) {
    for (const tensor_desc& type : types)
      outcome += (&type == types.begin() ? "" : "; ") + words_of(mesh, type);
  };
  if (made.ok()) {
    list(made.results);
  } else {
    const text_view rule = made.misuse.empty() ? name_of(made.verdict.rule) : made.misuse;
    outcome = std::string(rule.data(), rule.size()) + (made.legal.empty() ? "" : ": ");
    list(made.legal);
    // The suggested operands are valid.
    if (!made.legal.empty())
      CHECK(infer_operation(mesh, *asked.entry, asked.given, made.legal, asked.wishes).ok());
  }
  CHECK(outcome == one.outcome);
}

template <std::size_t N>
void check_facts(const fact (&facts)[N]) {
  for (const fact& one : facts) check_fact(one);
}

/// The communication as text: `all_gather x; all_reduce y,z`. For an error it is that of the
/// suggested reshards; if `wanted` is a type, it includes the reshard to that type.
struct movement {
  extents_desc mesh;
  const char* operation;
  const char* operands;
  const char* wanted;
  const char* moves;
};
inline void check_movement(const movement& one) {
  CAPTURE(one.operation, one.operands, one.wanted);
  const mesh_desc mesh = mesh_of_sizes(one.mesh);
  request asked = read_request(mesh, one.operation, one.operands);
  std::string moves;
  const auto reshard = [&](const paper_reshard& change) {
    const redistribution way = moves_of(mesh, change);
    REQUIRE(way.verdict.ok());
    for (const planned_transfer& step : way.moves) {
      const axis_list axes = moving_axes(mesh, step);
      if (axes.empty()) continue;
      const text_view kind = to_text(step.kind);
      moves += (moves.empty() ? "" : "; ") + std::string(kind.data(), kind.size()) + " ";
      for (const std::uint8_t& a : axes)
        moves += (&a == axes.begin() ? "" : ",") + std::string(mesh.axes[a].label.data());
    }
  };
  tensor_desc wanted;
  if (*one.wanted != '\0') {
    wanted = type_of(mesh, one.wanted);
    asked.wishes.wanted = &wanted.layout;
  }
  const auto infer = [&](const tensor_descs& operands) {
    return infer_operation(mesh, *asked.entry, asked.given, operands, asked.wishes);
  };
  operation_inference made = infer(asked.operands);
  if (!made.ok()) {
    REQUIRE(!made.legal.empty());
    for (int o = 0; o < asked.operands.ssize(); ++o)
      reshard({asked.operands[o], made.legal[o].layout, {}});
    made = infer(made.legal);
  }
  REQUIRE(made.ok());
  for (const paper_reshard& step : made.reshards) reshard(step);
  if (*one.wanted != '\0') {
    CHECK(made.results[0].extents == wanted.extents);
    reshard({made.results[0], wanted.layout, {}});
  }
  CHECK(moves == one.moves);
}
template <std::size_t N>
void check_movements(const movement (&all)[N]) {
  for (const movement& one : all) check_movement(one);
}

/// The example of an operation in the catalogue.
inline request request_of(const mesh_desc& mesh, const catalogued_operation& entry) {
  std::string words(entry.name.data(), entry.name.size());
  if (!entry.arguments.empty())
    words += " " + std::string(entry.arguments.data(), entry.arguments.size());
  std::string operands;
  for (const std::string& type :
       parts_of(std::string(entry.operands.data(), entry.operands.size()), " "))
    operands += (operands.empty() ? "" : "; ") + type;
  return read_request(mesh, words.c_str(), operands.c_str());
}

/// A tensor under layouts over two axes: whole, split by one or both, in one dimension in either
/// order or in two, pending.
inline std::vector<tensor_desc> laid_out(const tensor_desc& unsplit) {
  std::vector<tensor_desc> out{unsplit};
  const auto with = [&](const auto& change) {
    tensor_desc one = unsplit;
    change(one.layout);
    const unsigned used = one.layout.pending | internal::bits_of(one.layout.splitting_axes());
    one.layout.manual = static_cast<std::uint8_t>(one.layout.manual & ~used);
    one.layout.uneven = true;
    out.push_back(one);
  };
  for (int d = 0; d < unsplit.rank(); ++d)
    for (const axis_list& axes : {axis_list{0}, axis_list{1}, axis_list{0, 1}, axis_list{1, 0}})
      with([&](layout_desc& layout) { layout.dims[d] = axes; });
  for (int d = 0; d < unsplit.rank(); ++d)
    for (int e = 0; e < unsplit.rank(); ++e)
      if (d != e)
        with([&](layout_desc& layout) {
          layout.dims[d] = {0};
          layout.dims[e] = {1};
        });
  with([](layout_desc& layout) { layout.pending = 2; });
  // Of values that differ along an axis too, which collectives read.
  if (unsplit.layout.manual != 0) {
    with([](layout_desc& layout) { layout.manual = 0; });
    with([](layout_desc& layout) { layout.pending = 1; });
  }
  return out;
}

/// Calls `f(operands)` for the operands of an example under all of these layouts.
template <class F>
void for_each_layout(const request& asked, const F& f) {
  std::vector<std::vector<tensor_desc>> choices;
  for (const tensor_desc& operand : asked.operands) choices.push_back(laid_out(operand));
  std::vector<std::size_t> at(choices.size(), 0);
  for (bool more = true; more;) {
    tensor_descs operands;
    for (std::size_t o = 0; o < at.size(); ++o) operands.push_back(choices[o][at[o]]);
    f(operands);
    std::size_t o = 0;
    while (o < at.size() && ++at[o] == choices[o].size()) at[o++] = 0;
    more = o < at.size();
  }
}
inline std::string words_of(const mesh_desc& mesh, const tensor_descs& operands) {
  std::string words;
  for (const tensor_desc& each : operands) words += words_of(mesh, each) + "; ";
  return words;
}

}  // namespace inference
