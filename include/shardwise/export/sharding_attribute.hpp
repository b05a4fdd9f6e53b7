// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/notation/hlo_layout.hpp"
#include "shardwise/notation/hlo_named.hpp"
#include "shardwise/notation/hlo_text.hpp"
#include "shardwise/notation/sdy_text.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardwise {

/// How shardings stand in an exported program: as the strings of HLO, `mhlo.sharding =
/// "{devices=[2,1]<=[2]}"`, or as the attributes of Shardy with the names of its mesh.
enum class sharding_form : std::uint8_t { hlo, sdy };

namespace internal {

/// A string as an output of text.
struct string_sink {
  std::string text{};

  string_sink& operator<<(text_view words) {
    text.append(words.data(), words.size());
    return *this;
  }
  string_sink& operator<<(char c) {
    text += c;
    return *this;
  }
};

/// Writes the layouts of values on one mesh as attributes. Keeps the first reason why a layout
/// cannot be written.
class sharding_attributes {
 public:
  sharding_attributes(const mesh_desc& mesh, sharding_form form) : mesh_(mesh), form_(form) {}

  [[nodiscard]] bool is_sdy() const noexcept { return form_ == sharding_form::sdy; }
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

  /// Returns a layout as HLO or Shardy writes it, without quotes. A pending reduction that tiles
  /// cannot express has the names of the mesh. Halos are left to the reader, who has the whole
  /// tensor.
  [[nodiscard]] std::string text_of(const layout_desc& layout) {
    named_sharding named = to_named(mesh_, layout.without_halos());
    string_sink out;
    if (const text_view reason = why_not(named); !reason.empty()) return refuse(reason);
    if (is_sdy()) {
      // Inside of a manual region, the manual axes are those of the region.
      named.manual.clear();
      write_sdy(out, "mesh", named);
      return out.text;
    }
    if (named.kind != reduction::sum) {
      write_hlo_named(out, named);
      return out.text;
    }
    std::vector<index_t> memory(static_cast<std::size_t>(2 * mesh_.devices()));
    device_buffer room(memory.data(), 2 * mesh_.devices());
    const hlo_result tiles = to_hlo(named, room);
    if (!tiles.verdict.ok()) return refuse(tiles.verdict.reason);
    write_hlo(out, tiles.sharding);
    return out.text;
  }
  /// Returns the attribute of an argument or a result of a function, and of an operation.
  [[nodiscard]] std::string of_argument(const layout_desc& layout) {
    return is_sdy() ? "sdy.sharding = " + text_of(layout) : of_operation({layout});
  }
  [[nodiscard]] std::string of_operation(const std::vector<layout_desc>& layouts) {
    if (is_sdy()) return "sdy.sharding = " + per_value(layouts);
    std::string all;
    for (const layout_desc& layout : layouts) all += (all.empty() ? "" : ", ") + text_of(layout);
    return "mhlo.sharding = \"" + (layouts.size() > 1 ? '{' + all + '}' : all) + '"';
  }
  /// Returns shardings as Shardy lists them: `#sdy.sharding_per_value<[<@mesh, [{}]>]>`.
  [[nodiscard]] std::string per_value(const std::vector<layout_desc>& layouts) {
    std::string all;
    for (const layout_desc& layout : layouts) {
      const std::string one = text_of(layout);
      constexpr std::string_view name = "#sdy.sharding";
      all += (all.empty() ? "" : ", ") + one.substr(one.starts_with(name) ? name.size() : 0);
    }
    return "#sdy.sharding_per_value<[" + all + "]>";
  }
  /// Returns the mesh as Shardy writes it: `#sdy.mesh<["data"=2]>`.
  [[nodiscard]] std::string mesh_text() {
    string_sink out{"#sdy.mesh"};
    write_sdy_mesh(out, to_named(mesh_));
    return out.text;
  }

 private:
  std::string refuse(text_view reason) {
    if (refusal_.empty()) refusal_ = std::string(reason.data(), reason.size());
    return {};
  }
  const mesh_desc& mesh_;
  sharding_form form_;
  std::string refusal_;
};

}  // namespace internal
}  // namespace shardwise
