// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/paper.hpp>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>> {};
using X = sharded_tensor<float, extents<8>, layout<pod, P<"data">>>;

std::size_t length_of(std::string_view words) { return words.size(); }
std::size_t length_of_copy(const std::string& words) { return words.size(); }

template <class Text, class To>
inline constexpr bool converts =
    std::is_convertible_v<Text, To>&& std::is_constructible_v<To, Text>;

}  // namespace

static_assert(converts<text_view, std::string> && converts<text_view, std::string_view> &&
              converts<message_text, std::string> && converts<message_text, std::string_view>);
static_assert(!converts<text_view, bool> && !converts<text_view, const char*> &&
              !std::is_convertible_v<text_view, std::vector<char>> &&
              !std::is_convertible_v<message_text, std::ostringstream>);
static_assert(std::string_view(type_name<pod>()).size() == text_view("mesh(data=2)").size());

TEST_CASE("texts convert to those of the standard library") {
  const text_view view = "a.bias";
  std::string copied = view;
  REQUIRE(copied == "a.bias");
  copied = type_name<X>();
  REQUIRE(copied == "f32[8@data]");
  copied += view;
  REQUIRE(copied == "f32[8@data]a.bias");
  const std::string made(type_name<X>()), braced{view};
  REQUIRE((made == "f32[8@data]" && braced == "a.bias"));
  const std::string_view seen = view, direct(view);
  REQUIRE((seen == "a.bias" && direct == seen));
  REQUIRE(length_of(view) == 6);
  REQUIRE(length_of(type_name<X>()) == 11);
  REQUIRE(length_of_copy(type_name<X>()) == 11);
  std::map<std::string, int> sizes;
  sizes[view] = 3;
  sizes[type_name<X>()] = 4;
  REQUIRE(sizes.at("a.bias") == 3);
  std::vector<std::string> names;
  names.push_back(view);
  names.emplace_back(type_name<X>());
  REQUIRE(names.size() == 2);
  const auto visit = [](const auto& f) { return f(text_view("weight"), 2); };
  REQUIRE(visit([](std::string_view name, int) { return name == "weight"; }));
  REQUIRE(std::filesystem::path(std::string(view)).extension() == ".bias");
}

TEST_CASE("texts are compared with, and printed beside, those of the standard library") {
  const text_view view = "a.bias";
  const message_text words = view;
  const std::string copied = view;
  const std::string_view seen = copied;
  REQUIRE((view == copied && copied == view && view == seen && seen == view));
  REQUIRE((words == copied && copied == words && words == seen && seen == words));
  REQUIRE((view == "a.bias" && "a.bias" == view && words == "a.bias" && words == view &&
           view == words));
  REQUIRE((view != "b" && view != std::string("b") && seen != text_view("b")));
  std::ostringstream out;
  out << view << ' ' << words << ' ' << type_name<X>();
  REQUIRE(out.str() == "a.bias a.bias f32[8@data]");
}
