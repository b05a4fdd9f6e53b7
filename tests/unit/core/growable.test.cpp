// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/core/growable.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using shardwise::internal::growable;

namespace {

/// Counts the objects of its type that are alive.
struct counted {
  static inline int alive = 0;
  int value = 0;
  counted(int v = 0) : value(v) { ++alive; }
  counted(const counted& other) : value(other.value) {
    if (value < 0) throw value;
    ++alive;
  }
  counted(counted&& other) noexcept : value(std::exchange(other.value, 0)) { ++alive; }
  counted& operator=(const counted&) = default;
  counted& operator=(counted&&) noexcept = default;
  ~counted() { --alive; }
  bool operator==(const counted&) const = default;
};

template <class T>
bool is(const growable<T>& a, const std::vector<T>& b) {
  return std::vector<T>(a.begin(), a.end()) == b && a.size() == b.size() &&
         a.capacity() >= a.size() && a.empty() == b.empty();
}

/// The same calls on a sequence of elements that are copied as bytes, and on one whose elements own
/// memory.
template <class T>
void grows_and_shrinks(T (*item)(int)) {
  growable<T> x;
  std::vector<T> wanted;
  for (int i = 0; i < 40; ++i) {
    x.push_back(item(i));
    wanted.push_back(item(i));
    REQUIRE(is(x, wanted));
  }
  // Elements of the sequence itself, at each capacity.
  for (int i = 0; i < 100; ++i) {
    x.push_back(x[static_cast<std::size_t>(i) % 7]);
    wanted.push_back(T(wanted[static_cast<std::size_t>(i) % 7]));
  }
  REQUIRE(is(x, wanted));
  REQUIRE((x.front() == item(0) && x.back() == wanted.back()));
  x.resize(3);
  wanted.resize(3);
  REQUIRE(is(x, wanted));
  x.resize(5);
  wanted.resize(5);
  x.resize(7, item(9));
  wanted.resize(7, item(9));
  REQUIRE(is(x, wanted));
  REQUIRE(x.insert(x.begin() + 2, item(11)) == x.begin() + 2);
  wanted.insert(wanted.begin() + 2, item(11));
  x.insert(x.begin(), item(12));
  wanted.insert(wanted.begin(), item(12));
  x.insert(x.end(), item(13));
  wanted.insert(wanted.end(), item(13));
  REQUIRE(is(x, wanted));
  REQUIRE(x.erase(x.begin() + 1) == x.begin() + 1);
  wanted.erase(wanted.begin() + 1);
  REQUIRE(x.erase(x.begin() + 2, x.begin() + 5) == x.begin() + 2);
  wanted.erase(wanted.begin() + 2, wanted.begin() + 5);
  REQUIRE(x.erase(x.begin(), x.begin()) == x.begin());
  REQUIRE(is(x, wanted));
  x.pop_back();
  wanted.pop_back();
  x.append(wanted.begin(), wanted.end());
  wanted.insert(wanted.end(), x.begin(), x.begin() + static_cast<std::ptrdiff_t>(wanted.size()));
  REQUIRE(is(x, wanted));
  const std::list<T> of_a_list{item(1), item(2)};
  x.assign(of_a_list.begin(), of_a_list.end());
  REQUIRE(is(x, {item(1), item(2)}));
  x.assign(4, item(5));
  REQUIRE(is(x, std::vector<T>(4, item(5))));
  x.clear();
  REQUIRE((x.empty() && x.capacity() > 0 && x.begin() == x.end()));

  const growable<T> first{item(1), item(2), item(3)};
  growable<T> copy = first;
  REQUIRE((copy == first && copy.data() != first.data()));
  growable<T> moved = std::move(copy);
  REQUIRE((moved == first && copy.empty()));
  copy = moved;
  REQUIRE(copy == first);
  copy = {item(4)};
  REQUIRE((copy != first && copy != growable<T>{item(5)} && copy == growable<T>(1, item(4))));
  growable<T>& itself = copy;
  copy = itself;
  copy = std::move(itself);
  REQUIRE(is(copy, {item(4)}));
  copy.swap(moved);
  REQUIRE((copy == first && moved.size() == 1));
  REQUIRE(growable<T>(first.begin() + 1, first.end()) == growable<T>{item(2), item(3)});
  REQUIRE(growable<T>(2) == growable<T>{T(), T()});
}

}  // namespace

static_assert(std::is_nothrow_move_constructible_v<growable<int>> &&
              !std::is_convertible_v<std::size_t, growable<int>>);

TEST_CASE("sequences that grow have the elements that a vector would have") {
  grows_and_shrinks<int>([](int i) { return i; });
  grows_and_shrinks<std::string>([](int i) { return std::string(40, static_cast<char>('a' + i)); });
  grows_and_shrinks<growable<int>>([](int i) { return growable<int>(3, i); });
  counted::alive = 0;
  grows_and_shrinks<counted>([](int i) { return counted(i); });
  REQUIRE(counted::alive == 0);
}

TEST_CASE("sequences that grow hold elements that only move, and spans of them") {
  growable<std::unique_ptr<int>> owned;
  for (int i = 0; i < 9; ++i) owned.push_back(std::make_unique<int>(i));
  owned.push_back(std::move(owned[0]));
  owned.erase(owned.begin());
  REQUIRE((owned.size() == 9 && *owned.back() == 0 && *owned.front() == 1));
  growable<bool> flags(3, false);
  flags[1] = true;
  bool& last = flags.back();
  last = true;
  REQUIRE(is(flags, {false, true, true}));
  const std::span<const bool> seen = flags;
  REQUIRE((seen.size() == 3 && seen.data() == flags.data()));
}

TEST_CASE("a copy that throws leaves no element of a sequence that grows behind") {
  counted::alive = 0;
  {
    growable<counted> x(3, counted(1));
    x.emplace_back(-1);
    REQUIRE_THROWS_AS(growable<counted>(x), int);
    REQUIRE(counted::alive == 4);
    REQUIRE_THROWS_AS(x.push_back(x.back()), int);
    REQUIRE((x.size() == 4 && counted::alive == 4));
  }
  REQUIRE(counted::alive == 0);
}
