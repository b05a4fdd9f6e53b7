// SPDX-License-Identifier: BSL-1.0
#include "property/row_agreement.hpp"
#include "property/rows/tables.hpp"

using namespace generated;

TEST_CASE("Fourier transforms agree with sums under every layout") { check_rows(fourier_rows()); }
