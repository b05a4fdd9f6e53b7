// SPDX-License-Identifier: BSL-1.0
// Tensors of any element type whose values are known, and plain arithmetic on them.
#pragma once

#include "property/generated.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace element_values {

using namespace shardwise;

/// Elements in a row: `std::vector` has no memory for truth values.
template <class T>
class row {
 public:
  row() = default;
  explicit row(std::size_t size) : values_(std::make_unique<T[]>(size)), size_(size) {}
  explicit row(std::span<const T> values) : row(values.size()) {
    std::copy(values.begin(), values.end(), data());
  }
  [[nodiscard]] T* data() noexcept { return values_.get(); }
  [[nodiscard]] const T* data() const noexcept { return values_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  template <std::integral I>
  [[nodiscard]] T& operator[](I i) noexcept {
    return values_[static_cast<std::size_t>(i)];
  }
  template <std::integral I>
  [[nodiscard]] const T& operator[](I i) const noexcept {
    return values_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] operator std::span<const T>() const noexcept { return {data(), size_}; }

 private:
  std::unique_ptr<T[]> values_;
  std::size_t size_ = 0;
};

/// What plain arithmetic on elements is done in: whole numbers wrap in unsigned ones.
template <class T>
using plain = std::conditional_t<Fractional<T>, double, std::int64_t>;

template <class T>
[[nodiscard]] plain<T> number(T x) {
  if constexpr (std::same_as<T, bfloat16> || std::same_as<T, float16>)
    return static_cast<double>(static_cast<float>(x));
  else
    return static_cast<plain<T>>(x);
}
/// The element that a number wraps to, or is rounded to.
template <class T>
[[nodiscard]] T element_from(plain<T> x) {
  if constexpr (std::same_as<T, bfloat16> || std::same_as<T, float16>)
    return T(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

/// One reduction of two elements. Sums and products of 64 bits wrap too.
template <class T>
[[nodiscard]] T reduced(reduction kind, T a, T b) {
  const plain<T> x = number(a);
  const plain<T> y = number(b);
  const auto wrapped = [&](auto f) {
    if constexpr (Fractional<T>)
      return element_from<T>(f(x, y));
    else
      return static_cast<T>(f(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)));
  };
  switch (kind) {
    case reduction::sum:
      return wrapped(std::plus{});
    case reduction::product:
      return wrapped(std::multiplies{});
    case reduction::max:
      return x < y ? b : a;
    case reduction::min:
      return y < x ? b : a;
  }
  return a;
}
/// What a reduction of nothing gives.
template <class T>
[[nodiscard]] T nothing(reduction kind) {
  using limits = std::numeric_limits<T>;
  if (kind == reduction::sum) return element_from<T>(0);
  if (kind == reduction::product) return element_from<T>(1);
  if constexpr (Fractional<T>)
    return kind == reduction::max ? T(-limits::infinity()) : limits::infinity();
  return kind == reduction::max ? limits::lowest() : limits::max();
}

/// The reductions that a type has.
template <class T>
[[nodiscard]] std::vector<reduction> reductions() {
  if (std::same_as<T, bool>) return {reduction::max, reduction::min};
  return {reduction::sum, reduction::product, reduction::max, reduction::min};
}

/// Elements whose reductions are exact: small whole numbers where there are fractions, any where
/// whole numbers wrap.
template <class T>
[[nodiscard]] T drawn(generated::numbers& random) {
  if constexpr (std::same_as<T, bool>)
    return random.below(3) == 0;
  else if constexpr (Fractional<T>)
    return element_from<T>(static_cast<double>(random.below(5) - 2));
  else
    return static_cast<T>(static_cast<std::uint64_t>(random.below(1 << 30)) * 0x9E3779B97F4A7C15U);
}

/// A tensor whose shards were filled one by one, and the value that they stand for.
template <class T>
struct known {
  any_tensor<T> tensor;
  row<T> value;
};

/// Calls `f(local, offset)` for each element of a part: its place there and in the whole tensor.
template <class F>
void for_each_element(const held_box& part, const extents_desc& extents, const F& f) {
  const inplace_vector<index_t, max_rank> strides = row_major(extents);
  const inplace_vector<index_t, max_rank> own = row_major(extents_of(part));
  const index_t count = element_count(extents_of(part));
  for (index_t i = 0; i < count; ++i) {
    index_t offset = 0;
    for (int d = 0; d < part.ssize(); ++d)
      offset += part[d].global(i / own[d] % part[d].size()) * strides[d];
    f(i, static_cast<std::size_t>(offset));
  }
}

/// Fills every distinct shard with elements of its own; terms of a pending reduction all differ.
template <class T>
[[nodiscard]] known<T> make(const device_pool& pool, const extents_desc& extents,
                            const layout_desc& layout, std::uint64_t seed) {
  auto place =
      std::make_shared<const shard_table>(pool.mesh(), tensor_desc{element_of<T>, extents, layout});
  const shard_table& where = *place;
  row<T> value(static_cast<std::size_t>(element_count(extents)));
  std::vector<char> seen(static_cast<std::size_t>(element_count(extents)), 0);
  generated::numbers random(seed);
  std::vector<shard_buffer<T>> shards;
  for (index_t s = 0; s < where.count(); ++s) {
    const held_box part = where.held_by(where.device_of(s));
    shard_buffer<T> shard(pool.state()->storage(), element_count(extents_of(part)));
    for_each_element(part, extents, [&](index_t i, std::size_t at) {
      const T next = drawn<T>(random);
      shard.writable()[i] = next;
      value[at] = seen[at] != 0 ? reduced(layout.kind, value[at], next) : next;
      seen[at] = 1;
    });
    shards.push_back(shard);
  }
  auto made = std::make_shared<tensor_node>(pool.state(), std::move(place), shards);
  made->charge(pool.state()->memory());
  return {internal::handle_of<any_tensor<T>>(std::move(made)), std::move(value)};
}

/// The elements of a tensor on the host, pending reductions finished first.
template <class T>
[[nodiscard]] row<T> values(const any_tensor<T>& x) {
  layout_desc whole = x.layout();
  whole.pending = 0;
  whole.kind = reduction::sum;
  const auto host = to_host(reshard(x, whole));
  return row<T>(host.elements());
}

/// True if both have the same bits.
template <class T>
[[nodiscard]] bool same_bits(const row<T>& a, const row<T>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// True if every device holds just the elements of `value` that its part has.
template <class T>
[[nodiscard]] bool every_device_has(const any_tensor<T>& x, const row<T>& value) {
  bool right = true;
  for (const local_shard<T>& shard : shards(x))
    for_each_element(x.share()->where().held_by(shard.device()), x.extents(),
                     [&](index_t i, std::size_t at) {
                       const T have = shard.elements()[static_cast<std::size_t>(i)];
                       right = right && std::memcmp(&have, value.data() + at, sizeof(T)) == 0;
                     });
  return right;
}

/// Calls `f` with each element type, by a `std::type_identity`.
template <class F>
void for_each_type(const F& f) {
  f(std::type_identity<bool>{});
  f(std::type_identity<std::int8_t>{});
  f(std::type_identity<std::uint8_t>{});
  f(std::type_identity<std::int32_t>{});
  f(std::type_identity<std::int64_t>{});
  f(std::type_identity<bfloat16>{});
  f(std::type_identity<float16>{});
  f(std::type_identity<float>{});
  f(std::type_identity<double>{});
}

}  // namespace element_values
