// SPDX-License-Identifier: BSL-1.0
// NPY files: headers of all versions, both orders of elements and of bytes, and files that are
// refused. What NumPy writes and reads is compared by tests/numpy.
#include "support/catch.hpp"
#include "support/owners.hpp"
#include "support/temporary.hpp"
#include <shardwise/io.hpp>
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <locale>
#include <stdexcept>
#include <string>
#include <vector>

using namespace shardwise;
using support::temporary;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 3>> {};

/// An NPY file of a version with a header as it is, and elements.
std::string npy_of(int version, const std::string& header, const std::string& elements = {}) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (int b = 0; b < (version == 1 ? 2 : 4); ++b)
    out += static_cast<char>(header.size() >> (8 * b) & 0xffU);
  return out + header + elements;
}
std::string header_of(const std::string& descr, const std::string& shape,
                      const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}
/// The bytes of numbers, reversed where `is_big`.
template <class T>
std::string bytes_of(const std::vector<T>& numbers, bool is_big = false) {
  std::string out;
  for (const T each : numbers) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &each, sizeof each);
    if (is_big) std::reverse(bytes, bytes + sizeof each);
    out.append(bytes, sizeof each);
  }
  return out;
}
template <class T>
std::vector<T> numbers_of(const file_array& array) {
  const host_tensor<T> all = read_array<T>(array);
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("NPY headers of all versions and lengths tell where the elements begin") {
  const temporary file("npy-versions.npy");
  const std::string three = bytes_of<float>({1, 2, 3});
  for (const int version : {1, 2, 3})
    for (const std::size_t blanks : {0U, 1U, 63U, 4000U}) {
      const std::string header = header_of("<f4", "(3,)") + std::string(blanks, ' ');
      file.write(npy_of(version, header, three));
      const file_array array = open_npy(file.path());
      REQUIRE(array.type == element::f32);
      REQUIRE(array.extents == extents_desc{3});
      REQUIRE(numbers_of<float>(array) == std::vector<float>{1, 2, 3});
    }
  file.write(npy_of(2, header_of("<f4", "(3,)") + std::string(100000, ' '), three));
  REQUIRE(numbers_of<float>(open_npy(file.path())) == std::vector<float>{1, 2, 3});
}

TEST_CASE("NPY headers are literals of Python in any order and spelling") {
  const temporary file("npy-literals.npy");
  const std::string six = bytes_of<double>({1, 2, 3, 4, 5, 6});
  for (const char* header :
       {"{'descr':'<f8','fortran_order':False,'shape':(2,3)}",
        "{ 'shape' : (2, 3, ) , \"descr\" : \"<f8\" , 'fortran_order' : False , } \n",
        "{'fortran_order': False, 'shape': (2L, 3L), 'descr': '=f8'}",
        "\t{'fortran_order': False,\n'shape': (2L, 3L,), 'descr': 'f8'}\r\n"}) {
    file.write(npy_of(1, header, six));
    REQUIRE(open_npy(file.path()).extents == extents_desc{2, 3});
    REQUIRE(numbers_of<double>(open_npy(file.path()))[4] == 5);
  }
  file.write(npy_of(1, header_of("<f4", "()"), bytes_of<float>({7})));
  REQUIRE(open_npy(file.path()).extents.empty());
  REQUIRE(numbers_of<float>(open_npy(file.path())) == std::vector<float>{7});
  file.write(npy_of(1, header_of("<f4", "(768,)"), std::string(4 * 768, '\0')));
  REQUIRE(open_npy(file.path()).extents == extents_desc{768});
  file.write(npy_of(1, header_of("|u1", "(3L, 32L, 32L)"), std::string(3 * 1024, '\1')));
  REQUIRE(open_npy(file.path()).extents == extents_desc{3, 32, 32});
}

TEST_CASE("arrays without elements are loaded, also where they begin at the end of the file") {
  const temporary file("npy-empty.npy");
  const std::string header = header_of("<f4", "(0, 4)");
  file.write(npy_of(1, header + std::string(4096 - 10 - header.size(), ' ')));
  REQUIRE(std::filesystem::file_size(file.path()) == 4096);
  const file_array array = open_npy(file.path());
  REQUIRE(array.rows() == 0);
  REQUIRE(array.row_size() == 4);
  REQUIRE(read_array<float>(array).size() == 0);
  const device_pool pool{pod{}};
  const auto loaded = load_npy<float>(pool, file.path(), spec_desc{{"data", "model"}});
  REQUIRE(loaded.tensor().extents == extents_desc{0, 4});
  file.write(npy_of(1, header_of("<f4", "(0, 4)", "True")));
  REQUIRE(open_npy(file.path()).size() == 0);
}

TEST_CASE("elements in the order of Fortran and in reverse are read as NumPy has them") {
  const temporary file("npy-orders.npy");
  constexpr int rows = 7, columns = 5;
  const device_pool pool{pod{}};
  using X = sharded_tensor<float, extents<dyn, columns>,
                           layout<pod, P<"data", "model">, partial<>, uneven>>;
  using C = sharded_tensor<float, extents<rows, columns>,
                           layout<pod, P<block_cyclic<2>("data"), none>, partial<>, uneven>>;
  std::vector<float> by_rows, by_columns;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) by_rows.push_back(static_cast<float>(10 * i + j));
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) by_columns.push_back(static_cast<float>(10 * i + j));
  for (const bool is_big : {false, true})
    for (const bool is_fortran : {false, true}) {
      file.write(npy_of(1,
                        header_of(is_big ? ">f4" : "<f4", "(7, 5)", is_fortran ? "True" : "False"),
                        bytes_of(is_fortran ? by_columns : by_rows, is_big)));
      const file_array array = open_npy(file.path());
      REQUIRE(array.is_swapped == is_big);
      REQUIRE(numbers_of<float>(array) == by_rows);
      std::vector<float> some(3 * columns);
      array.read_rows(2, std::span(some));
      REQUIRE(std::equal(some.begin(), some.end(), by_rows.begin() + 2 * columns));
      std::vector<std::int64_t> whole(columns);
      array.read_rows(6, std::span(whole), stored_elements::converted);
      REQUIRE(whole == std::vector<std::int64_t>{60, 61, 62, 63, 64});
      REQUIRE(to_host(load_npy<X>(pool, file.path())).elements()[33] == by_rows[33]);
      REQUIRE(to_host(load_npy<X>(pool, file.path())) == to_host(load_npy<C>(pool, file.path())));
      const auto any =
          load_npy<double>(pool, file.path(), spec_desc{{"", "data"}}, stored_elements::converted);
      REQUIRE(to_host(any).elements()[33] == 63.0);
      // Nothing is said of one dimension, which has no order.
      file.write(npy_of(1, header_of(is_big ? ">i8" : "<i8", "(3,)", is_fortran ? "True" : "False"),
                        bytes_of<std::int64_t>({1, -2, 3}, is_big)));
      REQUIRE(numbers_of<std::int64_t>(open_npy(file.path())) ==
              std::vector<std::int64_t>{1, -2, 3});
    }
}

TEST_CASE("what is saved as NPY is loaded again, for all elements") {
  const temporary file("npy-saved.npy");
  const device_pool pool{pod{}};
  const auto there_and_back = [&]<class T>(T) {
    using X = sharded_tensor<T, extents<4, 3>, layout<pod, P<"data", "model">>>;
    const X x = cast<T>(iota<sharded_tensor<float, extents<4, 3>, typename X::layout_type>>(pool));
    save_npy(file.path(), x);
    REQUIRE(support::names_beside(file.path()).empty());
    REQUIRE(std::filesystem::file_size(file.path()) == 128 + 12 * sizeof(T));
    REQUIRE(to_host(load_npy<X>(pool, file.path())) == to_host(x));
    REQUIRE(to_host(load_npy<T>(pool, file.path(), spec_desc{{"model", ""}})) == to_host(x));
    // The same from memory of the host.
    const std::string before = file.read();
    save_npy(file.path(), to_host(x));
    REQUIRE(file.read() == before);
    save_npy(file.path(), to_host(x).elements(), {4, 3});
    REQUIRE(file.read() == before);
  };
  there_and_back(float{});
  there_and_back(double{});
  there_and_back(std::int32_t{});
  there_and_back(std::int64_t{});
  there_and_back(bool{});
  there_and_back(std::int8_t{});
  there_and_back(std::uint8_t{});
  there_and_back(bfloat16{});
  there_and_back(float16{});

  const Eigen::MatrixXf by_columns = Eigen::MatrixXf::Random(3, 5);
  save_npy(file.path(), by_columns);
  const file_array matrix = open_npy(file.path());
  REQUIRE(matrix.extents == extents_desc{3, 5});
  REQUIRE(numbers_of<float>(matrix)[1 * 5 + 4] == by_columns(1, 4));
  save_npy(file.path(), Eigen::VectorXd(Eigen::VectorXd::Ones(3)));
  REQUIRE(open_npy(file.path()).extents == extents_desc{3});
  save_npy(file.path(), std::vector<float>{});
  REQUIRE(open_npy(file.path()).extents == extents_desc{0});
  REQUIRE_THROWS_WITH(save_npy(file.path(), std::vector<float>{1, 2}, {3}),
                      contains("host_size_differs"));
  save_npy(file.path(), full<sharded_tensor<double, extents<>, layout<pod, P<>>>>(pool, 0.1));
  REQUIRE(numbers_of<double>(open_npy(file.path())) == std::vector<double>{0.1});
}

TEST_CASE("elements are read where they are, if they can be") {
  const temporary file("npy-in-place.npy");
  save_npy(file.path(), std::vector<float>{1, 2, 3, 4}, {2, 2});
  REQUIRE(open_npy(file.path()).in_place<float>().size() == 4);
  REQUIRE(open_npy(file.path()).in_place<float>()[3] == 4);
  REQUIRE(open_npy(file.path()).in_place<double>().empty());
  const std::string header = header_of("<f4", "(1,)");
  file.write(
      npy_of(1, header + std::string(5 - (10 + header.size()) % 4, ' '), bytes_of<float>({7})));
  REQUIRE(open_npy(file.path()).in_place<float>().empty());  // at no multiple of 4
  REQUIRE(numbers_of<float>(open_npy(file.path())) == std::vector<float>{7});
}

TEST_CASE("an array that is mapped keeps its elements when its file is replaced") {
  const temporary file("npy-replaced.npy");
  std::vector<float> numbers(5000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  save_npy(file.path(), numbers);
  const file_array mapped = open_npy(file.path());
  save_npy(file.path(), mapped.in_place<float>());  // from the memory that it replaces
  REQUIRE(numbers_of<float>(open_npy(file.path())) == numbers);
  save_npy(file.path(), std::vector<float>{7});
  REQUIRE(numbers_of<float>(mapped) == numbers);
}

TEST_CASE("headers do not depend on the locale") {
  struct grouped : std::numpunct<char> {
    char do_thousands_sep() const override { return ','; }
    char do_decimal_point() const override { return ','; }
    std::string do_grouping() const override { return "\3"; }
  };
  const temporary file("npy-locale.npy");
  const std::vector<float> all(std::size_t{2621} * 401);
  save_npy(file.path(), all, {2621, 401});
  const std::string before = file.read().substr(0, 128);
  REQUIRE(before.find("(2621, 401)") != before.npos);
  const std::locale old = std::locale::global(std::locale(std::locale(), new grouped));
  save_npy(file.path(), all, {2621, 401});
  const extents_desc extents = open_npy(file.path()).extents;
  std::locale::global(old);
  REQUIRE(file.read().substr(0, 128) == before);
  REQUIRE(extents == extents_desc{2621, 401});
}

TEST_CASE("bytes of truth values other than 0 and 1 are true") {
  const temporary file("npy-truth.npy");
  file.write(npy_of(1, header_of("|b1", "(4,)"), std::string("\0\1\2\xff", 4)));
  const file_array array = open_npy(file.path());
  bool read[4]{};
  array.read_rows(0, std::span<bool>(read));
  for (int i = 0; i < 4; ++i) {
    unsigned char byte = 0;
    std::memcpy(&byte, read + i, 1);
    REQUIRE(byte == (i == 0 ? 0 : 1));
  }
}

TEST_CASE("elements and shapes of others are listed, and refused where they are loaded") {
  const temporary file("npy-others.npy");
  const device_pool pool{pod{}};
  const auto listed = [&](const std::string& descr, std::size_t bytes, const std::string& name) {
    file.write(npy_of(1, "{'descr': " + descr + ", 'fortran_order': False, 'shape': (2,), }\n",
                      std::string(bytes, 'x')));
    const file_array array = open_npy(file.path());
    REQUIRE(!array.is_loadable());
    REQUIRE(array.other_type == name);
    REQUIRE(array.extents == extents_desc{2});
    REQUIRE_THROWS_WITH(load_npy<float>(pool, file.path(), spec_desc{{""}}),
                        contains("stored_tensor_differs") && contains(file.path()) &&
                            contains("elements of " + name + ", which no tensor has, not f32"));
    REQUIRE_THROWS_WITH(read_array<float>(array, stored_elements::converted),
                        contains("which no tensor has"));
  };
  listed("'<u4'", 8, "<u4");
  listed("'<c8'", 16, "<c8");
  listed("'<U3'", 24, "<U3");
  listed("'|S5'", 10, "|S5");
  listed("'<M8[ns]'", 16, "<M8[ns]");
  listed("'|O'", 17, "|O");
  listed("[('a', '<f4'), ('b)', '|u1', (2,))]", 12, "[('a', '<f4'), ('b)', '|u1', (2,))]");

  file.write(npy_of(1, header_of("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 2)"), std::string(8, '\0')));
  REQUIRE(open_npy(file.path()).other_shape.size() == 9);
  REQUIRE_THROWS_WITH(load_npy<float>(pool, file.path(), spec_desc{{""}}),
                      contains("it has 9 dimensions, and a tensor has at most 8"));
  file.write(npy_of(1, header_of("<f8", "(2,)"), std::string(16, '\0')));
  REQUIRE_THROWS_WITH(load_npy<float>(pool, file.path(), spec_desc{{""}}),
                      contains("elements of f64, not f32; stored_elements::converted"));
  using X = sharded_tensor<double, extents<3>, layout<pod, P<none>>>;
  REQUIRE_THROWS_WITH(load_npy<X>(pool, file.path()), contains("it is [2], not [3]"));
}

TEST_CASE("NPY files that are none are refused with the place or the key") {
  const temporary file("npy-refused.npy");
  const auto refused = [&](const std::string& bytes, const char* why) {
    file.write(bytes);
    REQUIRE_THROWS_WITH(open_npy(file.path()),
                        contains("file_is_malformed") && contains(file.path()) && contains(why));
  };
  refused("", "it begins with nothing, not as an NPY file");
  refused("PK\3\4 more", "50 4b 03 04");
  refused("\x93NUMPY", "not as an NPY file");
  refused(npy_of(4, header_of("<f4", "(1,)"), "1234"), "of version 1 to 3");
  refused(npy_of(1, header_of("<f4", "(1,)")).substr(0, 40), "its header would end at byte");
  refused(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12),
          "its header would end at byte 4294967307");
  const auto header = [&](const std::string& text, const char* why) {
    refused(npy_of(1, text, "1234"), why);
  };
  header("", "at byte 10 of its header, '{' was expected, not nothing");
  header("[]", "at byte 10 of its header, '{' was expected, not 5b 5d");
  header("{}", "its header has no key 'descr'");
  header("{'descr': '<f4', 'shape': (1,)}", "no key 'fortran_order'");
  header("{'descr': '<f4', 'descr': '<f4'}", "the key 'descr' twice");
  header("{'more': 1}",
         "at byte 11 of its header, 'descr', 'fortran_order' or 'shape' was expected");
  header("{descr: '<f4'}", "a key in quotes");
  header("{'descr", "a key in quotes");
  header("{'descr' '<f4'}", "':' was expected");
  header("{'descr': '<f4' 'shape': ()}", "',' or '}' was expected");
  header("{'descr': 7}", "another 'descr' than a string or a list");
  header("{'descr': ''}", "another 'descr' than the name of elements");
  header("{'descr': [('a'", "another 'descr' than a string or a list");
  header("{'descr': ['\\", "another 'descr' than a string or a list");
  header("{'fortran_order': 1}", "another 'fortran_order' than True or False");
  header("{'shape': 3}", "another 'shape' than whole numbers");
  header("{'shape': (3)}", "another 'shape' than whole numbers in '()', with ',' after each");
  header("{'shape': (3 4)}", "a whole number was expected");
  header("{'shape': (-3,)}", "a whole number was expected");
  header("{'shape': (2.5,)}", "a whole number was expected");
  header("{'shape': (,)}", "a whole number was expected");
  header("{'shape': (3,,)}", "a whole number was expected");
  header("{'shape': (3,", "')' was expected");
  header("{'shape': (99999999999999999999,)}", "a whole number was expected");
  header("{'shape': (99999999999999999,)}", "another 'shape' than that of an array");
  header(header_of("<f4", "(1,)") + "more", "nothing but blanks was expected, not 6d 6f 72 65");
  header(header_of("<f4", "(4294967296, 4294967296)"), "an array has at most 2^56 elements");
  header(header_of("<f4", "(72057594037927936,)"), "says 72057594037927936 elements of 4 bytes");
  header(header_of("<f4", "(2,)"), "says 2 elements of 4 bytes, and it has 4 bytes from byte");
  header(header_of("|u1", "(3,)"), "says 3 elements of 1 bytes, and it has 4");
  header(header_of("<f4", "(0,)"), "says 0 elements");
}

TEST_CASE("NPY files that NumPy has written are read") {
  const std::string folder = "tests/unit/io/fixtures/";  // tests run in the top folder
  const file_array fortran = open_npy(folder + "fortran.npy");
  REQUIRE(fortran.extents == extents_desc{4, 3});
  REQUIRE(fortran.strides[0] == 1);
  std::vector<float> expected(12);
  for (std::size_t i = 0; i < 12; ++i) expected[i] = static_cast<float>(i);
  REQUIRE(numbers_of<float>(fortran) == expected);
  REQUIRE(numbers_of<double>(open_npy(folder + "version2.npy")) == std::vector<double>{0, 1, 2});
  const file_array fields = open_npy(folder + "version3.npy");
  REQUIRE(fields.other_type == "[('h\xc3\xb6he', '<f4')]");
  // What is written has the bytes of NumPy.
  const temporary file("npy-like-numpy.npy");
  file.write(write_npy_header(element::f32, {4, 3}));
  REQUIRE(file.read() == npy_of(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }" +
                                       std::string(58, ' ') + "\n"));
}

TEST_CASE("owners save one file, and each loads its own part") {
  const temporary file("npy-owners.npy");
  using X = sharded_tensor<float, extents<8, 3>, layout<pod, P<"data", "model">>>;
  // No assertions of Catch, since owners run in separate threads.
  support::run_all_owners(pod::value, {0, 0, 0, 1, 1, 1}, [&](const device_pool& pool) {
    const X x = iota<X>(pool);
    save_npy(file.path(), x);
    if (to_host(load_npy<X>(pool, file.path())) != to_host(x))
      throw std::logic_error("other elements");
  });
  REQUIRE(open_npy(file.path()).extents == extents_desc{8, 3});
}
