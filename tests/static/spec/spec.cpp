// SPDX-License-Identifier: BSL-1.0
#include <shardwise/spec.hpp>

#include <type_traits>

using namespace shardwise;

// One layout, one type.
static_assert(std::is_same_v<P<by("x", "y")>, P<"x,y">>);
static_assert(std::is_same_v<P<by("x")>, P<"x">> && std::is_same_v<P<none>, P<"">>);
static_assert(std::is_same_v<P<"x", nullptr>, P<"x", none>>);
static_assert(std::is_same_v<P<by("a", "b", "c", "d", "e", "f", "g")>, P<"a,b,c,d,e,f,g">>);
static_assert(!std::is_same_v<P<by("x", "y")>, P<by("y", "x")>>);
static_assert(!std::is_same_v<P<none>, P<>> && !std::is_same_v<P<"x", none>, P<none, "x">>);
static_assert(std::is_same_v<partial<>, partial<"", reduction::sum>>);
static_assert(!std::is_same_v<partial<"x">, partial<"x", reduction::max>>);

static_assert(std::is_empty_v<P<"x">> && std::is_empty_v<partial<"x">>);
static_assert(std::is_empty_v<exact> && std::is_empty_v<uneven>);

static_assert(P<>::value.rank() == 0 && P<"x", none>::value == spec_desc{{"x", ""}});
static_assert(P<none, none, none, none, none, none, none, none>::value.rank() == max_rank);
// A spec keeps one entry more than a tensor has room for, whatever follows.
static_assert(P<none, none, none, none, none, none, none, none, "x">::value.dims[8] == "x");
static_assert(P<none, none, none, none, none, none, none, none, none, "x">::value.rank() == 9);
static_assert(P<by("x", "y")>::value.dims[0] == "x,y");
static_assert(partial<by("x", "y")>::value == partial_desc{"x,y"});
static_assert(partial<"x", reduction::min>::value == partial_desc{"x", reduction::min});

// A nested list is an entry that is invalid at any position.
static_assert(text_view(by(by("x", "y"))) == "(x,y)" && text_view(by(by("x"), "y")) == "(x)");
static_assert(text_view(by("x", by("y", "z"))) == "(y,z)");
static_assert(text_view(by("x", by("y"), "z")) == "(y)");

static_assert(to_text(reduction::sum) == "sum" && to_text(reduction::product) == "product");
static_assert(to_text(reduction::max) == "max" && to_text(reduction::min) == "min");
static_assert(reduction_count == 4);
