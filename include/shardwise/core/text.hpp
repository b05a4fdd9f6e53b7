// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <concepts>
#include <cstddef>

namespace shardwise {

/// A text of the standard library: `std::string` or `std::string_view`, without their headers.
template <class Text>
concept StandardText = requires {
  Text::npos;
}
&&std::constructible_from<Text, const char*, std::size_t>;

/// A non-owning view of characters: `std::string_view` at a hundredth of its include cost.
///
/// It converts from literals and from anything with `data()` and `size()`, which must outlive it,
/// and to `std::string` and `std::string_view`.
class text_view {
 public:
  constexpr text_view() = default;
  constexpr text_view(const char* data, std::size_t size) noexcept : data_(data), size_(size) {}
  constexpr text_view(const char* zero_terminated) noexcept : data_(zero_terminated) {
    while (data_[size_] != '\0') ++size_;
  }
  template <class S>
    requires requires(const S& s) {
      { s.data() } -> std::convertible_to<const char*>;
      { s.size() } -> std::convertible_to<std::size_t>;
    }
  constexpr text_view(const S& s) noexcept : data_(s.data()), size_(s.size()) {}

  template <StandardText Text>
  constexpr operator Text() const {
    return Text(data_, size_);
  }

  [[nodiscard]] constexpr const char* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr const char* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr const char* end() const noexcept { return data_ + size_; }
  constexpr char operator[](std::size_t i) const noexcept { return data_[i]; }

  /// Returns the characters from `from` on, at most `count` of them.
  [[nodiscard]] constexpr text_view substr(std::size_t from, std::size_t count) const noexcept {
    const std::size_t rest = from < size_ ? size_ - from : 0;
    return {data_ + (size_ - rest), count < rest ? count : rest};
  }

  friend constexpr bool operator==(text_view a, text_view b) noexcept {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (a.data_[i] != b.data_[i]) return false;
    return true;
  }
  /// Compares with a `std::string` or `std::string_view`, which has operators of its own.
  template <StandardText Text>
  friend constexpr bool operator==(text_view a, const Text& b) noexcept {
    return a == text_view(b);
  }

 private:
  const char* data_ = "";
  std::size_t size_ = 0;
};

/// A string of at most `Capacity` characters that can also be built in constant expressions.
///
/// Text that does not fit is truncated and ends with `...`. It converts to `std::string` and
/// `std::string_view`.
///
///     constexpr auto t = [] { bounded_text<32> s; s << "n = " << 8; return s; }();
///     static_assert(t == "n = 8");
///     std::string words = type_name<X>();
template <std::size_t Capacity>
class bounded_text {
 public:
  constexpr bounded_text() = default;
  constexpr bounded_text(text_view words) { *this << words; }
  template <StandardText Text>
  constexpr operator Text() const {
    return Text(characters_, size_);
  }

  [[nodiscard]] constexpr const char* data() const noexcept { return characters_; }
  [[nodiscard]] constexpr const char* c_str() const noexcept { return characters_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }

  constexpr bounded_text& operator<<(text_view words) noexcept {
    const char* const from = words.data();
    const std::size_t room = Capacity - size_;
    const std::size_t count = words.size() < room ? words.size() : room;
    for (std::size_t i = 0; i < count; ++i) characters_[size_ + i] = from[i];
    size_ += count;
    return count < words.size() ? *this << from[count] : *this;
  }
  constexpr bounded_text& operator<<(char c) noexcept {
    if (size_ < Capacity)
      characters_[size_++] = c;
    else
      for (std::size_t i = 1; i <= 3 && i <= Capacity; ++i) characters_[Capacity - i] = '.';
    return *this;
  }
  template <std::integral N>
  constexpr bounded_text& operator<<(N number) noexcept {
    char digits[20]{};
    int n = 0;
    auto rest = static_cast<std::uint64_t>(number);
    if (number < N{}) {
      *this << '-';
      rest = std::uint64_t{} - rest;
    }
    do {
      digits[n++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    while (n > 0) *this << digits[--n];
    return *this;
  }

  friend constexpr bool operator==(const bounded_text& a, text_view b) noexcept {
    return text_view(a) == b;
  }
  template <StandardText Text>
  friend constexpr bool operator==(const bounded_text& a, const Text& b) noexcept {
    return text_view(a) == text_view(b);
  }

 private:
  char characters_[Capacity + 1]{};
  std::size_t size_ = 0;
};

/// Returns true if both have the same characters, whatever their capacities.
template <std::size_t M, std::size_t N>
[[nodiscard]] constexpr bool operator==(const bounded_text<M>& a,
                                        const bounded_text<N>& b) noexcept {
  return text_view(a) == text_view(b);
}

/// A string with room for every message and one-line picture of the library.
using message_text = bounded_text<1000>;

/// An output stream of characters, such as `std::ostream`.
template <class Stream>
concept CharacterStream = requires(Stream& out, const char* c, std::ptrdiff_t n) {
  out.write(c, n);
};

/// Writes characters to a stream without including a stream header. Literals use the stream's own
/// operator.
template <CharacterStream Stream, class Words>
  requires(std::same_as<Words, text_view>)
Stream& operator<<(Stream& out, Words words) {
  out.write(words.data(), static_cast<std::ptrdiff_t>(words.size()));
  return out;
}
template <CharacterStream Stream, std::size_t Capacity>
Stream& operator<<(Stream& out, const bounded_text<Capacity>& words) {
  return out << text_view(words);
}

}  // namespace shardwise
