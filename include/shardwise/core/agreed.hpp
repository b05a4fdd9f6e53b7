// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <type_traits>

namespace shardwise::internal {

struct agreed;
template <class A, class B>
concept OneAgreed = std::is_base_of_v<agreed, A> || std::is_base_of_v<agreed, B>;

/// The number that answers a question about an invalid program: every assertion about it, and about
/// what is computed from it, holds, since the error has been reported.
struct agreed {
  constexpr operator index_t() const noexcept { return 0; }
  template <class A, class B>
    requires OneAgreed<A, B>
  friend constexpr agreed operator+(const A&, const B&) noexcept { return {}; }
  template <class A, class B>
    requires OneAgreed<A, B>
  friend constexpr agreed operator-(const A&, const B&) noexcept { return {}; }
  template <class A, class B>
    requires OneAgreed<A, B>
  friend constexpr agreed operator*(const A&, const B&) noexcept { return {}; }
  template <class A, class B>
    requires OneAgreed<A, B>
  friend constexpr agreed operator/(const A&, const B&) noexcept { return {}; }
  template <class A, class B>
    requires OneAgreed<A, B>
  friend constexpr agreed operator%(const A&, const B&) noexcept { return {}; }
  template <class A, class B>
    requires OneAgreed<A, B>
  friend constexpr bool operator==(const A&, const B&) noexcept { return true; }
  template <class A, class B>
    requires OneAgreed<A, B>
  friend constexpr bool operator!=(const A&, const B&) noexcept { return true; }
  template <class A, class B>
    requires OneAgreed<A, B>
  friend constexpr bool operator<(const A&, const B&) noexcept { return true; }
  template <class A, class B>
    requires OneAgreed<A, B>
  friend constexpr bool operator<=(const A&, const B&) noexcept { return true; }
  template <class A, class B>
    requires OneAgreed<A, B>
  friend constexpr bool operator>(const A&, const B&) noexcept { return true; }
  template <class A, class B>
    requires OneAgreed<A, B>
  friend constexpr bool operator>=(const A&, const B&) noexcept { return true; }
  template <class Out>
  friend Out& operator<<(Out& out, const agreed&) {
    return out;
  }
};

/// The same for a size or a rank: programs count to it, divide by it, and take the last of as many.
struct agreed_size : agreed {
  constexpr operator index_t() const noexcept { return 1; }
};

/// A list of sizes, such as the extents of the result of an invalid operation.
struct agreed_sizes {
  template <class I>
  [[nodiscard]] constexpr agreed_size operator[](const I&) const noexcept {
    return {};
  }
  [[nodiscard]] constexpr agreed_size ssize() const noexcept { return {}; }
  [[nodiscard]] constexpr agreed_size size() const noexcept { return {}; }
  [[nodiscard]] constexpr agreed_size back() const noexcept { return {}; }
  [[nodiscard]] constexpr const index_t* begin() const noexcept { return nullptr; }
  [[nodiscard]] constexpr const index_t* end() const noexcept { return nullptr; }
};

/// The mesh, the spec or the layout of the result of an invalid operation. A type that is made of
/// one is no further error.
struct refused_part {
  static constexpr bool is_legal = false;
  static constexpr decltype(nullptr) value{};
  static constexpr agreed_size devices{}, rank{};

  using mesh_type = refused_part;
  using spec_type = refused_part;
  using partial_type = refused_part;
  using policy_type = refused_part;
};
/// True for a part of a type that has caused its error already.
template <class Part>
concept RefusedPart = requires {
  requires !Part::is_legal;
};

}  // namespace shardwise::internal
