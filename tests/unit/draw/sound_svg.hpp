// SPDX-License-Identifier: BSL-1.0
// Requirements of every image.
#pragma once

#include "support/catch.hpp"
#include <shardwise/draw/svg_document.hpp>

#include <cstdlib>
#include <string>
#include <vector>

inline long long attribute(const std::string& element, const std::string& name) {
  const std::size_t at = element.find(" " + name + "=\"");
  return at == std::string::npos ? 0 : std::atoll(element.c_str() + at + name.size() + 3);
}

/// Fails unless elements are nested, attributes are quoted, and nothing is outside of the picture.
inline void require_sound(const std::string& svg) {
  std::vector<std::string> open;
  long long width = 0, height = 0;
  std::size_t at = 0;
  while ((at = svg.find('<', at)) != std::string::npos) {
    const std::size_t end = svg.find('>', at);
    REQUIRE(end != std::string::npos);
    const std::string element = svg.substr(at + 1, end - at - 1);
    REQUIRE(element.find('<') == std::string::npos);
    if (element[0] == '/') {
      REQUIRE(!open.empty());
      REQUIRE(open.back() == element.substr(1));
      open.pop_back();
    } else {
      const std::string name = element.substr(0, element.find_first_of(" /"));
      if (element.back() != '/') open.push_back(name);
      if (name == "svg") {
        width = attribute(element, "width");
        height = attribute(element, "height");
        REQUIRE(element.find("viewBox=\"0 0 " + std::to_string(width) + " " +
                             std::to_string(height) + "\"") != std::string::npos);
      }
      if (name == "rect" && element.find("\"ground\"") == std::string::npos) {
        REQUIRE(attribute(element, "x") >= 0);
        REQUIRE(attribute(element, "width") >= 0);
        REQUIRE(attribute(element, "x") + attribute(element, "width") <= width);
        REQUIRE(attribute(element, "y") + attribute(element, "height") <= height);
      }
      if (name == "text") {
        const std::size_t words = svg.find('<', end) - end - 1;
        const long long all = shardwise::detail::text_width(words, 11);
        const bool centred = element.find("middle") != std::string::npos;
        const bool right = element.find("\"end\"") != std::string::npos;
        const long long left = attribute(element, "x") - (right ? all : centred ? all / 2 : 0);
        if (svg.substr(end, words).find('&') == std::string::npos) {
          REQUIRE(left >= 0);
          REQUIRE(left + all <= width);
        }
        REQUIRE(attribute(element, "y") <= height);
      }
    }
    at = end;
  }
  REQUIRE(open.empty());
}
