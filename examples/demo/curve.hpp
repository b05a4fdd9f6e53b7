// SPDX-License-Identifier: BSL-1.0
// The losses of a training as a picture.
#pragma once

#include "text.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace demo {

/// A loss after so many steps.
struct loss_at {
  long step;
  double loss;
};

/// Draws the losses of training, each and the mean of those before it, and those of the text held
/// out, if there are two or more; says whether it has.
inline bool draw_curve(const std::string& path, const std::vector<loss_at>& trained,
                       const std::vector<loss_at>& held_out) {
  if (trained.size() < 2) return false;
  constexpr double left = 50, right = 700, top = 20, bottom = 380;
  double most = 0;
  for (const loss_at& at : trained) most = std::max(most, at.loss);
  const auto first = static_cast<double>(trained.front().step);
  const auto last = static_cast<double>(trained.back().step);
  const auto x = [&](double step) {
    return left + (right - left) * (step - first) / (last - first);
  };
  const auto y = [&](double loss) { return bottom - (bottom - top) * std::min(loss / most, 1.0); };
  std::ofstream out(path);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 420\" "
         "font-family=\"sans-serif\" font-size=\"12\">\n"
         "<rect width=\"720\" height=\"420\" fill=\"white\"/>\n";
  for (int tick = 0; tick <= static_cast<int>(most); ++tick)
    out << "<path d=\"M" << left << ' ' << y(tick) << 'H' << right
        << "\" stroke=\"#ddd\"/><text x=\"30\" y=\"" << y(tick) + 4 << "\">" << tick << "</text>\n";
  const auto line = [&](const char* colour, double stroke, const std::vector<loss_at>& points) {
    out << "<polyline fill=\"none\" stroke=\"" << colour << "\" stroke-width=\"" << stroke
        << "\" points=\"";
    for (const loss_at& at : points)
      out << x(static_cast<double>(at.step)) << ',' << y(at.loss) << ' ';
    out << "\"/>\n";
  };
  line("#b8d0e8", 1, trained);
  std::vector<loss_at> smooth;
  const std::size_t around = std::max<std::size_t>(trained.size() / 50, 1);
  double sum = 0;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    sum += trained[i].loss - (i >= around ? trained[i - around].loss : 0);
    smooth.push_back({trained[i].step, sum / static_cast<double>(std::min(i + 1, around))});
  }
  line("#1f6fb4", 1.5, smooth);
  line("#d1495b", 1.5, held_out);
  out << "<text x=\"500\" y=\"40\" fill=\"#1f6fb4\">trained on</text>"
         "<text x=\"580\" y=\"40\" fill=\"#d1495b\">held out</text>\n<text x=\""
      << left << "\" y=\"405\">nats per byte, steps " << trained.front().step << " to "
      << trained.back().step << "</text>\n</svg>\n";
  out.flush();
  if (!out) throw bad_input("'" + path + "' cannot be written");
  return true;
}

}  // namespace demo
