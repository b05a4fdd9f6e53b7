// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/activation.hpp"
#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/finite.hpp"
#include "shardwise/operation/full_like.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/paper_steps.hpp"
#include "shardwise/operation/special.hpp"

#include <cstddef>
#include <iterator>

namespace shardwise::detail {

/// Rules that check an operand of a composition, to report why one of its steps is an error.
struct elementwise_judge {
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    operand_extents extents;
    for (const tensor_desc& x : operands) extents.push_back(x.extents);
    return elementwise_rule(linearity::nonlinear, extents);
  }
};
/// The same for functions of elements of every type.
struct any_elementwise_judge : elementwise_judge, of_any_elements {};

/// The steps of elementwise functions that are composed of others, on abstract tensors.
namespace composed_steps {

namespace f = functions;

constexpr void hardtanh(paper_steps& at, const attributes&, const tensor_descs& x,
                        tensor_results& out) {
  const tensor_desc n = paper_steps::number(x[0]);
  out.push_back(at.each<f::clamp>(x[0], n, n));
}
[[nodiscard]] constexpr tensor_desc hard_sigmoid_of(paper_steps& at, const tensor_desc& x) {
  const tensor_desc n = paper_steps::number(x);
  return at.each<f::divide>(at.each<f::clamp>(at.each<f::add>(x, n), n, n), n);
}
constexpr void hard_sigmoid(paper_steps& at, const attributes&, const tensor_descs& x,
                            tensor_results& out) {
  out.push_back(hard_sigmoid_of(at, x[0]));
}
constexpr void hard_swish(paper_steps& at, const attributes&, const tensor_descs& x,
                          tensor_results& out) {
  out.push_back(at.each<f::multiply>(x[0], hard_sigmoid_of(at, x[0])));
}
constexpr void selu(paper_steps& at, const attributes&, const tensor_descs& x,
                    tensor_results& out) {
  const tensor_desc n = paper_steps::number(x[0]);
  out.push_back(at.each<f::multiply>(at.each<f::elu>(x[0], n), n));
}
constexpr void celu(paper_steps& at, const attributes&, const tensor_descs& x,
                    tensor_results& out) {
  const tensor_desc scaled = at.each<f::divide>(x[0], x[1]);
  out.push_back(at.each<f::multiply>(at.each<f::elu>(scaled, paper_steps::number(x[0])), x[1]));
}
constexpr void soft_shrink(paper_steps& at, const attributes&, const tensor_descs& x,
                           tensor_results& out) {
  out.push_back(at.each<f::subtract>(x[0], at.each<f::clamp>(x[0], x[1], x[1])));
}
constexpr void hard_shrink(paper_steps& at, const attributes&, const tensor_descs& x,
                           tensor_results& out) {
  const tensor_desc n = paper_steps::number(x[0]);
  out.push_back(at.each<f::where>(at.each<f::less_equal>(at.each<f::abs>(x[0]), x[1]), n, x[0]));
}
constexpr void logit(paper_steps& at, const attributes&, const tensor_descs& x,
                     tensor_results& out) {
  const tensor_desc rest = at.each<f::log1p>(at.each<f::negate>(x[0]));
  out.push_back(at.each<f::subtract>(at.each<f::log>(x[0]), rest));
}
constexpr void of_one_number(paper_steps& at, const attributes& how, const tensor_descs& x,
                             tensor_results& out) {
  out.push_back(at.apply<full_like_operation>(how, x[0], paper_steps::number(x[0])));
}
constexpr void scaled(paper_steps& at, const attributes&, const tensor_descs& x,
                      tensor_results& out) {
  out.push_back(at.each<f::multiply>(x[0], paper_steps::number(x[0])));
}
constexpr void sinc(paper_steps& at, const attributes&, const tensor_descs& x,
                    tensor_results& out) {
  const tensor_desc n = paper_steps::number(x[0]);
  const tensor_desc square = at.each<f::multiply>(x[0], x[0]);
  const tensor_desc bounded = at.each<f::minimum>(square, n);
  const tensor_desc angle = at.each<f::multiply>(at.each<f::maximum>(at.each<f::abs>(x[0]), n), n);
  const tensor_desc is_near = at.each<f::less>(square, n);
  tensor_desc series = n;
  for (std::size_t k = 1; k < std::size(sinc_terms); ++k)
    series = at.each<f::add>(at.each<f::multiply>(bounded, series), n);
  out.push_back(
      at.each<f::where>(is_near, series, at.each<f::divide>(at.each<f::sin>(angle), angle)));
}
constexpr void heaviside(paper_steps& at, const attributes&, const tensor_descs& x,
                         tensor_results& out) {
  const tensor_desc n = paper_steps::number(x[0]);
  out.push_back(at.each<f::where>(at.each<f::equal>(x[0], n), x[1],
                                  at.each<f::clamp>(at.each<f::sign>(x[0]), n, n)));
}
constexpr void nan_to_num(paper_steps& at, const attributes&, const tensor_descs& x,
                          tensor_results& out) {
  const tensor_desc n = paper_steps::number(x[0]);
  out.push_back(at.each<f::where>(at.each<f::isnan>(x[0]), n, at.each<f::clamp>(x[0], n, n)));
}
constexpr void isclose(paper_steps& at, const attributes&, const tensor_descs& x,
                       tensor_results& out) {
  const tensor_desc n = paper_steps::number(x[0]);
  const tensor_desc apart = at.each<f::abs>(at.each<f::subtract>(x[0], x[1]));
  const tensor_desc most = at.each<f::add>(at.each<f::multiply>(at.each<f::abs>(x[1]), n), n);
  const tensor_desc is_near =
      at.each<f::logical_and>(at.each<f::isfinite>(x[1]), at.each<f::less_equal>(apart, most));
  out.push_back(at.each<f::logical_or>(at.each<f::equal>(x[0], x[1]), is_near));
}
constexpr void log_sigmoid(paper_steps& at, const attributes&, const tensor_descs& x,
                           tensor_results& out) {
  out.push_back(at.each<f::negate>(at.each<f::softplus>(at.each<f::negate>(x[0]))));
}
constexpr void lerp(paper_steps& at, const attributes&, const tensor_descs& x,
                    tensor_results& out) {
  out.push_back(
      at.each<f::add>(x[0], at.each<f::multiply>(x[2], at.each<f::subtract>(x[1], x[0]))));
}
constexpr void addcmul(paper_steps& at, const attributes&, const tensor_descs& x,
                       tensor_results& out) {
  const tensor_desc product = at.each<f::multiply>(x[1], x[2]);
  out.push_back(at.each<f::add>(x[0], at.each<f::multiply>(product, paper_steps::number(x[0]))));
}

}  // namespace composed_steps
}  // namespace shardwise::detail
