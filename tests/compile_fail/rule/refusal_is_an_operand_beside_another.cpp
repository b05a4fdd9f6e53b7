// SPDX-License-Identifier: BSL-1.0
// The result of an invalid operation beside a valid operand, on either side, reports no further
// error.
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_out_of_range,
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<none, none>> {};
using X = sharded_tensor<float, extents<8, 8>, rows>;

template <class... Results>
void see(const Results&...);
void use(const X& x) {
  const auto bad = sum<7>(x);
  see(attention<attends::to_earlier>(bad, x, x));
  see(attention<attends::to_earlier>(x, bad, x));
  see(attention<attends::to_earlier>(x, x, bad));
  see(cdist(bad, x));
  see(cdist(x, bad));
  see(batch_norm(bad, x, x, 1e-5, across<"data">));
  see(batch_norm(x, bad, x, 1e-5, across<"data">));
  see(batch_norm(x, x, bad, 1e-5, across<"data">));
  see(instance_norm(bad, x, x, 1e-5));
  see(instance_norm(x, bad, x, 1e-5));
  see(instance_norm(x, x, bad, 1e-5));
  see(group_norm<4>(bad, x, x, 1e-5));
  see(group_norm<4>(x, bad, x, 1e-5));
  see(group_norm<4>(x, x, bad, 1e-5));
  see(concatenate<1>(bad, x));
  see(concatenate<1>(x, bad));
  see(concatenate<0>(bad, x, across<"data">));
  see(concatenate<0>(x, bad, across<"data">));
  see(convolution(bad, x));
  see(convolution(x, bad));
  see(convolution_transpose<strides<2, 2>, paddings<1, 1>>(bad, x));
  see(convolution_transpose<strides<2, 2>, paddings<1, 1>>(x, bad));
  see(cross(bad, x));
  see(cross(x, bad));
  see(dynamic_slice<0, 4>(bad, x));
  see(dynamic_slice<0, 4>(x, bad));
  see(einsum<"bi,ih->bh">(bad, x));
  see(einsum<"bi,ih->bh">(x, bad));
  see(einsum<"ab,bc,cd->ad">(bad, x, x));
  see(einsum<"ab,bc,cd->ad">(x, bad, x));
  see(einsum<"ab,bc,cd->ad">(x, x, bad));
  see(einsum<"...ij,jk->...ik">(bad, x));
  see(einsum<"...ij,jk->...ik">(x, bad));
  see(einsum<"ij, jk">(bad, x));
  see(einsum<"ij, jk">(x, bad));
  see(einsum<"bd,dv->bv", float>(bad, x));
  see(einsum<"bd,dv->bv", float>(x, bad));
  see(einsum<"bi,io->bo", std::int32_t>(bad, x));
  see(einsum<"bi,io->bo", std::int32_t>(x, bad));
  see(isclose(bad, x, 1e-3, 1e-6));
  see(isclose(x, bad, 1e-3, 1e-6));
  see(linalg::householder_product(bad, x));
  see(linalg::householder_product(x, bad));
  see(kron(bad, x));
  see(kron(x, bad));
  see(layer_norm<1>(bad, x, x, 1e-5));
  see(layer_norm<1>(x, bad, x, 1e-5));
  see(layer_norm<1>(x, x, bad, 1e-5));
  see(layer_norm<1>(bad, x, x, 1e-5, across<"model">));
  see(layer_norm<1>(x, bad, x, 1e-5, across<"model">));
  see(layer_norm<1>(x, x, bad, 1e-5, across<"model">));
  see(rms_norm<1>(bad, x, 1e-6));
  see(rms_norm<1>(x, bad, 1e-6));
  see(linalg::lstsq(bad, x));
  see(linalg::lstsq(x, bad));
  see(matmul(bad, x));
  see(matmul(x, bad));
  see(put_along<1, scatter_mode::add>(bad, x, x));
  see(put_along<1, scatter_mode::add>(x, bad, x));
  see(put_along<1, scatter_mode::add>(x, x, bad));
  see(fold_in(bad, x));
  see(fold_in(x, bad));
  see(repeat_each<0, 5>(bad, x));
  see(repeat_each<0, 5>(x, bad));
  see(rotary(bad, x, x));
  see(rotary(x, bad, x));
  see(rotary(x, x, bad));
  see(scatter<0, scatter_mode::add>(bad, x, x));
  see(scatter<0, scatter_mode::add>(x, bad, x));
  see(scatter<0, scatter_mode::add>(x, x, bad));
  see(searchsorted(bad, x));
  see(searchsorted(x, bad));
  see(segment_sum<0, 10>(bad, x));
  see(segment_sum<0, 10>(x, bad));
  see(sum_along<1, 10>(bad, x));
  see(sum_along<1, 10>(x, bad));
  see(einsum<"ij,jk->ik", min_plus>(bad, x));
  see(einsum<"ij,jk->ik", min_plus>(x, bad));
  see(einsum<"ij,jk->ik", or_and>(bad, x));
  see(einsum<"ij,jk->ik", or_and>(x, bad));
  see(linalg::solve(bad, x));
  see(linalg::solve(x, bad));
  see(hypot(bad, x));
  see(hypot(x, bad));
  see(stack<0>(bad, x));
  see(stack<0>(x, bad));
  see(take<0>(bad, x));
  see(take<0>(x, bad));
  see(take<0, out_of_range::clamp>(bad, x));
  see(take<0, out_of_range::clamp>(x, bad));
  see(take_along<1>(bad, x));
  see(take_along<1>(x, bad));
  see(linalg::triangular_solve(bad, x));
  see(linalg::triangular_solve(x, bad));
  see(linalg::triangular_solve<linalg::triangular::lower_transposed>(bad, x));
  see(linalg::triangular_solve<linalg::triangular::lower_transposed>(x, bad));
  see(atan2(bad, x));
  see(atan2(x, bad));
}
