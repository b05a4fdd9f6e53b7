// SPDX-License-Identifier: BSL-1.0
#include <shardwise/mesh.hpp>

#include <type_traits>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct slice : mesh<axis<"data", dyn>> {};
struct rack : mesh<axis<"x", dyn>, axis<"y", 2>, axis<"z", dyn>> {};
struct widest : mesh<axis<"a", 1>, axis<"b", 2>, axis<"c", 3>, axis<"d", 1>, axis<"e", 2>,
                     axis<"f", 3>, axis<"g", 2>> {};
struct longest : mesh<axis<"abcdefghijklmnopqrstuvw", 2>, axis<"_", 1>, axis<"A9_", 1>> {};
struct huge : mesh<axis<"a", 65536>, axis<"b", 256>, axis<"c", 64>> {};

// The properties of a mesh.
static_assert(axis<"x", 4U>::size == 4 && axis<"x", dyn>::size == dyn && axis<"x">::size == 0);
static_assert(Mesh<pod> && Mesh<slice> && Mesh<mesh<>> && Mesh<mesh<axis<"x", 1>>>);
static_assert(!Mesh<int> && !Mesh<mesh_desc> && !Mesh<axis<"x", 2>>);

// A static mesh is empty and default-constructible.
static_assert(std::is_empty_v<pod> && std::is_empty_v<mesh<>> && std::is_empty_v<widest>);
static_assert(std::is_default_constructible_v<pod> && std::is_trivially_copyable_v<pod>);
static_assert(!std::is_constructible_v<mesh<axis<"x", 2>>, int>);
static_assert(sizeof(slice) == sizeof(index_t) && sizeof(rack) == 2 * sizeof(index_t));
static_assert(!std::is_default_constructible_v<slice> && std::is_trivially_copyable_v<slice>);
static_assert(!std::is_constructible_v<mesh<axis<"x", dyn>, axis<"y", dyn>>, int>);
static_assert(std::is_constructible_v<mesh<axis<"x", dyn>, axis<"y", dyn>>, int, index_t>);

static_assert(pod::devices == 8 && mesh<>::devices == 1 && widest::devices == 72);
static_assert(slice::devices == dyn && rack::devices == dyn && huge::devices == max_devices);
static_assert(pod::dynamic_axes == 0 && slice::dynamic_axes == 1 && rack::dynamic_axes == 2);
static_assert(pod{}.desc() == pod::value);
static_assert(slice{4}.desc().devices() == 4);
static_assert(rack{{3, 5}}.desc().devices() == 30 && rack{{3, 5}}.desc().size(2) == 5);
static_assert(rack::value.size(0) == dyn && rack::value.size(1) == 2);
static_assert(longest::value.find("abcdefghijklmnopqrstuvw") == 0 &&
              longest::value.find("A9_") == 2);

// The type of a mesh is the text of its axes, so two spellings of the same axes are one mesh.
struct rows : axis<"data", 2> {};
static_assert(std::is_same_v<mesh<rows, axis<"model", 4>>, of_text::mesh<"data=2, model=4">>);
static_assert(std::is_same_v<mesh<>, of_text::mesh<"">> && !std::is_same_v<pod, slice>);
static_assert(std::is_same_v<mesh<axis<"x", dyn>, axis<"y", 2>>, of_text::mesh<"x=?, y=2">>);

// mesh_text.hpp: valid axes are parsed back as they were written. The text of invalid ones states
// the rule that they break, and is never taken for valid axes.
template <class... Axes>
constexpr bool reads() {
  constexpr auto words = internal::mesh_text<Axes...>();
  const internal::parsed_axes read = internal::parse_axes(words);
  return read.verdict.ok() && read.position == words.size() &&
         read.value == mesh_desc{{axis_desc{Axes::label, Axes::size}...}};
}
static_assert(reads<axis<"x", 1073741824>>() && reads<axis<"x", dyn>, axis<"y", 1>>());
static_assert(internal::parse_axes("").verdict.ok() &&
              internal::parse_axes("").value == mesh_desc{});

template <class... Axes>
constexpr diagnosis verdict = internal::parse_axes(internal::mesh_text<Axes...>()).verdict;
static_assert(internal::mesh_text<axis<"x y", -3>, axis<"", 0>, axis<"z", -9>>() ==
              fixed_string("<x y>=-3, <>=0, z=-9"));
static_assert(verdict<axis<"x", 2>, axis<"c, d", 5>> ==
              diagnosis{.rule = violation::axis_name_is_malformed, .axis = "c, d"});
static_assert(verdict<axis<"a=1, b", 2>>.rule == violation::axis_name_is_malformed);
static_assert(verdict<axis<"a>=1, b", 2>>.rule == violation::axis_name_is_malformed);
static_assert(verdict<axis<" a", 2>>.rule == violation::axis_name_is_malformed);
static_assert(verdict<axis<"a ", 2>>.rule == violation::axis_name_is_malformed);
static_assert(verdict<axis<"", 2>>.rule == violation::axis_name_is_malformed);
static_assert(verdict<axis<"abcdefghijklmnopqrstuvwx", 1>>.have == 24);
static_assert(verdict<axis<"x", -9223372036854775807 - 1>> ==
              diagnosis{.rule = violation::axis_size_is_not_positive,
                        .axis = "x",
                        .have = -9223372036854775807 - 1,
                        .want = 1});
static_assert(verdict<axis<"a", 1>, axis<"b", 1>, axis<"c", 1>, axis<"d", 1>, axis<"e", 1>,
                      axis<"f", 1>, axis<"g", 1>, axis<"h", 1>, axis<"i", 1>> ==
              diagnosis{.rule = violation::mesh_has_too_many_axes, .have = 9, .want = max_axes});

// mesh_desc.hpp
constexpr mesh_desc written{{axis_desc{"data", 2}, axis_desc{"model", 4}}};
static_assert(written == pod::value && written.devices() == 8 && written.rank() == 2);
static_assert(written.find("model") == 1 && written.find("modle") == -1 && written.find("") == -1);
static_assert(written.parts({}) == 1 && written.parts({1}) == 4 && written.parts({1, 0}) == 8);
static_assert(rack::value.parts({1}) == 2 && rack::value.parts({1, 0}) == dyn);
static_assert(written.at(6) == coordinates{1, 2} && written.device({1, 2}) == 6);
static_assert(mesh_desc{}.devices() == 1 && mesh_desc{}.device(mesh_desc{}.at(0)) == 0);
static_assert(is_axis_name("x") && is_axis_name("_9") && is_axis_name("Az_09"));
static_assert(!is_axis_name("") && !is_axis_name("9x") && !is_axis_name("a b") &&
              !is_axis_name("x,y"));
static_assert(!is_axis_name("abcdefghijklmnopqrstuvwx") && is_axis_name("abcdefghijklmnopqrstuvw"));
static_assert(validate(mesh_desc{{axis_desc{"abcdefghijklmnopqrstuvw", 2}}}).ok());
static_assert(validate(mesh_desc{{axis_desc{"abcdefghijklmnopqrstuvwx", 2}}}).rule ==
              violation::axis_name_is_malformed);

constexpr auto judged = [](auto... axes) { return validate(mesh_desc{{axes...}}).rule; };
static_assert(validate(mesh_desc{}).ok() && validate(pod::value).ok() &&
              validate(slice::value).ok());
static_assert(judged(axis_desc{"x", 2}, axis_desc{"x", 2}) == violation::axis_is_repeated_in_mesh);
static_assert(judged(axis_desc{"x", 0}) == violation::axis_size_is_not_positive);
static_assert(judged(axis_desc{"x", -2}) == violation::axis_size_is_not_positive);
static_assert(judged(axis_desc{"x", max_devices}, axis_desc{"y", 1}) == violation::nothing);
static_assert(judged(axis_desc{"x", max_devices}, axis_desc{"y", 2}, axis_desc{"x", 2}) ==
              violation::axis_is_repeated_in_mesh);
static_assert(judged(axis_desc{"x", max_devices}, axis_desc{"y", 2}) ==
              violation::mesh_has_too_many_devices);
static_assert(judged(axis_desc{"x", max_devices}, axis_desc{"y", dyn}, axis_desc{"z", dyn}) ==
              violation::nothing);
static_assert(judged(axis_desc{"", 2}) == violation::axis_name_is_malformed);
static_assert(judged(axis_desc{"x y", 2}) == violation::axis_name_is_malformed);

constexpr auto shown = [](const mesh_desc& mesh) {
  message_text out;
  out << mesh;
  return out;
};
static_assert(shown(pod::value) == "mesh(data=2, model=4)" && shown(mesh_desc{}) == "mesh()");
static_assert(shown(rack::value) == "mesh(x=?, y=2, z=?)");

// group.hpp
constexpr device_groups along_model(pod::value, {1});
static_assert(along_model.count() == 2 && along_model.size() == 4 && along_model.member(1, 2) == 6);
static_assert(along_model.group_of(6) == 1 && along_model.position_of(6) == 2);
constexpr device_groups everybody(pod::value, {1, 0});
static_assert(everybody.count() == 1 && everybody.size() == 8 && everybody.member(0, 1) == 4);
constexpr device_groups alone(pod::value, {});
static_assert(alone.count() == 8 && alone.size() == 1 && alone.member(5, 0) == 5);
