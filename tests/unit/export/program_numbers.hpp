// SPDX-License-Identifier: BSL-1.0
// The numbers of a program, run by the library on its mesh and by the reader from the exported
// text.
#pragma once

#include "support/with_element.hpp"
#include "unit/export/stablehlo_reader.hpp"
#include <shardwise/export.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace hlo_text {

using shardwise::element;
using shardwise::program_view;
using shardwise::value_id;

/// Calls `f` with the type of these elements, as a `std::type_identity`.
template <class F>
auto with_element(element type, const F& f) {
  return with_one_of<float, double, std::int32_t, std::int64_t, std::int8_t, std::uint8_t,
                     shardwise::bfloat16, shardwise::float16, bool>(type, f);
}

/// Numbers for the inputs of a program, the same each time: fractions between 0 and 1, integers and
/// indices of 1 and 2, and symmetric, positive definite matrices where they are square.
inline tensor drawn(const tensor_type& type, std::uint64_t seed) {
  tensor out(type);
  std::uint64_t state = 2 * seed + 1;
  const element_form form = out.form();
  for (number& each : out.elements) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto bits = static_cast<std::int64_t>(state >> 40U);
    if (form.is_float)
      each = as_element(real_number(0.1 + 0.8 * static_cast<double>(bits) / (1 << 24)), form);
    else
      each = whole_number(form.bits == 1 ? bits % 2 : 1 + bits % 2);
  }
  const int rank = out.rank();
  if (!form.is_float || rank < 2 || out.extent(rank - 1) != out.extent(rank - 2)) return out;
  for_each_index(type.extents, [&](const indices& at) {
    indices mirrored = at;
    std::swap(mirrored[at.size() - 1], mirrored[at.size() - 2]);
    if (at[at.size() - 1] > at[at.size() - 2]) out.at(at) = out.at(mirrored);
    if (at == mirrored) out.at(at) = real_number(static_cast<double>(at.back() + 3));
  });
  return out;
}

/// The inputs of a program, with the layouts that it wants.
inline shardwise::program_input given_input(const shardwise::device_pool& pool, const tensor& from,
                                            const shardwise::tensor_desc& wanted) {
  return with_element(wanted.type, [&]<class T>(std::type_identity<T>) {
    const auto all = std::make_unique<T[]>(from.elements.size());
    using wide = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
    for (std::size_t i = 0; i < from.elements.size(); ++i)
      all[i] = from.form().is_float
                   ? static_cast<T>(static_cast<wide>(from.elements[i].real.real()))
                   : static_cast<T>(static_cast<wide>(from.elements[i].whole));
    return shardwise::detail::input_from(shardwise::distribute(
        pool, std::span<const T>(all.get(), from.elements.size()), wanted.extents, wanted.layout));
  });
}
/// The elements of a result, whatever its layout; 64 bits of integers are more than a `double` has.
inline tensor result_of(const shardwise::node_ptr& node, const tensor_type& type) {
  tensor out(type);
  const shardwise::tensor_desc made = node->tensor();
  with_element(made.type, [&]<class T>(std::type_identity<T>) {
    shardwise::layout_desc whole;
    whole.dims.resize(made.extents.size());
    const auto host = shardwise::to_host(
        reshard(shardwise::internal::handle_of<shardwise::any_tensor<T>>(node), whole));
    std::size_t next = 0;
    for (const T each : host.elements())
      out.elements[next++] = out.form().is_float ? real_number(static_cast<double>(each))
                                                 : whole_number(static_cast<std::int64_t>(each));
    return 0;
  });
  return out;
}

/// What two ways to run a program have in common: nothing to say, or the first number that differs
/// by more than `error`, relative for numbers above 1.
struct agreement {
  std::string difference{};
  std::string not_run{};
};
inline std::string difference_of(const tensor& got, const tensor& want, double error) {
  if (!(got.type == want.type)) return "another type";
  for (std::size_t i = 0; i < got.elements.size(); ++i) {
    const double a = got.elements[i].real.real(), b = want.elements[i].real.real();
    const bool is_same = !got.form().is_float ? got.whole(i) == want.whole(i)
                         : std::isnan(a) || std::isnan(b)
                             ? std::isnan(a) && std::isnan(b)
                             : a == b || std::abs(a - b) <= error * std::max(1.0, std::abs(b));
    if (!is_same)
      return "element " + std::to_string(i) + " is " +
             (got.form().is_float ? std::to_string(a) : std::to_string(got.whole(i))) + ", not " +
             (got.form().is_float ? std::to_string(b) : std::to_string(want.whole(i)));
  }
  return {};
}

/// Runs a program by the library, and its text by the reader.
inline agreement compare(const shardwise::device_pool& pool, const program_view& program,
                         const shardwise::export_options& options = {}, double error = 1e-5) {
  using namespace shardwise;
  for (value_id i = 0; i < program.count; ++i)
    if (program.values[i].layout.manual != 0) return {{}, "manual sharding has several devices"};
  const exported_text exported = export_stablehlo(program, options);
  if (!exported.ok()) return {{}, exported.advice};
  stablehlo_reader reader(exported.text);
  tensors arguments;
  internal::growable<program_input> inputs;
  value_id next = 0;
  for (const tensor_type& type : reader.argument_types()) {
    while (!is_input(program.what(next))) ++next;
    arguments.push_back(drawn(type, static_cast<std::uint64_t>(next)));
    inputs.push_back(given_input(pool, arguments.back(), program.values[next++]));
  }
  tensors got;
  try {
    got = reader.run(arguments);
  } catch (const malformed& problem) {
    const std::string why = problem.what();
    if (why.find("nothing is known of a call") != why.npos) return {{}, why};
    return {why, {}};
  }
  const prepared_program ready(
      program,
      {&element_kernels_of<float>, &element_kernels_of<double>, &element_kernels_of<std::int32_t>,
       &element_kernels_of<std::int64_t>, &element_kernels_of<bool>,
       &element_kernels_of<std::int8_t>, &element_kernels_of<std::uint8_t>,
       &element_kernels_of<bfloat16>, &element_kernels_of<float16>});
  ready.check(inputs);
  const internal::growable<node_ptr> results = ready.run(std::move(inputs));
  if (results.size() != got.size()) return {"another number of results", {}};
  for (std::size_t r = 0; r < got.size(); ++r)
    if (const std::string words = difference_of(got[r], result_of(results[r], got[r].type), error);
        !words.empty())
      return {"result " + std::to_string(r) + ": " + words, {}};
  return {};
}

}  // namespace hlo_text
