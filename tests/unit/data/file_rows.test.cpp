// SPDX-License-Identifier: BSL-1.0
// Data sets in files: the same samples whatever the file, and as data in memory has them.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include "support/temporary.hpp"
#include <shardwise/data.hpp>
#include <shardwise/io.hpp>
#include <shardwise/io/npz.hpp>
#include <shardwise/shardwise.hpp>

#include <range/v3/view/zip.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>> {};
using rows = sharded_tensor<float, extents<2, 3>, layout<pod, P<"data", none>>>;
using labels = sharded_tensor<std::int32_t, extents<2>, layout<pod, P<"data">>>;

/// The elements 0, 1, ... of four rows, in the order of a loop.
template <class Samples>
void check_rows(const Samples& samples) {
  const device_pool pool{pod{}};
  auto loader = samples | batch(2, last_batch::dropped) | distribute<rows>(pool) | prefetch();
  std::vector<float> all;
  for (auto&& x : loader) {
    const auto host = to_host(x);
    all.insert(all.end(), host.elements().begin(), host.elements().end());
  }
  REQUIRE(all.size() == 12);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<float>(i));
}
std::vector<float> count_up(index_t n) {
  std::vector<float> all;
  for (index_t i = 0; i < n; ++i) all.push_back(static_cast<float>(i));
  return all;
}

}  // namespace

TEST_CASE("rows of NPY files of either order and byte order are samples") {
  const support::temporary file("rows.npy");
  save_npy(file.path(), count_up(12), {4, 3});
  check_rows(rows_of<float>(open_npy(file.path())));

  const auto with = [&](const std::string& type, bool is_fortran, const std::string& data) {
    std::string header = "{'descr': '" + type +
                         "', 'fortran_order': " + (is_fortran ? "True" : "False") +
                         ", 'shape': (4, 3), }";
    header.resize(117, ' ');
    header += '\n';
    file.write(std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) +
               std::string(1, '\0') + header + data);
    return open_npy(file.path());
  };
  std::string columns, swapped;
  for (int i = 0; i < 12; ++i) columns += static_cast<char>(i % 4 * 3 + i / 4);
  check_rows(rows_of<std::uint8_t>(with("|u1", true, columns)));
  for (int i = 0; i < 12; ++i) swapped += std::string("\0\0\0", 3) + static_cast<char>(i);
  check_rows(rows_of<std::int32_t>(with(">i4", false, swapped)));
  check_rows(rows_of<float>(with(">i4", false, swapped), stored_elements::converted));
  CHECK(refusal([&] { return rows_of<float>(with(">i4", false, swapped)); }) ==
        violation::stored_tensor_differs);
}

TEST_CASE("rows of other files are samples") {
  const device_pool pool{pod{}};
  const support::temporary npz("rows.npz"), tensors("rows.safetensors"), idx("rows.idx"),
      table("rows.csv");
  using whole = sharded_tensor<float, extents<4, 3>, layout<pod, P<none, none>>>;
  struct named {
    whole x;
  };
  const named nest{iota<whole>(pool)};
  save_safetensors(tensors.path(), nest);
  check_rows(rows_of<float>(std::make_shared<safetensors_file>(tensors.path()), "x"));
  save_npz(npz.path(), nest);
  check_rows(rows_of<float>(npz_file(npz.path())["x"]));

  std::string bytes("\0\0\x08\x02\0\0\0\x04\0\0\0\x03", 12);
  for (int i = 0; i < 12; ++i) bytes += static_cast<char>(i);
  idx.write(bytes);
  check_rows(rows_of<std::uint8_t>(open_idx(idx.path())));
  check_rows(windows_of(file_bytes(idx.path()), 3, 3, 12));

  table.write("kind,a,b,c\n0,0,1,2\n1,3,4,5\n2,6,7,8\n3,9,10,11\n");
  const auto csv = std::make_shared<csv_file>(table.path());
  check_rows(rows_of<float>(csv, {"a", "b", "c"}));
  auto both = ranges::views::zip(rows_of<double>(csv, {"c", "a", "b"}),
                                 column_of<std::int32_t>(csv, "kind")) |
              batch(2, last_batch::dropped) | distribute<rows, labels>(pool);
  index_t next = 0;
  for (auto&& [x, y] : both) {
    const auto kinds = to_host(y);
    const auto host = to_host(x);
    for (index_t i = 0; i < 2; ++i, ++next) {
      CHECK(kinds(i) == next);
      CHECK(host(i, 0) == static_cast<float>(3 * next + 2));
    }
  }
  CHECK(refusal([&] { return rows_of<float>(csv, {"d"}); }) == violation::tensor_is_not_in_file);
}

TEST_CASE("several data sets are one, however many files they are") {
  std::vector<std::unique_ptr<support::temporary>> files;
  std::vector<decltype(rows_of<float>(file_array()))> parts;
  for (int i = 0; i < 4; ++i) {
    files.push_back(std::make_unique<support::temporary>("part" + std::to_string(i) + ".npy"));
    std::vector<float> part = count_up(3);
    for (float& value : part) value += static_cast<float>(3 * i);
    save_npy(files.back()->path(), part, {1, 3});
    parts.push_back(rows_of<float>(open_npy(files.back()->path())));
    // One without rows.
    save_npy(files.back()->path() + ".empty", std::vector<float>(), {0, 3});
    parts.push_back(rows_of<float>(open_npy(files.back()->path() + ".empty")));
    std::filesystem::remove(files.back()->path() + ".empty");
  }
  check_rows(joined(std::move(parts)));
}

TEST_CASE("a data set may have more files than a process may open") {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("shardwise-many-files." + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit few = before;
  few.rlim_cur = 64;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::vector<decltype(rows_of<float>(file_array()))> parts;
  for (int i = 0; i < 300; ++i) {
    const std::string path = (folder / (std::to_string(i) + ".npy")).string();
    save_npy(path, std::vector<float>{static_cast<float>(i)}, {1, 1});
    parts.push_back(rows_of<float>(open_npy(path)));
  }
  const device_pool pool{pod{}};
  using column = sharded_tensor<float, extents<100, 1>, layout<pod, P<"data", none>>>;
  float sum_of_all = 0;
  for (auto&& x : joined(std::move(parts)) | batch(100, last_batch::dropped) |
                      distribute<column>(pool) | prefetch())
    for (float value : to_host(x).elements()) sum_of_all += value;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  std::filesystem::remove_all(folder);
  CHECK(sum_of_all == 299 * 300 / 2);
}
