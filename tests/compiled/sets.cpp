// SPDX-License-Identifier: BSL-1.0
// All instruction sets of the machine: they have the same kernels, and the same bits where IEEE
// arithmetic is exact.
#include <shardwise/kernel/instruction_sets.hpp>
#include <shardwise/kernel/kernel_set.hpp>
#include <shardwise/kernel/kernel_table.hpp>
#include <shardwise/kernel/random_numbers.hpp>
#include <shardwise/operation.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace shardwise;
namespace f = functions;

int failures = 0;
int compared = 0;

struct set_of_kernels {
  std::string name;
  std::map<std::pair<std::uint64_t, std::uint64_t>, operation_kernel> operations;
  std::map<element, element_kernels> elements;
  std::map<element, random_kernels> random;
};

/// Adds what a part of a set has.
void take(set_of_kernels& set, const shardwise_kernel_part& part) {
  part.give({&set,
             [](void* to, std::uint64_t what, std::uint64_t types, const void* kernel) {
               static_cast<set_of_kernels*>(to)->operations[{what, types}] =
                   *static_cast<const operation_kernel*>(kernel);
             },
             [](void* to, const void* kernels) {
               const auto& given = *static_cast<const element_kernels*>(kernels);
               static_cast<set_of_kernels*>(to)->elements[given.type] = given;
             },
             [](void* to, const void* kernels) {
               const auto& given = *static_cast<const random_kernels*>(kernels);
               static_cast<set_of_kernels*>(to)->random[given.type] = given;
             }});
}

/// The sets that the machine has, with all parts.
std::vector<set_of_kernels> all_sets() {
  std::vector<set_of_kernels> sets;
  for (std::size_t i = 0; i < shardwise_kernel_part_count; ++i) {
    const shardwise_kernel_part& part = shardwise_kernel_parts[i];
    if (!internal::machine_has(part.set)) continue;
    if (sets.empty() || sets.back().name != part.set) sets.emplace_back().name = part.set;
    take(sets.back(), part);
  }
  return sets;
}

void fail_with(const std::string& words) {
  ++failures;
  std::printf("FAILED: %s\n", words.c_str());
}

/// Numbers without a pattern, of both signs where the type has both.
template <class T>
std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::vector<T> all;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    const int middle = std::is_unsigned_v<T> ? 0 : 1 << 23;
    all.push_back(static_cast<T>(static_cast<double>(static_cast<int>(seed >> 8U) - middle) /
                                 (std::is_integral_v<T> ? 1 << 17 : 1 << 20)));
  }
  return all;
}

/// One function on so many elements, where a number may stand for an operand.
template <class Function, class T>
std::vector<T> run(const set_of_kernels& set, std::size_t operands, std::size_t n, bool number) {
  std::vector<element> types(operands, element_of<T>);
  const auto found =
      set.operations.find({operation_of<pointwise<Function>>.id, types_key(types, element_of<T>)});
  if (found == set.operations.end() || found->second.each.run == nullptr) {
    fail_with(set.name + " has no " + operation_of<pointwise<Function>>.name.data());
    return {};
  }
  const std::vector<T> a = numbers<T>(n, 1);
  std::vector<T> b = numbers<T>(std::max(n, most_in_step), 2);
  if (number) b.assign(most_in_step, T{3});
  const void* const from[] = {a.data(), b.data()};
  const index_t moves[] = {1, number ? 0 : 1};
  std::vector<T> out(n);
  found->second.each.run(from, moves, out.data(), static_cast<index_t>(n));
  return out;
}

template <class Function, class T>
void check_exact(const std::vector<set_of_kernels>& sets, std::size_t operands) {
  for (std::size_t n : {1U, 3U, 31U, 64U, 131U, 1000U})
    for (bool number : {false, true}) {
      const std::vector<T> want = run<Function, T>(sets[0], operands, n, number);
      for (const set_of_kernels& set : sets) {
        const std::vector<T> have = run<Function, T>(set, operands, n, number);
        ++compared;
        if (have.size() != want.size() || std::memcmp(have.data(), want.data(), n * sizeof(T)) != 0)
          fail_with(set.name + " has other bits of " +
                    std::string(operation_of<pointwise<Function>>.name.data()) + " on " +
                    std::to_string(n) + " elements");
      }
    }
}

/// What is not exact keeps within a few ulp, so that sets are near each other.
template <class Function, class T>
void check_near(const std::vector<set_of_kernels>& sets) {
  const std::vector<T> want = run<Function, T>(sets[0], 1, 1000, false);
  for (const set_of_kernels& set : sets) {
    const std::vector<T> have = run<Function, T>(set, 1, 1000, false);
    ++compared;
    for (std::size_t i = 0; i < want.size(); ++i)
      if (std::abs(have[i] - want[i]) > std::abs(want[i]) * T(1e-5) + T(1e-6)) {
        fail_with(set.name + " is far off in " +
                  std::string(operation_of<pointwise<Function>>.name.data()));
        break;
      }
  }
}

template <class T>
void check_type(const std::vector<set_of_kernels>& sets) {
  check_exact<f::add, T>(sets, 2);
  check_exact<f::subtract, T>(sets, 2);
  check_exact<f::multiply, T>(sets, 2);
  check_exact<f::divide, T>(sets, 2);
  check_exact<f::maximum, T>(sets, 2);
  check_exact<f::minimum, T>(sets, 2);
  check_exact<f::negate, T>(sets, 1);
  check_exact<f::abs, T>(sets, 1);
  check_exact<f::square, T>(sets, 1);
  check_exact<f::relu, T>(sets, 1);
  // Maxima, minima and integer sums do not depend on the order, so all sets give the same bits.
  const std::vector<T> a = numbers<T>(1000, 3);
  for (reduction kind : {reduction::sum, reduction::product, reduction::max, reduction::min}) {
    std::vector<T> want;
    for (const set_of_kernels& set : sets) {
      std::vector<T> into = numbers<T>(1000, 4);
      set.elements.at(element_of<T>)
          .reduce(kind, {into.data(), element_of<T>, {1000}, {1}},
                  {a.data(), element_of<T>, {1000}, {1}},
                  {into.data(), element_of<T>, {1000}, {1}});
      if (want.empty()) want = into;
      ++compared;
      if (std::memcmp(into.data(), want.data(), 1000 * sizeof(T)) != 0)
        fail_with(set.name + " reduces otherwise");
    }
  }
}

/// A key gives the same random numbers with every instruction set.
template <class T>
void check_random(const std::vector<set_of_kernels>& sets) {
  constexpr index_t count = 10007, first = 3;
  std::vector<T> want[2];
  for (const set_of_kernels& set : sets) {
    const random_kernels& draws = set.random.at(element_of<T>);
    for (const bool is_normal : {false, true}) {
      std::vector<T> drawn(count);
      (is_normal ? draws.normal : draws.uniform)(42, first, drawn.data(), count);
      if (want[is_normal].empty()) want[is_normal] = drawn;
      ++compared;
      if (std::memcmp(drawn.data(), want[is_normal].data(), count * sizeof(T)) != 0)
        fail_with(set.name + " draws other numbers");
    }
    for (index_t i = 0; i < count; i += 101) {
      T one{};
      draws.normal_at(42, static_cast<std::uint64_t>(first + i), &one);
      ++compared;
      if (std::memcmp(&one, &want[1][static_cast<std::size_t>(i)], sizeof(T)) != 0)
        fail_with(set.name + " draws another number alone");
    }
  }
}

}  // namespace

int main() {
  const std::vector<set_of_kernels> sets = all_sets();
  for (const set_of_kernels& set : sets) {
    std::printf("%s: %zu kernels, %zu element types\n", set.name.c_str(), set.operations.size(),
                set.elements.size());
    if (set.elements.size() != std::size_t{element_types}) fail_with(set.name + " lacks elements");
    if (set.operations.size() != sets[0].operations.size()) fail_with(set.name + " lacks kernels");
    for (const auto& [key, kernel] : set.operations)
      if (sets[0].operations.count(key) == 0) fail_with(set.name + " has a kernel alone");
  }
  check_type<float>(sets);
  check_type<double>(sets);
  check_type<std::int32_t>(sets);
  check_type<std::int64_t>(sets);
  check_type<std::int8_t>(sets);
  check_type<std::uint8_t>(sets);
  check_near<f::exp, float>(sets);
  check_near<f::tanh, float>(sets);
  check_near<f::gelu, float>(sets);
  check_near<f::exp, double>(sets);
  check_near<f::sigmoid, double>(sets);
  check_exact<f::sqrt, float>(sets, 1);
  check_random<float>(sets);
  check_random<double>(sets);
  std::printf("%zu sets, %d comparisons, %d failures\n", sets.size(), compared, failures);
  return failures == 0 && compared > 0 ? 0 : 1;
}
