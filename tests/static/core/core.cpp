// SPDX-License-Identifier: BSL-1.0
#include <shardwise/core.hpp>

#include <limits>
#include <type_traits>

using namespace shardwise;

// index.hpp
static_assert(std::is_signed_v<index_t> && sizeof(index_t) == 8);
static_assert(ceil_div(5, 2) == 3 && ceil_div(4, 2) == 2 && ceil_div(0, 3) == 0);
static_assert(counted_from_front(-1, 3) == 2 && counted_from_front(-3, 3) == 0 &&
              counted_from_front(2, 3) == 2 && counted_from_front(-4, 3) == -4 &&
              counted_from_front(3, 3) == 3 && counted_from_front(-1, 0) == -1);
static_assert(1_KiB == 1024 && 3_MiB == 3 * 1024 * 1024 && 1_GiB == 1024_MiB && 1_TiB == 1024_GiB);
static_assert([] {
  index_t digits = 0;
  for_each_index<4>([&]<std::size_t I>() { digits = digits * 10 + static_cast<index_t>(I); });
  return digits;
}() == 123);
static_assert([] {
  int calls = 0;
  for_each_index<0>([&]<std::size_t>() { ++calls; });
  return calls;
}() == 0);

// name_pattern.hpp
static_assert(name_matches("layers.3.mlp.up.bias", "layers.*.bias") &&
              name_matches("layers.10.up.bias", "layers.*.up.*") && name_matches("bias", "*bias") &&
              name_matches("abab", "*ab") && name_matches("ab", "*a*b*") && name_matches("", "*") &&
              name_matches("a.b", "a.b") && name_matches("a.b", "?.b"));
static_assert(!name_matches("bias.w", "*bias") && !name_matches("a", "") &&
              !name_matches("layers.bias", "layers.*.bias") && !name_matches("aXb", "a.b") &&
              !name_matches("layers.0.up.biased", "*.bias") && !name_matches("bias", "?bias"));
static_assert(name_is_under("layers.0.up.weight", "layers.*.up") &&
              name_is_under("up.weight", "up.weight") && name_is_under("up", "*") &&
              name_is_under("", "*"));
static_assert(!name_is_under("layers.0.upper.weight", "layers.*.up") &&
              !name_is_under("up", "up.weight") && !name_is_under("a.up.weight", "up"));

// text.hpp
static_assert(text_view("abc").size() == 3 && text_view().empty() && text_view("").empty());
static_assert(text_view("abc") == text_view("abc") && !(text_view("abc") == text_view("abd")));
static_assert(!(text_view("abc") == text_view("ab")));
static_assert(text_view("abcdef").substr(2, 3) == "cde" && text_view("abc").substr(2, 9) == "c");
static_assert(text_view("abc").substr(3, 1).empty() && text_view("abc").substr(7, 1).empty());
constexpr auto counted = [] {
  bounded_text<32> s;
  s << "n = " << 8;
  return s;
}();
static_assert(counted == "n = 8");
static_assert([] {
  bounded_text<64> s;
  s << std::numeric_limits<index_t>::min() << ' ' << std::numeric_limits<index_t>::max();
  return s;
}() == "-9223372036854775808 9223372036854775807");
static_assert([] {
  bounded_text<64> s;
  s << std::numeric_limits<std::uint64_t>::max() << ' ' << 0 << ' ' << -7;
  return s;
}() == "18446744073709551615 0 -7");
static_assert(bounded_text<8>("12345678") == "12345678" &&
              bounded_text<8>("123456789") == "12345...");
static_assert(bounded_text<2>("123") == ".." && bounded_text<0>("1").empty());

// fixed_string.hpp
template <fixed_string Words>
struct tag {
  static constexpr text_view words = Words;
};
static_assert(std::is_same_v<tag<"x">, tag<to_fixed_string<1>("xyz")>>);
static_assert(!std::is_same_v<tag<"x">, tag<"y">> && !std::is_same_v<tag<"x">, tag<"xy">>);
static_assert(tag<"">::words.empty() && tag<"model">::words == "model");
static_assert(fixed_string("model").size() == 5 && fixed_string("") == fixed_string<1>(""));
static_assert(short_name("model") == short_name(text_view("model")) &&
              !(short_name("x") == short_name("y")));
static_assert(short_name().empty() && short_name("").empty() && short_name("abc").size() == 3);
static_assert(short_name("abcdefghijklmnopqrstuvwxyz").size() == short_name::capacity &&
              short_name::capacity == 23);
static_assert(short_name("abcdefghijklmnopqrstuvwx").is_cut() &&
              !short_name("abcdefghijklmnopqrstuvw").is_cut());

// inplace_vector.hpp
using numbers = inplace_vector<int, 4>;
static_assert(numbers{}.empty() && numbers::capacity() == 4 && numbers{1, 2, 3, 4}.full());
static_assert(numbers{1, 2}.ssize() == 2 && numbers{1, 2}[1] == 2 && numbers{1, 2}.back() == 2);
static_assert(numbers{3, 1, 3}.find(3) == 0 && numbers{3}.find(4) == -1 && numbers{3}.contains(3));
static_assert(!numbers{}.contains(0) && !numbers{1}.contains(0));
static_assert(numbers{}.is_prefix_of({1}) && numbers{1}.is_prefix_of({1, 2}));
static_assert(!numbers{2}.is_prefix_of({1, 2}) && !numbers{1, 2}.is_prefix_of({1}));
static_assert(numbers{1, 2} == numbers{1, 2} && numbers{1} != numbers{1, 2});
static_assert(numbers{1, 0} != numbers{1});
static_assert([] {
  numbers n{1, 2, 3};
  n.pop_back();
  n.push_back(9);
  n.resize(4);
  const bool grown = n == numbers{1, 2, 9, 0};
  n.resize(1);
  const bool shrunk = n == numbers{1};
  n.clear();
  return grown && shrunk && n == numbers{};
}());
static_assert(!std::is_constructible_v<numbers, int, int, int, int, int>);
static_assert(!std::is_constructible_v<numbers, const char*>);
static_assert(std::is_trivially_copyable_v<numbers> && std::is_trivially_copyable_v<short_name>);

// diagnosis.hpp
static_assert(diagnosis{}.ok() && !diagnosis{.rule = violation::spec_is_malformed}.ok());
static_assert(describe({.rule = violation::axis_is_not_in_mesh, .dim = 1, .axis = "modle"}) ==
              "axis_is_not_in_mesh: a partition spec may only name axes of its mesh (dimension 1, "
              "axis 'modle')");
static_assert(
    describe({.rule = violation::operand_sizes_differ, .operand = 1, .dim = 0, .have = 6}) ==
    "operand_sizes_differ: corresponding dimensions of operands have the same size "
    "(operand 1, dimension 0, 6 where 0 is needed)");
static_assert(describe({.rule = violation::operand_meshes_differ}) ==
              "operand_meshes_differ: the operands of an operation live on the same mesh");

// error.hpp, broken_rule.hpp, judge.hpp, config.hpp
static_assert(std::is_base_of_v<std::exception, error> &&
              std::is_nothrow_copy_constructible_v<error>);
static_assert([] {
  require({});
  return true;
}());
struct pod;
static_assert(!satisfied<violation::rank_is_too_high, int> && satisfied<violation::nothing, int>);
constexpr auto same_number = static_cast<misuse>(violation::rank_is_too_high);
static_assert(detail::rule_if<violation::rank_is_too_high, violation::rank_is_too_high> ==
                  violation::rank_is_too_high &&
              detail::rule_if<violation::rank_is_too_high, same_number> == violation::nothing &&
              detail::rule_if<same_number, violation::rank_is_too_high> == violation::nothing &&
              !satisfied<static_cast<misuse>(violation::nothing), int>);
static_assert(!refused<>::ok && allowed<>::ok && std::is_same_v<allowed<int>::type, int>);

// The facts of a verdict; texts of one length are different facts.
template <auto Verdict, class... Known>
using answer = decltype(internal::answer_to<Known...>(Verdict));
template <class Answer, class Broken>
constexpr bool is_refused = !Answer::ok && std::is_same_v<typename Answer::type, Broken>;
template <fixed_string Words>
constexpr called words{Words};
static_assert(answer<[] { return diagnosis{}; }>::ok);
constexpr auto no_axis = [] {
  return diagnosis{.rule = violation::axis_is_not_in_mesh, .dim = 1, .axis = "z"};
};
static_assert(
    is_refused<answer<no_axis, pod, int>,
               broken_rule<violation::axis_is_not_in_mesh, pod, dimension_at{1}, words<"z">>>);
static_assert(
    !is_refused<answer<no_axis, pod, int>,
                broken_rule<violation::axis_is_not_in_mesh, pod, dimension_at{1}, words<"y">>>);
constexpr auto sizes = [] {
  return diagnosis{
      .rule = violation::operand_sizes_differ, .operand = 1, .dim = 0, .have = 6, .want = 4};
};
static_assert(
    is_refused<answer<sizes, int>, broken_rule<violation::operand_sizes_differ, int, operand_at{1},
                                               dimension_at{0}, size_met{6}, size_needed{4}>>);
static_assert(
    std::is_same_v<decltype(internal::answer_to<int>(sizes, internal::text_shown<suggested>([] {
                                                       return text_view("do");
                                                     }))),
                   refused<violation::operand_sizes_differ, int, operand_at{1}, dimension_at{0},
                           size_met{6}, size_needed{4}, suggested(fixed_string("do"))>>);
static_assert(std::is_same_v<decltype(internal::answer_to<int>(
                                 sizes, internal::text_shown<called>([] { return text_view(); }))),
                             decltype(internal::answer_to<int>(sizes))>);
constexpr auto parts_of_8 = [] {
  return diagnosis{.rule = violation::extent_is_not_divisible, .dim = 0, .have = 1001, .want = 8};
};
static_assert(
    is_refused<answer<parts_of_8, pod, int, char>,
               broken_rule<violation::extent_is_not_divisible, pod, dimension_at{0},
                           actual_extent{1001}, equal_parts{8}, nearest_sizes{1000, 1008}>>);
constexpr auto rank = [] { return diagnosis{.rule = violation::rank_is_too_high, .dim = 8}; };
static_assert(is_refused<answer<rank, pod>,
                         broken_rule<violation::rank_is_too_high, of_types<>, dimension_at{8}>>);
#if defined(__cpp_exceptions)
static_assert(build_config::exceptions);
#else
static_assert(!build_config::exceptions);
#endif
static_assert(SHARDWISE_VERSION_MAJOR >= 0 && SHARDWISE_VERSION_MINOR >= 0);
