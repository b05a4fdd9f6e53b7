// SPDX-License-Identifier: BSL-1.0
// The tables of operations, one file each, which are compiled once.
#pragma once

#include "property/operation_row.hpp"

namespace generated {

// arrangement.cpp
std::vector<operation_row> arrangement_rows();

// bitcast.cpp
std::vector<operation_row> bitcast_rows();

// elementwise.cpp
std::vector<operation_row> arithmetic_rows();
std::vector<operation_row> transcendental_rows();
std::vector<operation_row> trigonometric_rows();
std::vector<operation_row> exponential_rows();
std::vector<operation_row> rounding_rows();
std::vector<operation_row> special_rows();
std::vector<operation_row> bitwise_rows();
std::vector<operation_row> activation_rows();
std::vector<operation_row> choice_rows();
std::vector<operation_row> elementwise_rows();

// fourier.cpp
std::vector<operation_row> fourier_rows();

// fused.cpp
std::vector<operation_row> fused_rows();

// indexing.cpp
std::vector<operation_row> indexing_rows();

// matrices.cpp
std::vector<operation_row> matrix_rows();

// products.cpp
std::vector<operation_row> product_rows();

// reduction.cpp
std::vector<operation_row> reduce_rows();
std::vector<operation_row> statistic_rows();
std::vector<operation_row> counting_rows();
std::vector<operation_row> scan_rows();
std::vector<operation_row> search_rows();
std::vector<operation_row> quantile_rows();
std::vector<operation_row> order_rows();
std::vector<operation_row> place_rows();
std::vector<operation_row> reduction_rows();

// semiring.cpp
std::vector<operation_row> semiring_rows();

// shape.cpp
std::vector<operation_row> shape_rows();
std::vector<operation_row> contraction_rows();

// window.cpp
std::vector<operation_row> window_rows();

}  // namespace generated
