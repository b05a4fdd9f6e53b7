// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/index_block.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/operation/one_hot.hpp"

#include <cstddef>
#include <cstring>

namespace shardwise {

/// Writes zeros, which are zero bytes in every element type, and the bytes of a 1 for each row.
template <>
struct kernel_of<one_hot_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    const index_t classes = call.how.integers[0];
    const any_block& to = call.results[0];
    if (to.size() == 0) return;  // there may be no memory
    const index_t bytes = size_of(to.type);
    auto* const memory = static_cast<std::byte*>(to.data);
    std::memset(memory, 0, static_cast<std::size_t>(to.size() * bytes));
    const scratch_vector<index_t> ids = detail::indices_of(call.operands[0]);
    const one_bytes one = one_of(to.type);
    for (std::size_t row = 0; row < ids.size(); ++row)
      if (ids[row] >= 0 && ids[row] < classes)
        std::memcpy(memory + (static_cast<index_t>(row) * classes + ids[row]) * bytes, one.bytes,
                    static_cast<std::size_t>(bytes));
  }

 private:
  struct one_bytes {
    std::byte bytes[8];
  };
  template <class T>
  [[nodiscard]] static one_bytes bytes_of(T one) noexcept {
    one_bytes out{};
    std::memcpy(out.bytes, &one, sizeof one);
    return out;
  }
  [[nodiscard]] static one_bytes one_of(element type) noexcept {
    switch (type) {
      case element::f32:
        return bytes_of(1.0F);
      case element::f64:
        return bytes_of(1.0);
      case element::bf16:
        return bytes_of(bfloat16(1.0F));
      case element::f16:
        return bytes_of(float16(1.0F));
      case element::i32:
        return bytes_of(std::int32_t{1});
      case element::i64:
        return bytes_of(std::int64_t{1});
      default:
        return bytes_of(std::uint8_t{1});
    }
  }
};

}  // namespace shardwise
