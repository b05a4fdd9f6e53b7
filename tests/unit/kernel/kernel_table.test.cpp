// SPDX-License-Identifier: BSL-1.0
// What the table of kernels says of an operation that it does not have.
#include "support/catch.hpp"
#include <shardwise/kernel.hpp>

#include <array>
#include <cstdint>
#include <string>

using namespace shardwise;

TEST_CASE("an operation without a kernel names its elements and what registers one") {
  const auto words = [](const operation& what, std::uint64_t types) -> std::string {
    try {
      (void)kernel_table::instance().find(what, types);
    } catch (const error& refused) {
      return refused.what();
    }
    return "";
  };
  CHECK_THAT(words(operation_of<einsum_operation>,
                   types_key(std::array{element::f64, element::i32}, element::f64)),
             contains("operation_has_no_kernel") &&
                 contains("; einsum of f64 i32: name its elements in prepare<...>, or register a "
                          "kernel of your own with enter_operation"));
  CHECK_THAT(words(operation_of<pointwise<functions::relu>>,
                   types_key(std::array{element::f16}, element::f16)),
             contains("; relu of f16: ") && contains(" with enter_function"));
}
