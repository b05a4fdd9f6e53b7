// SPDX-License-Identifier: BSL-1.0
// Rows of bits that are read as elements of another type.
#include "property/rows/tables.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace generated {

/// Returns the elements whose bits are those of another array, in the same order.
inline std::vector<double> bits_read(const host_array& x, element type) {
  std::vector<unsigned char> bytes;
  with_element(x.type, [&]<class T>(std::type_identity<T>) {
    for (const double number : x.values) {
      const T given = static_cast<T>(number);
      bytes.resize(bytes.size() + sizeof given);
      std::memcpy(bytes.data() + bytes.size() - sizeof given, &given, sizeof given);
    }
  });
  std::vector<double> out;
  with_element(type, [&]<class T>(std::type_identity<T>) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T read;
      std::memcpy(&read, bytes.data() + at, sizeof read);
      out.push_back(static_cast<double>(read));
    }
  });
  return out;
}

std::vector<operation_row> bitcast_rows() {
  std::vector<operation_row> rows;
  const auto add = [&]<Element From, Element To>(std::string name, extents_desc had,
                                                 extents_desc made, auto... permitted) {
    // A permission also reduces a pending sum, which is exact for integers.
    constexpr bool is_exact = !has_fractions(element_of<From>) || sizeof...(permitted) > 0;
    const draw numbers = is_exact ? whole(-9, 1 << 20) : between(-2, 2);
    rows.push_back({.name = std::move(name),
                    .operands = {{had, numbers, element_of<From>}},
                    .apply = [=](const row_tensors& x) -> row_tensors {
                      return {bitcast<To>(x[0].as<From>(), permitted...)};
                    },
                    .loop =
                        [=](const row_arrays& x) {
                          return row_arrays{
                              host_array(made, element_of<To>, bits_read(x[0], element_of<To>))};
                        }});
  };
  // Integers of 64 bits are compared as `double`, so no row makes them of other numbers.
  add.operator()<float, std::int32_t>("bitcast", {4, 5}, {4, 5});
  add.operator()<std::int32_t, float>("bitcast of integers", {4, 3}, {4, 3});
  add.operator()<double, std::int32_t>("bitcast to narrower elements", {4, 3}, {4, 3, 2});
  add.operator()<std::int32_t, double>("bitcast to wider elements", {4, 3, 2}, {4, 3});
  add.operator()<std::int64_t, double>("bitcast across", {6}, {6}, across<"x", "y", "z">);
  add.operator()<float, double>("bitcast to wider elements across", {4, 2}, {4},
                                across<"x", "y", "z">);
  return rows;
}

}  // namespace generated
