// SPDX-License-Identifier: BSL-1.0
#include "property/row_agreement.hpp"
#include "property/rows/tables.hpp"

using namespace generated;

TEST_CASE("shape operations agree with loops under every layout") { check_rows(shape_rows()); }
TEST_CASE("contractions agree with loops under every layout") { check_rows(contraction_rows()); }
