// SPDX-License-Identifier: BSL-1.0
// The sharding that a request is about, in every form in which it is known.
#pragma once

#include "cut.hpp"
#include <shardwise/layout/element.hpp>
#include <shardwise/notation/dtensor_text.hpp>
#include <shardwise/notation/hlo_sharding.hpp>

#include <memory>
#include <optional>

namespace tool {

/// Memory for lists of devices, taken once; pages are used only as far as lists reach.
class workspace {
 public:
  /// Room for lists; what was in it before is no longer there.
  [[nodiscard]] device_buffer buffer() noexcept { return {memory_.get(), room_}; }

 private:
  index_t room_ = 8 * most_devices;
  std::unique_ptr<index_t[]> memory_{new index_t[static_cast<std::size_t>(room_)]};
};

/// A form of a sharding, or why there is none.
template <class Form>
struct known {
  std::optional<Form> form{};
  std::string why_not{};

  known() = default;
  known(const Form& given) : form(given) {}
  static known none(const std::string& reason) {
    known nothing;
    nothing.why_not = reason;
    return nothing;
  }
  explicit operator bool() const noexcept { return form.has_value(); }
  const Form& operator*() const noexcept { return *form; }
  const Form* operator->() const noexcept { return &*form; }
};

/// How a text may be read: the notation, and a text that is read so and means the same.
struct reading {
  std::string notation;
  std::string words;
};

/// A sharding and the tensor that it is of. Lists of devices are in the workspace.
struct subject {
  std::optional<mesh_desc> mesh{};
  /// The devices in the order of the mesh; empty for 0, 1, 2, ...
  std::vector<index_t> devices{};
  std::optional<extents_desc> shape{};

  known<layout_desc> layout = known<layout_desc>::none("no mesh was given");
  known<named_sharding> named = known<named_sharding>::none("no mesh was given");
  known<hlo_sharding> hlo{};
  /// Who holds what: as `hlo`, but known for every kind of pending reduction too.
  known<hlo_sharding> tiles{};
  /// Who holds what where that is said by placements or in portions of a grain.
  std::optional<mesh_cut> cut{};
  /// True for axes on a mesh, of which the type is what PyTorch/XLA derives from them.
  bool is_spec = false;
  /// The type of the elements, where the sharding is that of a type.
  element type = element::f32;
  /// The notation of a text in any notation, and what else that text could be.
  std::string notation{};
  std::vector<reading> others{};

  /// The layout, unless placements cut these extents otherwise.
  [[nodiscard]] known<layout_desc> layout_as_cut() const {
    if (!layout || !is_cut_otherwise()) return layout;
    return known<layout_desc>::none("strided shards cut these extents otherwise");
  }
  /// True for placements that cut the tensor otherwise than every layout.
  [[nodiscard]] bool is_cut_otherwise() const noexcept {
    if (!cut || cut->placements.empty()) return false;
    return !layout || (shape && !cuts_alike(*mesh, cut->placements, *layout, *shape));
  }
};

/// What text of the library is written to.
struct string_sink {
  std::string words{};

  string_sink& operator<<(text_view more) {
    words += view(more);
    return *this;
  }
  string_sink& operator<<(char c) {
    words += c;
    return *this;
  }
  string_sink& operator<<(index_t number) {
    char digits[24];
    words.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    return *this;
  }
};

/// Placements in words.
[[nodiscard]] inline std::string to_words(const dtensor_placements& placements) {
  string_sink out;
  write_placements(out, placements);
  return out.words;
}

/// How a sentence ends that says a place in a text.
[[nodiscard]] inline std::string at_character(std::size_t position) {
  return " (at character " + std::to_string(position) + ")";
}

/// Why a text is not read.
[[nodiscard]] inline refusal unread(std::string_view code, const parse_verdict& verdict) {
  if (verdict.reason == "the buffer has room for every device")
    return {"too_many_devices", "at most " + std::to_string(most_devices) + " devices are listed"};
  refusal why(std::string(code), str(verdict.reason) + at_character(verdict.position));
  why.at = verdict.position;
  return why;
}

/// Why a text is not read that is a part of another and begins there at `offset`.
[[nodiscard]] inline refusal unread_part(refusal why, std::size_t offset) {
  if (!why.at) return why;
  const std::string end = at_character(*why.at);
  *why.at += offset;
  if (why.sentence.ends_with(end))
    why.sentence.replace(why.sentence.size() - end.size(), end.size(), at_character(*why.at));
  return why;
}

/// Refuses a tensor whose rank is another than the sharding's.
[[nodiscard]] inline objection require_rank(const subject& about, int rank) {
  if (!about.shape || about.shape->ssize() == rank) return std::nullopt;
  refusal why("rank_differs_from_sharding",
              "a sharding has one entry for each dimension: " + std::to_string(rank) +
                  " entries, " + std::to_string(about.shape->ssize()) + " dimensions");
  why.rank = rank;
  return why;
}

/// Where each device is, of devices in the order of a mesh; nothing for 0, 1, 2, ...
[[nodiscard]] inline outcome<std::vector<index_t>> places_of(const std::vector<index_t>& devices) {
  std::vector<index_t> places(devices.size());
  if (auto no = judge(invert(devices, places))) return *no;
  return places;
}

}  // namespace tool
