// SPDX-License-Identifier: BSL-1.0
// CSV files: rows in any order, quotes and line ends, numbers of all types, and what is refused.
#include "support/catch.hpp"
#include "support/temporary.hpp"
#include <shardwise/io.hpp>

#include <filesystem>
#include <limits>
#include <locale>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace shardwise;
using support::temporary;

namespace {

std::vector<std::string> texts_of(const csv_row& row) {
  std::vector<std::string> out;
  for (int c = 0; c < row.columns(); ++c) out.emplace_back(row.text(c));
  return out;
}

}  // namespace

TEST_CASE("rows of a CSV file are read in any order, whatever is in quotes") {
  const temporary file("rows.csv");
  file.write("a,b\n1,\"x\ny\"\n2,z\n");
  const csv_file open(file.path());
  REQUIRE(open.names() == std::vector<std::string>{"a", "b"});
  REQUIRE(open.rows() == 2);
  REQUIRE(texts_of(open[1]) == std::vector<std::string>{"2", "z"});
  REQUIRE(texts_of(open[0]) == std::vector<std::string>{"1", "x\ny"});
  REQUIRE(open.get<int>(1, open.column("a")) == 2);
  REQUIRE(open.columns({"b", "a"}) == std::vector<int>{1, 0});

  file.write("\xef\xbb\xbf\"a\",\"b \"\"c\"\"\",d\r\na,b,\r\n\"\",\"\"\"\",\"1,\"\"2\"\"\"");
  const csv_file quoted(file.path());
  REQUIRE(quoted.names() == std::vector<std::string>{"a", "b \"c\"", "d"});
  REQUIRE(quoted.rows() == 2);
  REQUIRE(texts_of(quoted[0]) == std::vector<std::string>{"a", "b", ""});
  csv_row row = quoted[1];
  REQUIRE(texts_of(row) == std::vector<std::string>{"", "\"", "1,\"2\""});
  const csv_row moved = std::move(row);
  REQUIRE(texts_of(moved) == std::vector<std::string>{"", "\"", "1,\"2\""});
  REQUIRE_THROWS_WITH(quoted[2], contains("index_is_out_of_range"));
  REQUIRE_THROWS_WITH(quoted[-1], contains("index_is_out_of_range"));
  REQUIRE_THROWS_WITH(moved.text(3), contains("index_is_out_of_range"));

  file.write("1;2\n3;4");
  const csv_file plain(file.path(), {.separator = ';', .has_header = false});
  REQUIRE(plain.names() == std::vector<std::string>{"0", "1"});
  REQUIRE(plain.rows() == 2);
  REQUIRE(plain.get<double>(1, plain.column("1")) == 4);

  file.write("one\n\n2\n");
  REQUIRE(csv_file(file.path()).rows() == 2);
  REQUIRE(csv_file(file.path())[0].text(0).empty());
  file.write("a,b\n");
  REQUIRE(csv_file(file.path()).rows() == 0);
  file.write("");
  REQUIRE(csv_file(file.path(), {.has_header = false}).rows() == 0);
}

TEST_CASE("numbers in CSV files are exact, and do not depend on the locale") {
  struct with_comma : std::numpunct<char> {
    char do_thousands_sep() const override { return '.'; }
    char do_decimal_point() const override { return ','; }
  };
  const temporary file("numbers.csv");
  file.write(
      "d,i\n9.855536508,135217135789158401\n6144039378640938.0,1352171357E+5\n0.5,-1\n1e400,300\n");
  const csv_file open(file.path());
  const std::locale old = std::locale::global(std::locale(std::locale(), new with_comma));
  const double half = open.get<double>(2, 0);
  std::locale::global(old);
  REQUIRE(half == 0.5);
  REQUIRE(open.get<double>(0, 0) == 9.855536508);
  REQUIRE(open.get<double>(1, 0) == 6144039378640938.0);
  REQUIRE(open.get<float>(0, 0) == 9.855536508F);
  REQUIRE(open.get<std::int64_t>(0, 1) == 135217135789158401);
  REQUIRE(open.get<double>(1, 1) == 135217135700000.0);
  REQUIRE_THROWS_WITH(open.get<std::int64_t>(1, 1),
                      contains("file_is_malformed") && contains(file.path()) &&
                          contains("line 3, column 2 ('i'): '1352171357E+5' is no i64"));
  REQUIRE_THROWS_WITH(open.get<double>(3, 0),
                      contains("line 5, column 1 ('d'): '1e400' is no f64"));
  REQUIRE_THROWS_WITH(open.get<std::uint8_t>(2, 1), contains("'-1' is no u8"));
  REQUIRE_THROWS_WITH(open.get<std::uint8_t>(3, 1), contains("'300' is no u8"));
  REQUIRE_THROWS_WITH(open.get<std::int32_t>(0, 1), contains("is no i32"));
  REQUIRE(open.get<std::int8_t>(2, 1) == -1);
  REQUIRE(float(open.get<bfloat16>(2, 0)) == 0.5F);
  REQUIRE(float(open.get<float16>(3, 1)) == 300.0F);

  double both[2]{};
  open.read(0, std::vector<int>{1, 0}, std::span<double>(both));
  REQUIRE(both[1] == 9.855536508);
  REQUIRE_THROWS_WITH(open.read(0, std::vector<int>{1}, std::span<double>(both)),
                      contains("host_size_differs"));
  REQUIRE_THROWS_WITH(open.get<double>(0, 2), contains("index_is_out_of_range"));

  file.write("x\ntrue\n0\ninf\n 1\n\n\"7\"\n");
  const csv_file others(file.path());
  REQUIRE(others.get<bool>(0, 0));
  REQUIRE(!others.get<bool>(1, 0));
  REQUIRE(others.get<float>(2, 0) == std::numeric_limits<float>::infinity());
  REQUIRE_THROWS_WITH(others.get<bool>(2, 0), contains("'inf' is no bool"));
  REQUIRE_THROWS_WITH(others.get<float>(3, 0), contains("' 1' is no f32"));
  REQUIRE_THROWS_WITH(others.get<float>(4, 0), contains("line 6, column 1 ('x'): '' is no f32"));
  REQUIRE(others.get<int>(5, 0) == 7);
}

TEST_CASE("CSV files that are none are refused with the line and the column") {
  const temporary file("refused.csv");
  const auto refused = [&](const std::string& text, const char* why) {
    file.write(text);
    REQUIRE_THROWS_WITH(csv_file(file.path()),
                        contains("file_is_malformed") && contains(file.path()) && contains(why));
  };
  refused("", "it has no first line with the names of the columns");
  refused("\xef\xbb\xbf", "it has no first line");
  refused(std::string("\xff\xfe"
                      "a\0",
                      4),
          "it is UTF-16");
  refused("a,a\n", "two of its columns are called 'a'");
  refused("a,b\n1,2\n3\n", "line 3: it has 1 fields, and there are 2 columns");
  refused("a,b\n\"1\n\",2\n3,4,5\n", "line 4: it has 3 fields");
  refused("a,b\n1,2\n\n", "line 3: it has 1 fields");
  refused("a,b\n1,\"2\n3,4\n", "line 2, column 2 ('b'): a field in quotes has no end");
  refused("a\n\"", "a field in quotes has no end");
  refused("a\n\"\"\"", "a field in quotes has no end");
  refused("a,b\n1,\"2\"x\n", "line 2, column 2 ('b'): a field in quotes goes on");
  refused("a,b\n1,2\"\n", "line 2, column 2 ('b'): a quote is in a field without quotes");
  refused("a,b\r1,2\r", "line 1, column 2: a carriage return has no newline after it");
  file.write("a,b\n1,2\n");
  const csv_file open(file.path());
  REQUIRE_THROWS_WITH(open.column("c"),
                      contains("tensor_is_not_in_file") && contains("column 'c'; it has 'a', 'b'"));
  std::filesystem::resize_file(file.path(), 5);
  REQUIRE_THROWS_WITH(open[0], contains("file_is_not_readable") && contains("it became shorter"));
}
