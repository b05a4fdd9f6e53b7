// SPDX-License-Identifier: BSL-1.0
// A small view with the interface of std::mdspan, which the standard libraries of the tests do not
// have.
#pragma once

#include <array>
#include <cstddef>

namespace support {

inline constexpr std::size_t any_extent = static_cast<std::size_t>(-1);

/// `std::extents`.
template <class Index, std::size_t... Sizes>
class md_extents {
 public:
  using index_type = Index;
  constexpr md_extents() = default;
  constexpr explicit md_extents(const std::array<Index, sizeof...(Sizes)>& sizes) : sizes_(sizes) {}

  [[nodiscard]] static constexpr std::size_t rank() { return sizeof...(Sizes); }
  [[nodiscard]] static constexpr std::size_t static_extent(std::size_t d) {
    return std::array<std::size_t, sizeof...(Sizes)>{Sizes...}[d];
  }
  [[nodiscard]] constexpr Index extent(std::size_t d) const { return sizes_[d]; }

 private:
  std::array<Index, sizeof...(Sizes)> sizes_{};
};

/// `std::layout_stride::mapping`.
struct md_stride {
  template <class Extents>
  class mapping {
   public:
    using index_type = typename Extents::index_type;
    mapping(const Extents& extents, const std::array<index_type, Extents::rank()>& strides)
        : extents_(extents), strides_(strides) {}
    [[nodiscard]] const Extents& extents() const { return extents_; }
    [[nodiscard]] index_type stride(std::size_t d) const { return strides_[d]; }

   private:
    Extents extents_;
    std::array<index_type, Extents::rank()> strides_;
  };
};

/// `std::layout_right::mapping`.
struct md_right {
  template <class Extents>
  class mapping {
   public:
    using index_type = typename Extents::index_type;
    explicit mapping(const Extents& extents) : extents_(extents) {}
    [[nodiscard]] const Extents& extents() const { return extents_; }
    [[nodiscard]] index_type stride(std::size_t d) const {
      index_type step = 1;
      for (std::size_t later = d + 1; later < Extents::rank(); ++later)
        step *= extents_.extent(later);
      return step;
    }

   private:
    Extents extents_;
  };
};

/// `std::mdspan` with the default accessor.
template <class T, class Extents, class Layout = md_right>
class mdspan {
 public:
  using element_type = T;
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  using mapping_type = typename Layout::template mapping<Extents>;
  using data_handle_type = T*;

  mdspan(T* data, const mapping_type& mapping) : data_(data), mapping_(mapping) {}

  [[nodiscard]] static constexpr std::size_t rank() { return Extents::rank(); }
  [[nodiscard]] T* data_handle() const { return data_; }
  [[nodiscard]] index_type extent(std::size_t d) const { return mapping_.extents().extent(d); }
  [[nodiscard]] index_type stride(std::size_t d) const { return mapping_.stride(d); }
  [[nodiscard]] bool is_strided() const { return true; }

 private:
  T* data_;
  mapping_type mapping_;
};

}  // namespace support
