// SPDX-License-Identifier: BSL-1.0
#pragma once

// Forward declarations of Eigen's matrices and arrays, so that programs that link the compiled
// library include Eigen only if they use it. Default arguments are left to Eigen.
namespace Eigen {
template <typename Derived>
class DenseBase;
template <typename Scalar, int Rows, int Columns, int Options, int MaxRows, int MaxColumns>
class Matrix;
template <typename Scalar, int Rows, int Columns, int Options, int MaxRows, int MaxColumns>
class Array;
template <int Outer, int Inner>
class Stride;
template <typename Plain, int Options, typename Strides>
class Map;
}  // namespace Eigen

namespace shardwise::detail {

/// The value of `Eigen::Dynamic`, for a size that is known only at run time.
inline constexpr int eigen_dynamic = -1;

/// Row-major elements as an Eigen matrix; complete if `<Eigen/Core>` is included.
template <class T>
using eigen_rows = Eigen::Map<
    const Eigen::Matrix<T, eigen_dynamic, eigen_dynamic, 1, eigen_dynamic, eigen_dynamic>, 0,
    Eigen::Stride<0, 0>>;

}  // namespace shardwise::detail
