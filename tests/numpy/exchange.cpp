// SPDX-License-Identifier: BSL-1.0
// exchange write FOLDER: writes arrays of all elements for NumPy to read.
// exchange read FOLDER: reads what NumPy has written, and compares each element. The file `list`
// has a line for each array: file, member or -, elements, extents.
#include <shardwise/io.hpp>
#include <shardwise/io/npz.hpp>
#include <shardwise/shardwise.hpp>

#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 3>> {};

/// The element at a row-major position, which NumPy computes too; each type has it exactly.
template <class T>
T element_at(index_t place) {
  const index_t number = (place * 7 + 3) % 101;
  if constexpr (std::is_same_v<T, bool>)
    return place % 3 == 0;
  else if constexpr (has_fractions(element_of<T>))
    return static_cast<T>(static_cast<float>(number - 50) / 4.0F);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>(number - 50);
  else
    return static_cast<T>(number);
}

template <class F>
void for_each_type(const F& f) {
  for_each_index<std::size_t{element_types}>(
      [&]<std::size_t I>() { f(type_of_element<static_cast<element>(I)>{}); });
}
std::string name_of(element type) {
  const text_view name = to_text(type);
  return {name.data(), name.size()};
}
void require_equal(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("differs: " + what);
}

/// Compares an array that is loaded whole, split, and row by row.
template <class T>
void compare(const device_pool& pool, const file_array& array, const std::string& what) {
  const host_tensor<T> whole = read_array<T>(array);
  for (index_t i = 0; i < whole.size(); ++i)
    require_equal(whole.data()[i] == element_at<T>(i), what + " at " + std::to_string(i));
  spec_desc spec;
  for (int d = 0; d < array.extents.ssize(); ++d)
    spec.dims.push_back(d == 0 ? "x" : d == 1 ? "y" : "");
  const auto split = to_host(load_array<T>(pool, array, spec));
  require_equal(split == whole, what + ", split");
  if (array.extents.empty() || whole.size() == 0) return;
  const auto width = static_cast<std::size_t>(array.row_size());
  for (index_t row = array.rows(); row-- > 0;) {
    std::vector<std::byte> bytes(width * sizeof(T));
    array.read_rows(row, std::span(reinterpret_cast<T*>(bytes.data()), width));
    const T* const expected = whole.data() + static_cast<std::size_t>(row) * width;
    require_equal(std::equal(expected, expected + width, reinterpret_cast<const T*>(bytes.data())),
                  what + ", row " + std::to_string(row));
  }
}

void read(const std::string& folder) {
  const device_pool pool{pod{}};
  std::ifstream list(folder + "/list");
  int count = 0;
  for (std::string line; std::getline(list, line); ++count) {
    std::istringstream words(line);
    std::string file, member, type;
    words >> file >> member >> type;
    extents_desc extents;
    for (index_t extent = 0; words >> extent;) extents.push_back(extent);
    const std::string path = std::string(folder).append("/").append(file);
    const file_array array = member == "-" ? open_npy(path) : npz_file(path)[member];
    require_equal(array.is_loadable() && name_of(array.type) == type, line + ", elements");
    require_equal(array.extents == extents, line + ", extents");
    for_each_type([&]<class T>(T) {
      if (array.type == element_of<T>) compare<T>(pool, array, line);
    });
  }
  std::cout << "NumPy has written " << count << " arrays\n";
  require_equal(count > 100, "the number of arrays");
}

template <class T>
using tensor = sharded_tensor<T, extents<5, 4>, layout<pod, P<"x", "y">, partial<>, uneven>>;

template <class T>
tensor<T> make(const device_pool& pool) {
  return generate<tensor<T>>(
      pool, [](const global_index& at) { return element_at<T>(4 * at[0] + at[1]); });
}

struct all_types {
  tensor<float> f32;
  tensor<double> f64;
  tensor<std::int32_t> i32;
  tensor<std::int64_t> i64;
  tensor<bool> boolean;
  tensor<std::int8_t> i8;
  tensor<std::uint8_t> u8;
  tensor<bfloat16> bf16;
  tensor<float16> f16;
};

void write(const std::string& folder) {
  const device_pool pool{pod{}};
  for_each_type(
      [&]<class T>(T) { save_npy(folder + "/" + name_of(element_of<T>) + ".npy", make<T>(pool)); });
  save_npy(folder + "/scalar.npy",
           full<sharded_tensor<double, extents<>, layout<pod, P<>>>>(pool, 0.1));
  save_npy(folder + "/empty.npy", std::vector<float>{}, {0, 4});
  save_npy(folder + "/line.npy", std::vector<float>{1, 2, 3});
  const all_types nest{make<float>(pool),        make<double>(pool),   make<std::int32_t>(pool),
                       make<std::int64_t>(pool), make<bool>(pool),     make<std::int8_t>(pool),
                       make<std::uint8_t>(pool), make<bfloat16>(pool), make<float16>(pool)};
  save_npz(folder + "/stored.npz", nest);
  save_npz(folder + "/packed.npz", nest, zip_method::deflated);
}

}  // namespace

int main(int count, char** words) {
  try {
    const std::string what = count > 1 ? words[1] : "";
    if (count != 3 || (what != "read" && what != "write")) {
      std::cerr << "usage: exchange read|write FOLDER\n";
      return 2;
    }
    what == "read" ? read(words[2]) : write(words[2]);
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
