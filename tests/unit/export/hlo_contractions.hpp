// SPDX-License-Identifier: BSL-1.0
// Products, convolutions, transforms and systems of StableHLO.
#pragma once

#include "unit/export/hlo_shapes.hpp"

#include <numbers>

namespace hlo_text::contractions {

using shapes::are_distinct_dims;
using shapes::size;

inline number times(const number& a, const number& b, const element_form& form) {
  return elements::multiply({a, b}, form);
}
inline number plus(const number& a, const number& b, const element_form& form) {
  return elements::add({a, b}, form);
}

inline tensors dot_general(const tensors& x, attribute_reader& in, const tensor_type& result) {
  const auto members = members_of(in.text("dot_dimension_numbers"), "dot",
                                  {"lhs_batching_dimensions", "rhs_batching_dimensions",
                                   "lhs_contracting_dimensions", "rhs_contracting_dimensions"});
  const auto dims = [&](const std::string& name) {
    const auto found = members.find(name);
    return found == members.end() ? indices{} : found->second;
  };
  const tensor &a = x[0], &b = x[1];
  const indices batch_a = dims("lhs_batching_dimensions"),
                batch_b = dims("rhs_batching_dimensions");
  const indices sum_a = dims("lhs_contracting_dimensions");
  const indices sum_b = dims("rhs_contracting_dimensions");
  const auto joined = [](indices first, const indices& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  demand(batch_a.size() == batch_b.size() && sum_a.size() == sum_b.size() &&
             are_distinct_dims(joined(batch_a, sum_a), a.rank()) &&
             are_distinct_dims(joined(batch_b, sum_b), b.rank()),
         "dimensions of dot_general are in pairs, each once");
  for (std::size_t k = 0; k < batch_a.size(); ++k)
    demand(a.type.extents[size(batch_a[k])] == b.type.extents[size(batch_b[k])],
           "batches of a product have one extent");
  indices summed;
  for (std::size_t k = 0; k < sum_a.size(); ++k) {
    demand(a.type.extents[size(sum_a[k])] == b.type.extents[size(sum_b[k])],
           "contracted dimensions have one extent");
    summed.push_back(a.type.extents[size(sum_a[k])]);
  }
  const auto left = [&](const tensor& of, const indices& used) {
    indices out;
    for (index d = 0; d < of.rank(); ++d)
      if (std::find(used.begin(), used.end(), d) == used.end()) out.push_back(d);
    return out;
  };
  const indices left_a = left(a, joined(batch_a, sum_a)), left_b = left(b, joined(batch_b, sum_b));
  indices extents;
  for (const index d : batch_a) extents.push_back(a.type.extents[size(d)]);
  for (const index d : left_a) extents.push_back(a.type.extents[size(d)]);
  for (const index d : left_b) extents.push_back(b.type.extents[size(d)]);
  tensor out({result.element, extents});
  const element_form form = out.form();
  for_each_index(extents, [&](const indices& at) {
    indices p(a.type.extents.size()), q(b.type.extents.size());
    std::size_t next = 0;
    for (std::size_t k = 0; k < batch_a.size(); ++k, ++next)
      p[size(batch_a[k])] = q[size(batch_b[k])] = at[next];
    for (const index d : left_a) p[size(d)] = at[next++];
    for (const index d : left_b) q[size(d)] = at[next++];
    number sum;
    for_each_index(summed, [&](const indices& s) {
      for (std::size_t k = 0; k < s.size(); ++k) p[size(sum_a[k])] = q[size(sum_b[k])] = s[k];
      sum = plus(sum, times(a.at(p), b.at(q), form), form);
    });
    out.at(at) = as_element(sum, form);
  });
  return {out};
}

/// The places of the letters and of the spatial dimensions in `[b, f, 0, 1]`.
inline std::map<std::string, index> places_of(const std::string& words) {
  std::map<std::string, index> out;
  std::string word;
  for (const char c : words) {
    if (c == ',' || c == ']') {
      demand(out.emplace(word, static_cast<index>(out.size())).second, words + " repeats " + word);
      word.clear();
    } else if (c != ' ' && c != '[') {
      word += c;
    }
  }
  return out;
}
inline tensors convolution(const tensors& x, attribute_reader& in, const tensor_type& result) {
  const std::string words = in.text("dimension_numbers");
  const std::string begin = "#stablehlo.conv<";
  const std::size_t cross = words.find("]x["), arrow = words.find("]->[");
  demand(
      words.starts_with(begin) && cross != words.npos && arrow != words.npos && words.back() == '>',
      "these are no numbers of a convolution: " + words);
  auto lhs = places_of(words.substr(begin.size(), cross + 1 - begin.size()));
  auto rhs = places_of(words.substr(cross + 2, arrow - cross - 1));
  auto out_dims = places_of(words.substr(arrow + 3, words.size() - arrow - 4));
  const int count = x[0].rank() - 2;
  demand(count >= 0 && x[1].rank() == count + 2, "a convolution has operands of one rank");
  const auto require_letters = [&](std::map<std::string, index>& at, const char* a, const char* b) {
    demand(at.size() == size(count + 2) && at.contains(a) && at.contains(b),
           "a convolution names the dimensions of each tensor: " + words);
    for (int d = 0; d < count; ++d)
      demand(at.contains(std::to_string(d)), "a spatial dimension is missing: " + words);
  };
  require_letters(lhs, "b", "f");
  require_letters(rhs, "o", "i");
  require_letters(out_dims, "b", "f");
  const indices stride = in.list("window_strides", count), padding = in.pairs("padding", count);
  const indices spacing = in.list("lhs_dilation", count), distance = in.list("rhs_dilation", count);
  const index groups = in.count("feature_group_count"), batches = in.count("batch_group_count");
  demand(groups >= 1 && batches >= 1 && (groups == 1 || batches == 1), "one kind of groups");
  if (in.has("window_reversal"))
    demand(in.text("window_reversal").find("true") == std::string::npos, "no window is reversed");
  if (in.has("precision_config")) (void)in.text("precision_config");
  const auto lhs_extent = [&](const std::string& of) { return x[0].type.extents[size(lhs[of])]; };
  const auto rhs_extent = [&](const std::string& of) { return x[1].type.extents[size(rhs[of])]; };
  demand(lhs_extent("b") % batches == 0 && lhs_extent("f") % groups == 0 &&
             lhs_extent("f") / groups == rhs_extent("i") && rhs_extent("o") % groups == 0 &&
             rhs_extent("o") % batches == 0,
         "the channels of a convolution do not fit");
  indices extents(size(count + 2));
  extents[size(out_dims["b"])] = lhs_extent("b") / batches;
  extents[size(out_dims["f"])] = rhs_extent("o");
  indices window;
  for (int d = 0; d < count; ++d) {
    const std::string s = std::to_string(d);
    demand(stride[size(d)] > 0 && spacing[size(d)] > 0 && distance[size(d)] > 0,
           "distances are > 0");
    const index n = lhs_extent(s), k = rhs_extent(s);
    const index have = (n == 0 ? 0 : (n - 1) * spacing[size(d)] + 1) + padding[size(2 * d)] +
                       padding[size(2 * d + 1)];
    const index reach = k == 0 ? 0 : (k - 1) * distance[size(d)] + 1;
    extents[size(out_dims[s])] = reach > have ? 0 : (have - reach) / stride[size(d)] + 1;
    window.push_back(k);
  }
  tensor out({result.element, extents});
  const element_form form = out.form();
  const index made_channels = rhs_extent("o"), inner = rhs_extent("i");
  for_each_index(extents, [&](const indices& at) {
    const index batch = at[size(out_dims["b"])], channel = at[size(out_dims["f"])];
    const index group = channel / (made_channels / groups);
    const index batch_group = channel / (made_channels / batches);
    number sum;
    for_each_index(window, [&](const indices& w) {
      indices p(extents.size()), q(extents.size());
      p[size(lhs["b"])] = batch_group * (lhs_extent("b") / batches) + batch;
      q[size(rhs["o"])] = channel;
      for (int d = 0; d < count; ++d) {
        const std::string s = std::to_string(d);
        const index place = at[size(out_dims[s])] * stride[size(d)] +
                            w[size(d)] * distance[size(d)] - padding[size(2 * d)];
        if (place < 0 || place % spacing[size(d)] != 0) return;
        p[size(lhs[s])] = place / spacing[size(d)];
        if (p[size(lhs[s])] >= lhs_extent(s)) return;
        q[size(rhs[s])] = w[size(d)];
      }
      for (index i = 0; i < inner; ++i) {
        p[size(lhs["f"])] = group * inner + i;
        q[size(rhs["i"])] = i;
        sum = plus(sum, times(x[0].at(p), x[1].at(q), form), form);
      }
    });
    out.at(at) = as_element(sum, form);
  });
  return {out};
}

/// A sum over all elements for each element, along the last dimension.
inline tensors fft(const tensors& x, attribute_reader& in, const tensor_type& result) {
  const std::string kind = in.word("fft_type", "fft_type");
  const indices lengths = in.list("fft_length", 1);
  const index n = lengths[0];
  const bool to_real = kind == "IRFFT", of_real = kind == "RFFT";
  demand(to_real || of_real || kind == "FFT" || kind == "IFFT", "no transform is " + kind);
  demand(x[0].rank() >= 1 && x[0].form().is_complex != of_real, kind + " of other elements");
  indices extents = x[0].type.extents;
  demand(extents.back() == (to_real ? n / 2 + 1 : n), kind + " of another length");
  extents.back() = of_real ? n / 2 + 1 : n;
  tensor out({result.element, extents});
  demand(out.form().is_complex != to_real, kind + " makes other elements");
  const double sign = kind == "IFFT" || to_real ? 1 : -1,
               scale = sign > 0 ? static_cast<double>(n) : 1;
  for_each_index(extents, [&](const indices& at) {
    indices from = at;
    std::complex<double> sum;
    for (index i = 0; i < n; ++i) {
      // The second half of the transform of real numbers mirrors the first.
      const bool is_mirrored = to_real && i > n / 2;
      from.back() = is_mirrored ? n - i : i;
      std::complex<double> term = x[0].at(from).real;
      if (is_mirrored) term = std::conj(term);
      if (to_real && (i == 0 || 2 * i == n)) term = term.real();
      const double angle = sign * 2 * std::numbers::pi * static_cast<double>(i * at.back() % n) /
                           static_cast<double>(n);
      sum += term * std::complex<double>(std::cos(angle), std::sin(angle));
    }
    out.at(at) = as_element({sum / scale, 0}, out.form());
  });
  return {out};
}

/// Calls `f` with the index of each matrix in a batch of matrices.
template <class F>
void for_each_matrix(const tensor& x, F f) {
  demand(x.rank() >= 2, "a matrix has two dimensions");
  indices batch(x.type.extents.begin(), x.type.extents.end() - 2);
  for_each_index(batch, f);
}
inline indices element_of(indices batch, index row, index column) {
  batch.push_back(row);
  batch.push_back(column);
  return batch;
}
inline tensors cholesky(const tensors& x, attribute_reader& in, const tensor_type&) {
  demand(in.flag("lower"), "the factor is the lower one");
  tensor out = x[0];
  const index n = x[0].type.extents.back();
  demand(x[0].rank() >= 2 && x[0].extent(x[0].rank() - 2) == n, "matrices of cholesky are square");
  for_each_matrix(x[0], [&](const indices& batch) {
    const auto l = [&](index r, index c) -> std::complex<double>& {
      return out.at(element_of(batch, r, c)).real;
    };
    for (index c = 0; c < n; ++c) {
      for (index k = 0; k < c; ++k) l(c, c) -= l(c, k) * l(c, k);
      l(c, c) = std::sqrt(l(c, c).real());
      for (index r = c + 1; r < n; ++r) {
        for (index k = 0; k < c; ++k) l(r, c) -= l(r, k) * l(c, k);
        l(r, c) /= l(c, c);
      }
    }
    // The specification leaves the other triangle open.
    for (index r = 0; r < n; ++r)
      for (index c = r + 1; c < n; ++c) l(r, c) = std::nan("");
  });
  return {out};
}
inline tensors triangular_solve(const tensors& x, attribute_reader& in, const tensor_type&) {
  const bool left = in.flag("left_side"), lower = in.flag("lower"), unit = in.flag("unit_diagonal");
  const std::string how = in.word("transpose_a", "transpose");
  demand(left && (how == "TRANSPOSE" || how == "NO_TRANSPOSE"), "a system has another form");
  const bool turned = how == "TRANSPOSE";
  tensor out = x[1];
  const index n = x[0].type.extents.back(), columns = x[1].type.extents.back();
  demand(x[0].rank() == x[1].rank() && x[0].extent(x[0].rank() - 2) == n &&
             x[1].extent(x[1].rank() - 2) == n,
         "the sides of a system have as many rows as its matrix");
  for_each_matrix(x[0], [&](const indices& batch) {
    const auto a = [&](index r, index c) {
      return x[0].at(turned ? element_of(batch, c, r) : element_of(batch, r, c)).real;
    };
    const bool forward = lower != turned;
    for (index column = 0; column < columns; ++column)
      for (index step = 0; step < n; ++step) {
        const index r = forward ? step : n - 1 - step;
        std::complex<double>& y = out.at(element_of(batch, r, column)).real;
        for (index k = forward ? 0 : r + 1; k < (forward ? r : n); ++k)
          y -= a(r, k) * out.at(element_of(batch, k, column)).real;
        if (!unit) y /= a(r, r);
      }
  });
  for (number& each : out.elements) each = as_element(each, out.form());
  return {out};
}

}  // namespace hlo_text::contractions
