// SPDX-License-Identifier: BSL-1.0
// Which elements a file has, where they are in it, and their conversion.
#include "support/catch.hpp"
#include "support/temporary.hpp"
#include <shardwise/io.hpp>
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

using namespace shardwise;
using Catch::Contains;
using support::file_of;
using support::temporary;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T>
using matrix_of = sharded_tensor<T, extents<4, 6>, layout<pod, P<"data", "model">>>;

/// Saves elements of one type, and loads them as those of another; both ways must give what `cast`
/// gives in the program.
template <class From, class To>
void require_cast(const device_pool& pool, const temporary& file, const matrix_of<From>& x) {
  save_safetensors(file.path(), std::tuple(x));
  const safetensors_file open(file.path());
  const matrix_of<To> wanted = cast<To>(x);
  CAPTURE(element_of<From>, element_of<To>);
  REQUIRE(to_host(load_tensor<matrix_of<To>>(pool, open, "0", stored_elements::converted)) ==
          to_host(wanted));
  std::tuple<matrix_of<To>> nest{zeros<matrix_of<To>>(pool)};
  load_safetensors(open, nest, state_names::all, stored_elements::converted);
  REQUIRE(to_host(std::get<0>(nest)) == to_host(wanted));
}

template <class From>
void require_casts(const device_pool& pool, const temporary& file, const matrix_of<From>& x) {
  require_cast<From, float>(pool, file, x);
  require_cast<From, double>(pool, file, x);
  require_cast<From, std::int32_t>(pool, file, x);
  require_cast<From, std::int64_t>(pool, file, x);
  require_cast<From, bool>(pool, file, x);
  require_cast<From, std::int8_t>(pool, file, x);
  require_cast<From, std::uint8_t>(pool, file, x);
  require_cast<From, bfloat16>(pool, file, x);
  require_cast<From, float16>(pool, file, x);
}

}  // namespace

TEST_CASE("elements of a file are converted where a program asks, and refused where not") {
  const device_pool pool{pod{}};
  const temporary file("stored-elements");
  const auto numbers = generate<matrix_of<double>>(pool, [](const global_index& at) {
    constexpr double special[] = {0.0, -0.5, 1.0 / 3, 1e300, -1e12, 300.7};
    return at[0] == 0 ? special[at[1]] : static_cast<double>(at[0] * 100 - at[1]) * 1.001;
  });
  require_casts<double>(pool, file, numbers);
  require_casts<float>(pool, file, cast<float>(numbers));
  require_casts<bfloat16>(pool, file, cast<bfloat16>(numbers));
  require_casts<float16>(pool, file, cast<float16>(numbers));
  require_casts<std::int64_t>(pool, file, cast<std::int64_t>(numbers));
  require_casts<std::int32_t>(pool, file, cast<std::int32_t>(numbers));
  require_casts<std::int8_t>(pool, file, cast<std::int8_t>(numbers));
  require_casts<std::uint8_t>(pool, file, cast<std::uint8_t>(numbers));
  require_casts<bool>(pool, file, cast<bool>(numbers));

  save_safetensors(file.path(), std::tuple(matrix_of<float>(cast<float>(numbers))));
  const safetensors_file open(file.path());
  REQUIRE_THROWS_WITH(load_tensor<matrix_of<bfloat16>>(pool, open, "0"),
                      Contains("stored_tensor_differs") && Contains("f32, not bf16") &&
                          Contains("stored_elements::converted"));
  std::tuple<matrix_of<bfloat16>> nest{zeros<matrix_of<bfloat16>>(pool)};
  REQUIRE_THROWS_WITH(load_safetensors(open, nest), Contains("f32, not bf16"));
  REQUIRE(to_host(std::get<0>(nest))(3, 5) == bfloat16(0.0F));
  const auto any = load_tensor<std::int32_t>(pool, open, "0", spec_desc{{"data", ""}},
                                             stored_elements::converted);
  REQUIRE(to_host(any)(0, 5) == 300);
}

TEST_CASE("rows of more bytes than are buffered are converted too") {
  const device_pool pool{pod{}};
  const temporary file("stored-elements-long");
  using D = sharded_tensor<double, extents<300'000>, layout<pod, P<none>>>;
  using F = sharded_tensor<float, extents<300'000>, layout<pod, P<none>>>;
  save_safetensors(file.path(), iota<D>(pool));
  const auto read =
      load_tensor<F>(pool, safetensors_file(file.path()), "tensor", stored_elements::converted);
  REQUIRE(to_host(read) == to_host(iota<F>(pool)));
}

TEST_CASE("elements that no type of the library has are listed with their name") {
  const device_pool pool{pod{}};
  const temporary file("stored-elements-names");
  std::string header = "{", data;
  const std::vector<std::string> names = {"F8_E4M3", "F8_E5M2", "F8_E8M0", "F4", "I16",
                                          "U16",     "U32",     "U64",     "C64"};
  for (const std::string& each : names) {
    header += (data.empty() ? "" : ",") + ("\"" + each + R"(":{"dtype":")" + each);
    header += R"(","shape":[1],"data_offsets":[)" + std::to_string(data.size()) + ",";
    data += "12345678";
    header += std::to_string(data.size()) + "]}";
  }
  file.write(file_of(header + "}", data));
  const safetensors_file open(file.path());
  using X = sharded_tensor<float, extents<1>, layout<pod, P<none>>>;
  for (const std::string& each : names) {
    REQUIRE(open.find(each)->other_type == each);
    REQUIRE_THROWS_WITH(load_tensor<X>(pool, open, each, stored_elements::converted),
                        Contains("elements of " + each + ", which no tensor has"));
  }
}

TEST_CASE("elements are read from any offset, and written from a multiple of 8 without gaps") {
  const device_pool pool{pod{}};
  const temporary file("stored-elements-places");
  // Three bytes before the numbers, and a header of 2 bytes more than a multiple of 4.
  std::string header = R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                       R"("b":{"dtype":"F32","shape":[2],"data_offsets":[3,11]}})";
  while (header.size() % 4 != 2) header += ' ';
  file.write(file_of(header, std::string("\1\2\3\0\0\x80\x3f\0\0\0\x40", 11)));
  using A = sharded_tensor<std::uint8_t, extents<3>, layout<pod, P<none>>>;
  using B = sharded_tensor<float, extents<2>, layout<pod, P<"data">>>;
  using D = sharded_tensor<double, extents<2>, layout<pod, P<"data">>>;
  const safetensors_file open(file.path());
  const auto a = load_tensor<A>(pool, open, "a");
  const auto b = load_tensor<B>(pool, open, "b");
  REQUIRE((to_host(a)(2) == 3 && to_host(b)(0) == 1.0F && to_host(b)(1) == 2.0F));
  REQUIRE(to_host(load_tensor<D>(pool, open, "b", stored_elements::converted))(1) == 2.0);

  // Columns of a matrix in memory become rows in the file.
  Eigen::MatrixXf columns(1000, 32);
  for (Eigen::Index i = 0; i < columns.size(); ++i) columns.data()[i] = static_cast<float>(i);
  using C = sharded_tensor<float, extents<1000, 32>, layout<pod, P<"data", none>>>;
  save_safetensors(file.path(), std::tuple(a, distribute<C>(pool, columns)));
  const std::string bytes = file.read();
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  REQUIRE(length % 8 == 0);
  const safetensors_file written(file.path());
  REQUIRE((written.find("0")->begin == 0 && written.find("1")->begin == 3));
  REQUIRE(bytes.size() == 8 + length + 3 + 4 * 32'000);
  float second = 0;
  std::memcpy(&second, bytes.data() + 8 + length + 3 + 4, 4);
  REQUIRE(second == columns(0, 1));
}
