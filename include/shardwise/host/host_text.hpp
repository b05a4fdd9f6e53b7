// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/host/host.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string>

namespace shardwise {

namespace detail {

/// Prints one host tensor; see `operator<<`.
template <class T>
class host_printer {
 public:
  host_printer(std::ostream& out, const host_tensor<T>& x)
      : out_(out),
        whole_(x),
        strides_(row_major(x.extents())),
        shortened_(x.size() > 1000),
        width_(static_cast<std::size_t>(std::max(out.width(0), std::streamsize{0}))) {
    words_.copyfmt(out);
    words_.exceptions(std::ios::badbit);  // otherwise a lack of memory drops text silently
  }

  void print() {
    widen(0, 0);
    print(0, 0);
  }

 private:
  /// Calls `f` for each printed index of a dimension, and with -1 where indices are omitted.
  template <class F>
  void for_each_printed(int d, const F& f) const {
    constexpr index_t edge = 3;
    const index_t extent = whole_.extents()[d];
    for (index_t i = 0; i < extent; ++i) {
      if (shortened_ && extent > 2 * edge && i == edge) {
        f(index_t{-1});
        i = extent - edge;
      }
      f(i);
    }
  }

  /// Returns an element as the stream would print it.
  [[nodiscard]] std::string words_of(index_t offset) {
    words_.str({});
    const T& element = whole_.elements()[static_cast<std::size_t>(offset)];
    // Streams print one-byte integers as characters.
    if constexpr (Whole<T>)
      words_ << +element;
    else
      words_ << element;
    return words_.str();
  }

  /// Widens the columns to the longest printed element.
  void widen(int d, index_t offset) {
    if (d == whole_.extents().ssize())
      width_ = std::max(width_, words_of(offset).size());
    else
      for_each_printed(d, [&](index_t i) {
        if (i >= 0) widen(d + 1, offset + i * strides_[d]);
      });
  }

  void print(int d, index_t offset) {
    const int inner = whole_.extents().ssize() - d;
    if (inner == 0) {
      const std::string words = words_of(offset);
      out_ << std::string(width_ - words.size(), ' ') << words;
      return;
    }
    if (inner == 2 && d > 0) {
      bounded_text<200> page("[");
      for (index_t i : index_) page << i << ", ";
      out_ << (page << ":, :]\n");
    }
    const char* const between = inner == 1 ? " " : inner == 2 ? "\n" : "\n\n";
    for_each_printed(d, [&](index_t i) {
      if (i != 0) out_ << between;
      if (i < 0) {
        out_ << "...";
      } else {
        index_.push_back(i);
        print(d + 1, offset + i * strides_[d]);
        index_.pop_back();
      }
    });
  }

  std::ostream& out_;
  const host_tensor<T>& whole_;
  inplace_vector<index_t, max_rank> strides_;
  inplace_vector<index_t, max_rank> index_;
  bool shortened_;
  std::size_t width_;
  std::ostringstream words_;
};

}  // namespace detail

/// Prints the elements: one number, a row, rows below each other and, above rank 2, one page after
/// another, each below its index. There is no newline after the last row.
///
/// Numbers are printed as by the stream, with its precision and locale, and right-aligned;
/// `std::setw` sets the minimum width of each. If there are more than 1,000 elements, each
/// dimension shows its first and last three.
///
///     std::cout << to_host(y) << '\n';
template <Element T>
std::ostream& operator<<(std::ostream& out, const host_tensor<T>& x) {
  if (x.size() > 0) {
    detail::host_printer<T>(out, x).print();
    return out;
  }
  bounded_text<200> words("no elements: [");
  for (int d = 0; d < x.extents().ssize(); ++d) words << (d > 0 ? ", " : "") << x.extents()[d];
  return out << (words << ']');
}

}  // namespace shardwise
