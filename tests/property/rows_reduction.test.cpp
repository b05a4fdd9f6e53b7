// SPDX-License-Identifier: BSL-1.0
#include "property/row_agreement.hpp"
#include "property/rows/tables.hpp"

using namespace generated;

TEST_CASE("reductions agree with loops under every layout") { check_rows(reduce_rows()); }
TEST_CASE("statistics agree with loops under every layout") { check_rows(statistic_rows()); }
TEST_CASE("counts agree with loops under every layout") { check_rows(counting_rows()); }
TEST_CASE("scans agree with loops under every layout") { check_rows(scan_rows()); }
TEST_CASE("searches agree with loops under every layout") { check_rows(search_rows()); }
TEST_CASE("orders agree with loops under every layout") { check_rows(order_rows()); }
TEST_CASE("triangles and indices agree with loops under every layout") { check_rows(place_rows()); }
TEST_CASE("quantiles agree with loops under every layout") { check_rows(quantile_rows()); }
