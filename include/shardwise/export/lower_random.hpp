// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/philox.hpp"
#include "shardwise/export/lower_shapes.hpp"

#include <array>
#include <cmath>

namespace shardwise::internal::random_lowerings {

/// The four words of 32 bits that Philox makes of each counter.
using words = std::array<mlir_value, 4>;

/// Returns the halves of integers of 64 bits, the lower one first.
inline std::array<mlir_value, 2> halves(lowering& at, const mlir_value& x) {
  const mlir_value upper = at.each("shift_right_logical", {x, at.integer(32, x.type)});
  const mlir_value low_bits = at.both(x, at.integer(0xFFFFFFFF, x.type));
  return {at.convert(low_bits, "ui32"), at.convert(upper, "ui32")};
}
inline mlir_value joined(lowering& at, const mlir_value& low, const mlir_value& high) {
  const mlir_value upper = at.convert(high, "ui64");
  return at.either(at.convert(low, "ui64"),
                   at.each("shift_left", {upper, at.integer(32, upper.type)}));
}
/// Appends the ten rounds of Philox4x32 for counters and keys of 64 bits.
inline words philox_words(lowering& at, const mlir_value& key, stream purpose,
                          const mlir_value& counter) {
  auto keys = halves(at, key);
  const auto counters = halves(at, counter);
  const mlir_type narrow = counters[0].type, wide = narrow.of("ui64");
  words w{counters[0], counters[1], at.integer(0, narrow),
          at.integer(static_cast<index_t>(purpose), narrow)};
  constexpr index_t factors[] = {0xD2511F53, 0xCD9E8D57};
  constexpr index_t steps[] = {0x9E3779B9, 0xBB67AE85};
  for (int round = 0; round < 10; ++round) {
    std::array<std::array<mlir_value, 2>, 2> products;
    for (std::size_t k = 0; k < 2; ++k)
      products[k] =
          halves(at, at.multiply(at.convert(w[2 * k], "ui64"), at.integer(factors[k], wide)));
    const auto mixed = [&](const mlir_value& upper, const mlir_value& word, const mlir_value& by) {
      return at.each("xor", {at.each("xor", {upper, word}), by});
    };
    w = {mixed(products[1][1], w[1], keys[0]), products[1][0], mixed(products[0][1], w[3], keys[1]),
         products[0][0]};
    for (std::size_t k = 0; k < 2 && round < 9; ++k)
      keys[k] = at.add(keys[k], at.integer(steps[k], narrow));
  }
  return w;
}
/// Returns the bits of integers as unsigned ones of 64 bits.
inline mlir_value as_bits(lowering& at, const mlir_value& x) {
  const mlir_value wide = at.convert(x, "i64");
  return at.op("bitcast_convert", {wide}, wide.type.of("ui64"));
}
/// Returns the row-major positions of the elements of a tensor.
inline mlir_value positions(lowering& at, const mlir_type& like) {
  index_t count = 1;
  bool is_part = false;
  for (int d = 0; d < like.rank(); ++d) {
    count *= like.extents[d];
    is_part = is_part || !at.start_of(d).name.empty();
  }
  if (!is_part) return at.reshape(at.iota({"ui64", {count}}, 0), like.extents);
  mlir_value out = at.integer(0, like.of("i64"));
  for (int d = 0; d < like.rank(); ++d) {
    const mlir_value size = at.integer(at.operands()[0].extents[d], out.type);
    out = at.add(at.multiply(out, size), at.indices(like, d));
  }
  return at.convert(out, "ui64");
}
/// Returns, of the four words of each counter, the one with the number `which`.
inline mlir_value chosen(lowering& at, const words& w, const mlir_value& which) {
  mlir_value out = w[0];
  for (std::size_t k = 1; k < 4; ++k)
    out = at.select(at.compare(which, "EQ", at.integer(static_cast<index_t>(k), which.type)), w[k],
                    out);
  return out;
}
/// Returns the words of the counters of positions: each counter has `each` numbers.
inline words words_at(lowering& at, const mlir_value& key, stream purpose, const mlir_value& place,
                      index_t each) {
  const mlir_value counter = at.divide(place, at.integer(each, place.type));
  return philox_words(at, at.spread(as_bits(at, key), place.type.extents), purpose, counter);
}

template <stream Purpose>
mlir_values derived_key(lowering& at) {
  const words w = philox_words(at, as_bits(at, at.in(0)), Purpose, as_bits(at, at.in(1)));
  const mlir_value key = joined(at, w[0], w[1]);
  return {at.convert(at.op("bitcast_convert", {key}, key.type.of("i64")), at.result().element)};
}
/// Keeps the elements whose random word is at least the rate, and scales them.
inline mlir_values dropout(lowering& at) {
  const mlir_value& x = at.in();
  const mlir_value place = positions(at, x.type);
  const words w = words_at(at, at.in(1), stream::dropout, place, 4);
  const mlir_value which = at.each("remainder", {place, at.integer(4, place.type)});
  const mlir_value word = at.convert(chosen(at, w, which), "ui64");
  const mlir_value given = at.convert(at.in(2), "f64");
  const mlir_value zero = at.number(0, given), one = at.number(1, given);
  const mlir_value rate = at.minimum(one, at.select(at.compare(given, "GT", zero), given, zero));
  const mlir_value dropped = at.convert(at.multiply(rate, at.number(0x1p32, rate)), "ui64");
  const mlir_value rest = at.subtract(one, rate);
  const mlir_value scale =
      at.select(at.compare(rate, "LT", one),
                at.divide(one, at.select(at.compare(rate, "LT", one), rest, one)), zero);
  const std::string_view wide = at.in(2).type.element;
  const mlir_value scaled =
      at.multiply(at.convert(x, wide), at.spread(at.convert(scale, wide), x.type.extents));
  const mlir_value is_kept = at.compare(word, "GE", at.spread(dropped, place.type.extents));
  return {at.select(is_kept, at.convert(scaled, x.type.element), at.integer(0, x.type))};
}
/// Numbers from 0 up to 1: the leading bits of one word, or of two for 64 bits.
inline mlir_values uniform_like(lowering& at) {
  const mlir_type& made = at.result();
  const mlir_value place = positions(at, made);
  const bool is_wide = made.element == "f64";
  const index_t each = is_wide ? 2 : 4;
  const words w = words_at(at, at.in(1), stream::uniform, place, each);
  const mlir_value which = at.each("remainder", {place, at.integer(each, place.type)});
  if (is_wide) {
    const mlir_value bits = at.select(at.compare(which, "EQ", at.integer(0, which.type)),
                                      joined(at, w[0], w[1]), joined(at, w[2], w[3]));
    const mlir_value leading =
        at.convert(at.each("shift_right_logical", {bits, at.integer(11, bits.type)}), "f64");
    return {at.multiply(leading, at.number(0x1p-53, leading))};
  }
  const mlir_value bits = chosen(at, w, which);
  const mlir_value leading =
      at.convert(at.each("shift_right_logical", {bits, at.integer(8, bits.type)}), "f32");
  const mlir_value number = at.multiply(leading, at.number(0x1p-24, leading));
  if (made.element == "f32") return {number};
  // Narrow numbers are rounded down, so that they stay below 1.
  const double steps = made.element == "bf16" ? 256 : 2048;
  const mlir_value whole = at.each("floor", {at.multiply(number, at.number(steps, number))});
  return {at.convert(at.divide(whole, at.number(steps, whole)), made.element)};
}

}  // namespace shardwise::internal::random_lowerings
