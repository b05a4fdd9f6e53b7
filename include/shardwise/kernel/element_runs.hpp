// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/in_register.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// The bits of an element, as a type that compilers have vectors of.
template <std::size_t Size>
using bits_of_size = std::conditional_t<
    Size == 1, std::uint8_t,
    std::conditional_t<Size == 2, std::uint16_t,
                       std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;

/// The number of bytes of the vectors in which elements are permuted: as many as one instruction
/// permutes.
#if defined(__AVX512BW__)
inline constexpr std::size_t permuted_bytes = 64;
#elif defined(__AVX2__)
inline constexpr std::size_t permuted_bytes = 32;
#else
inline constexpr std::size_t permuted_bytes = 16;
#endif

/// Copies elements that are 2 apart, or contiguous elements in reverse order, `Bytes` bytes at a
/// time, and returns their number; the caller copies the rest. Memory is read forwards in either
/// case: processors fetch what follows before it is asked for.
template <index_t Stride, std::size_t Bytes, class T>
[[nodiscard]] index_t gather_vectors(const T* from, index_t count, T* to) noexcept {
  static_assert(Stride == 2 || Stride == -1);
  constexpr std::size_t lanes = Bytes / sizeof(T);
  constexpr auto step = static_cast<index_t>(lanes);
  typedef bits_of_size<sizeof(T)> vector __attribute__((vector_size(Bytes)));
  const auto run = [&]<std::size_t... I>(std::index_sequence<I...>) {
    // For elements 2 apart, the last element of a vector may not exist.
    const index_t end = std::max(count - (Stride == 2 ? 1 : 0), index_t{0}) / step * step;
    // Where in the result the vector is that is read after `done` elements.
    const auto place = [&](index_t done) { return Stride == 2 ? done : end - step - done; };
    const auto load = [&](index_t done) {
      const index_t at = place(done);
      vector first, second;
      if constexpr (Stride == 2) {
        std::memcpy(&first, from + 2 * at, sizeof first);
        std::memcpy(&second, from + 2 * at + step, sizeof second);
        return vector(__builtin_shufflevector(first, second, (2 * I)...));
      } else {
        std::memcpy(&first, from - at - (step - 1), sizeof first);
        return vector(__builtin_shufflevector(first, first, (lanes - 1 - I)...));
      }
    };
    const auto store = [&](const vector& in, index_t done) {
      std::memcpy(static_cast<void*>(to + place(done)), &in, sizeof in);
    };
    index_t done = 0;
    // Four vectors at a time, so that more cache lines are on their way.
    for (; done + 4 * step <= end; done += 4 * step) {
      const vector a = load(done), b = load(done + step);
      const vector c = load(done + 2 * step), d = load(done + 3 * step);
      store(a, done);
      store(b, done + step);
      store(c, done + 2 * step);
      store(d, done + 3 * step);
    }
    for (; done < end; done += step) store(load(done), done);
    return end;
  };
  return run(std::make_index_sequence<lanes>{});
}

/// The same with the widest vectors, and with shorter ones for the remainder.
template <index_t Stride, std::size_t Bytes = permuted_bytes, class T>
[[nodiscard]] index_t gather_permuted(const T* from, index_t count, T* to) noexcept {
  const index_t done = gather_vectors<Stride, Bytes>(from, count, to);
  if constexpr (Bytes == 16)
    return done;
  else
    return done + gather_permuted<Stride, Bytes / 2>(from + Stride * done, count - done, to + done);
}

/// Copies `bytes` bytes, at least `4 permuted_bytes`, four vectors at a time; the last ones may
/// overlap those before.
inline void copy_vectors(const std::byte* from, std::size_t bytes, std::byte* to) noexcept {
  typedef std::uint8_t vector __attribute__((vector_size(permuted_bytes)));
  constexpr std::size_t at_once = 4 * permuted_bytes;
  const auto load = [&](std::size_t at) {
    vector out;
    std::memcpy(&out, from + at, sizeof out);
    in_register(out);
    return out;
  };
  const auto store = [&](const vector& in, std::size_t at) {
    std::memcpy(to + at, &in, sizeof in);
  };
  const std::size_t last = bytes - at_once;
  for (std::size_t at = 0;; at = std::min(at + at_once, last)) {
    // Four variables, because g++ keeps the elements of an array in memory.
    const vector a = load(at), b = load(at + permuted_bytes);
    const vector c = load(at + 2 * permuted_bytes), d = load(at + 3 * permuted_bytes);
    store(a, at);
    store(b, at + permuted_bytes);
    store(c, at + 2 * permuted_bytes);
    store(d, at + 3 * permuted_bytes);
    if (at == last) return;
  }
}

}  // namespace detail

/// Copies `count` contiguous elements.
template <class T>
void copy_run(const T* from, index_t count, T* to) noexcept {
  // The standard library uses one instruction for long copies. On some processors it begins slowly,
  // and takes 30 times as long if the target is a few bytes further in its page than the source.
  constexpr std::uintptr_t page = 4096, near = 256;
  constexpr std::size_t is_long = 2048, is_very_long = 32768;
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  const auto apart =
      (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % page;
  if (bytes > is_long && (bytes < is_very_long || (apart != 0 && apart < near)))
    detail::copy_vectors(reinterpret_cast<const std::byte*>(from), bytes,
                         reinterpret_cast<std::byte*>(to));
  else
    std::memcpy(static_cast<void*>(to), from, bytes);
}

/// Copies `count` elements that are `stride` apart to contiguous memory; stride 0 repeats one.
template <class T>
void gather_elements(const T* from, index_t stride, index_t count, T* to) noexcept {
  // A call costs more than copying a few elements.
  if (stride == 1 && count >= 16) return copy_run(from, count, to);
  if (stride == 0 && count > 0) {
    std::fill_n(to, count, *from);  // compilers vectorise this
    return;
  }
  index_t done = 0;
  if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= 8) {
    if (stride == 2) done = detail::gather_permuted<2>(from, count, to);
    // Few rows begin where no vector of 64 bytes spans two cache lines.
    constexpr std::size_t bytes = std::min(detail::permuted_bytes, std::size_t{32});
    if (stride == -1) done = detail::gather_permuted<-1, bytes>(from, count, to);
  }
  for (; done < count; ++done) to[done] = from[done * stride];
}

/// Copies `count` contiguous elements to elements that are `stride` apart.
template <class T>
void scatter_elements(const T* from, index_t count, T* to, index_t stride) noexcept {
  if (stride == 1 && count >= 16)
    copy_run(from, count, to);
  else
    for (index_t i = 0; i < count; ++i) to[i * stride] = from[i];
}

}  // namespace shardwise
