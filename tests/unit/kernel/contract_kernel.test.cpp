// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/contract_kernel.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

using extents_t = inplace_vector<index_t, max_rank>;

contraction_labels::labels labels_of(const std::string& letters) {
  contraction_labels::labels labels;
  for (char c : letters) labels.push_back(static_cast<std::uint8_t>(c - 'a'));
  return labels;
}

/// A block of its own memory: row-major, column-major, or with gaps.
template <class T>
struct block {
  std::vector<T> storage;
  extents_t extents, strides;

  block(const std::string& letters, const index_t* sizes, int kind, int seed) {
    for (char c : letters) extents.push_back(sizes[c - 'a']);
    strides = row_major(extents);
    index_t step = kind == 2 ? 2 : 1;
    for (int i = 0; i < extents.ssize(); ++i) {
      const int d = kind == 1 ? i : extents.ssize() - 1 - i;
      strides[d] = step;
      step *= extents[d] + (kind == 3 ? 1 : 0);
    }
    storage.resize(static_cast<std::size_t>(step) + 1);
    for (std::size_t i = 0; i < storage.size(); ++i)
      storage[i] = static_cast<T>((static_cast<int>(i) * 7 + seed) % 5 - 2);
  }
  [[nodiscard]] strided<const T> read() const { return {storage.data(), extents, strides}; }
  [[nodiscard]] strided<T> write() { return {storage.data(), extents, strides}; }
  [[nodiscard]] T& at(const std::string& letters, const index_t* index) {
    index_t place = 0;
    for (int d = 0; d < extents.ssize(); ++d)
      place += index[letters[static_cast<std::size_t>(d)] - 'a'] * strides[d];
    return storage[static_cast<std::size_t>(place)];
  }
};

/// Calls `f` for every value of the indices of 8 labels.
template <class F>
void for_all(const index_t* sizes, F f) {
  index_t index[8]{};
  for (index_t s = 0; s < 8; ++s)
    if (sizes[s] == 0) return;
  for (;;) {
    f(index);
    int d = 7;
    while (d >= 0 && ++index[d] == sizes[d]) index[d--] = 0;
    if (d < 0) return;
  }
}

template <class T>
void check(const std::string& a, const std::string& b, const std::string& out,
           const index_t* all_sizes, int ka, int kb, int ko) {
  index_t sizes[8];
  for (char c = 'a'; c < 'i'; ++c)
    sizes[c - 'a'] = (a + b).find(c) == std::string::npos ? 1 : all_sizes[c - 'a'];
  block<T> left(a, sizes, ka, 0), right(b == "-" ? "" : b, sizes, kb, 1), result(out, sizes, ko, 2);
  block<T> expected = result;
  index_t zeroed[8];
  for (char c = 'a'; c < 'i'; ++c)
    zeroed[c - 'a'] = out.find(c) == std::string::npos ? 1 : sizes[c - 'a'];
  for_all(zeroed, [&](const index_t* i) { expected.at(out, i) = T{0}; });
  for_all(sizes, [&](const index_t* i) {
    expected.at(out, i) += left.at(a, i) * (b == "-" ? T{1} : right.at(b, i));
  });
  const contraction_labels what{labels_of(a), labels_of(b == "-" ? "" : b), labels_of(out)};
  if (b == "-") {
    contract<T>(what, left.read(), result.write());
  } else {
    index_t reached = 0;
    contract<T>(what, left.read(), right.read(), result.write(), [&](index_t begin, index_t end) {
      if (begin != reached || end <= begin) FAIL("rows are not finished in order");
      reached = end;
    });
    const index_t rows = out.empty() ? 1 : result.extents[0];
    if (result.write().size() != 0) CHECK(reached == rows);
  }
  if (result.storage != expected.storage) {
    CAPTURE(a, b, out, ka, kb, ko);
    REQUIRE(result.storage == expected.storage);
  }
}

const char* const einsums[][3] = {
    {"ab", "bc", "ac"},       {"ab", "bc", "ca"},       {"ba", "bc", "ac"},   {"ab", "cb", "ac"},
    {"ba", "cb", "ca"},       {"ab", "b", "a"},         {"b", "ba", "a"},     {"a", "a", ""},
    {"a", "b", "ab"},         {"a", "b", "ba"},         {"ab", "ab", "ab"},   {"ab", "ab", "a"},
    {"ab", "ba", ""},         {"abc", "acd", "abd"},    {"abc", "cd", "abd"}, {"abc", "bcd", "ad"},
    {"abcd", "aecd", "acbe"}, {"abcd", "efcd", "abef"}, {"acbd", "dc", "ab"}, {"abc", "b", "ac"},
    {"abc", "abc", "cab"},    {"aab", "bc", "ac"},      {"aa", "ab", "b"},    {"abc", "d", "ad"},
    {"ab", "cd", ""},         {"ab", "cd", "dbca"},     {"", "ab", "ab"},     {"", "", ""},
    {"abc", "ade", "cbed"},   {"abcd", "cbef", "afde"}, {"ab", "-", "ba"},    {"aab", "-", "ab"},
    {"aa", "-", ""},          {"abc", "-", "b"},        {"abcb", "-", "ca"},  {"", "-", ""},
};

template <class T>
void check_all() {
  const index_t sizes[][8] = {{3, 4, 5, 2, 3, 2, 1, 1},   {1, 6, 1, 3, 2, 1, 1, 1},
                              {33, 20, 3, 2, 1, 2, 1, 1}, {0, 3, 2, 2, 2, 2, 1, 1},
                              {3, 0, 2, 2, 2, 2, 1, 1},   {3, 2, 0, 2, 2, 2, 1, 1}};
  for (const auto& e : einsums)
    for (const auto& size : sizes)
      for (int ka = 0; ka < 4; ++ka)
        for (int kb = 0; kb < 4; ++kb)
          for (int ko = 0; ko < 4; ++ko) check<T>(e[0], e[1], e[2], size, ka, kb, ko);
}

}  // namespace

TEST_CASE("every kind of einsum gives what loops give, whatever the strides") {
  check_all<float>();
  check_all<double>();
  check_all<std::int32_t>();
  check_all<std::int64_t>();
}

TEST_CASE("large products and panels give what loops give") {
  const index_t sizes[][8] = {
      {300, 40, 70, 1, 1, 1, 1, 1}, {300, 200, 7, 1, 1, 1, 1, 1}, {5, 130, 300, 1, 1, 1, 1, 1}};
  for (const auto& size : sizes)
    for (int kind = 0; kind < 3; ++kind) {
      check<float>("ab", "bc", "ac", size, kind, 0, 0);
      check<float>("ab", "bc", "ca", size, 0, kind, 0);
      check<double>("ba", "cb", "ac", size, 0, 1, kind);
      check<std::int32_t>("ab", "cb", "ca", size, kind, 0, 0);
    }
  const index_t deep[8] = {7, 40, 9, 30, 5, 1, 1, 1};
  check<float>("abd", "dc", "abc", deep, 0, 0, 0);
  check<float>("abd", "adc", "bac", deep, 0, 0, 0);
}
