// SPDX-License-Identifier: BSL-1.0
// An operation as a row of a table, over which generated tests iterate.
#pragma once

#include "property/every_owner.hpp"
#include "support/with_element.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace generated {

/// Elements on the host in row-major order, as `double`, which represents the tested values of all
/// types.
struct host_array {
  extents_desc extents;
  std::vector<double> values;
  element type = element::f64;

  host_array(const extents_desc& shape, element elements, std::vector<double> all = {})
      : extents(shape), values(std::move(all)), type(elements) {
    values.resize(static_cast<std::size_t>(element_count(extents)));
  }
  [[nodiscard]] int rank() const { return extents.ssize(); }
  [[nodiscard]] index_t size() const { return element_count(extents); }
  [[nodiscard]] double& operator[](index_t i) { return values[static_cast<std::size_t>(i)]; }
  [[nodiscard]] double operator[](index_t i) const { return values[static_cast<std::size_t>(i)]; }
  /// Converts the row-major position of an element to its index, and back.
  [[nodiscard]] std::vector<index_t> index_of(index_t place) const {
    std::vector<index_t> at(extents.size());
    for (int d = rank() - 1; d >= 0; --d) {
      at[static_cast<std::size_t>(d)] = place % extents[d];
      place /= extents[d];
    }
    return at;
  }
  [[nodiscard]] index_t place_of(const std::vector<index_t>& at) const {
    index_t place = 0;
    for (int d = 0; d < rank(); ++d) place = place * extents[d] + at[static_cast<std::size_t>(d)];
    return place;
  }
  [[nodiscard]] double& at(const std::vector<index_t>& index) { return (*this)[place_of(index)]; }
  [[nodiscard]] double at(const std::vector<index_t>& index) const {
    return (*this)[place_of(index)];
  }
};

/// A tensor of any element type, which the row knows.
class row_tensor {
 public:
  template <Element T>
  row_tensor(const any_tensor<T>& typed) : state_(typed.share()) {}

  [[nodiscard]] element type() const { return state_->tensor().type; }
  [[nodiscard]] const tensor_desc& tensor() const { return state_->tensor(); }
  [[nodiscard]] const node_ptr& share() const { return state_; }
  template <Element T = double>
  [[nodiscard]] any_tensor<T> as() const {
    require(type() == element_of<T>);
    return internal::handle_of<any_tensor<T>>(state_);
  }

 private:
  node_ptr state_;
};

/// Calls `f` with the type of these elements, as a `std::type_identity`.
template <class F>
auto with_element(element type, const F& f) {
  return with_one_of<float, double, std::int32_t, std::int64_t, bool>(type, f);
}

/// The set from which the elements of an operand are drawn.
using draw = std::function<double(numbers&)>;

/// Integers from `low` to `high`, inclusive: sums and products of a few are exact.
inline draw whole(index_t low = -3, index_t high = 3) {
  return [=](numbers& random) { return static_cast<double>(low + random.below(high - low + 1)); };
}
/// Numbers between `low` and `high` whose sums and products are rounded.
inline draw between(double low, double high) {
  return [=](numbers& random) {
    return low + (high - low) * (static_cast<double>(random.below(1 << 30)) + 0.5) / (1 << 30);
  };
}
/// One of a few numbers.
inline draw one_of(std::vector<double> all) {
  return [all](numbers& random) {
    return all[static_cast<std::size_t>(random.below(static_cast<index_t>(all.size())))];
  };
}
/// The values of `bool`.
inline draw truth() { return whole(0, 1); }

struct row_operand {
  extents_desc extents;
  draw numbers_of = whole();
  element type = element::f64;
};

/// A call of an operation: its operands, the call, and the same as a plain loop.
///
///     {"square", {{{5, 3}}}, [](const tensors& x) { return results(square(x[0].as<>())); },
///      elementwise_loop([](double a) { return a * a; })}
struct operation_row {
  using tensors = std::vector<row_tensor>;
  using arrays = std::vector<host_array>;

  std::string name;
  std::vector<row_operand> operands;
  /// The call on tensors with run-time layouts.
  std::function<tensors(const tensors&)> apply;
  /// The same on host arrays, element by element, independent of the library.
  std::function<arrays(const arrays&)> loop;
  /// The tolerance of results, relative for numbers above 1, compared with the loop and between
  /// meshes; 0 means equal bits.
  double error = 0;
  double rounding = 0;
  /// The reductions with which operands may be pending.
  reduction pending = reduction::sum;
  /// False for operations on integers and `bool`, and for step functions.
  bool is_differentiable = false;
};

using row_tensors = operation_row::tensors;
using row_arrays = operation_row::arrays;

/// The rank of the broadcast result, and the element of each operand for an index of it.
inline extents_desc met_extents(const row_arrays& operands) {
  extents_desc met;
  for (const host_array& x : operands)
    while (met.ssize() < x.rank()) met.push_back(1);
  for (const host_array& x : operands)
    for (int d = 0; d < x.rank(); ++d)
      if (x.extents[d] != 1) met[met.ssize() - x.rank() + d] = x.extents[d];
  return met;
}
inline double met_element(const host_array& x, const std::vector<index_t>& at) {
  std::vector<index_t> own(x.extents.size());
  for (std::size_t d = 0; d < own.size(); ++d)
    own[d] = x.extents[static_cast<int>(d)] == 1 ? 0 : at[at.size() - own.size() + d];
  return x.at(own);
}

/// The loop of a function of one to three elements; dimensions are aligned from the last one.
template <class F>
auto elementwise_loop(F f, element made = element::f64) {
  return [f, made](const row_arrays& x) {
    host_array out(met_extents(x), made);
    for (index_t i = 0; i < out.size(); ++i) {
      const std::vector<index_t> at = out.index_of(i);
      if constexpr (std::is_invocable_v<F, double>)
        out[i] = static_cast<double>(f(met_element(x[0], at)));
      else if constexpr (std::is_invocable_v<F, double, double>)
        out[i] = static_cast<double>(f(met_element(x[0], at), met_element(x[1], at)));
      else
        out[i] = static_cast<double>(
            f(met_element(x[0], at), met_element(x[1], at), met_element(x[2], at)));
    }
    return row_arrays{out};
  };
}

/// The loop of a function of all elements along the dimensions whose bits are set, in row-major
/// order; `f(elements)` returns one number.
template <class F>
auto reduce_loop(unsigned dims, bool keep, F f, element made = element::f64) {
  return [=](const row_arrays& x) {
    const host_array& from = x[0];
    extents_desc left;
    for (int d = 0; d < from.rank(); ++d)
      if ((dims >> d & 1U) == 0)
        left.push_back(from.extents[d]);
      else if (keep)
        left.push_back(1);
    host_array out(left, made);
    std::vector<std::vector<double>> groups(static_cast<std::size_t>(out.size()));
    for (index_t i = 0; i < from.size(); ++i) {
      std::vector<index_t> to;
      const std::vector<index_t> at = from.index_of(i);
      for (int d = 0; d < from.rank(); ++d)
        if ((dims >> d & 1U) == 0)
          to.push_back(at[static_cast<std::size_t>(d)]);
        else if (keep)
          to.push_back(0);
      groups[static_cast<std::size_t>(out.place_of(to))].push_back(from[i]);
    }
    for (index_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<double>(f(groups[static_cast<std::size_t>(i)]));
    return row_arrays{out};
  };
}

/// The loop of a function of each line along a dimension; `f(line)` returns a list of numbers for
/// each result.
template <class F>
auto line_loop(int dim, F f, std::vector<element> made = {element::f64}) {
  return [=](const row_arrays& x) {
    const host_array& from = x[0];
    row_arrays out;
    const index_t length = from.extents[dim];
    for (index_t i = 0; i < from.size(); ++i) {
      std::vector<index_t> at = from.index_of(i);
      if (at[static_cast<std::size_t>(dim)] != 0) continue;
      std::vector<double> line;
      for (index_t k = 0; k < length; ++k) {
        at[static_cast<std::size_t>(dim)] = k;
        line.push_back(from.at(at));
      }
      const std::vector<std::vector<double>> lines = f(line);
      for (std::size_t r = 0; r < lines.size(); ++r) {
        if (out.size() == r) {
          extents_desc extents = from.extents;
          extents[dim] = static_cast<index_t>(lines[r].size());
          out.emplace_back(extents, made[r]);
        }
        for (std::size_t k = 0; k < lines[r].size(); ++k) {
          at[static_cast<std::size_t>(dim)] = static_cast<index_t>(k);
          out[r].at(at) = lines[r][k];
        }
      }
    }
    return out;
  };
}

/// The loop of an operation that rearranges elements: element `at` of the result is element
/// `from(at)` of the operand.
template <class F>
auto moved_loop(const extents_desc& extents, F from) {
  return [=](const row_arrays& x) {
    host_array out(extents, x[0].type);
    for (index_t i = 0; i < out.size(); ++i) out[i] = x[0].at(from(out.index_of(i)));
    return row_arrays{out};
  };
}

/// A differentiable row of `f`, which gets all operands; `error` is what its numbers and those of
/// its gradient may differ by.
template <class F, class Loop>
operation_row differentiable_row(std::string name, std::vector<row_operand> operands, F f,
                                 Loop loop, double error = 0) {
  return {.name = std::move(name),
          .operands = std::move(operands),
          .apply = [f](const row_tensors& x) -> row_tensors { return {f(x)}; },
          .loop = std::move(loop),
          .error = error,
          .rounding = error,
          .is_differentiable = true};
}
/// The same for a function of one tensor of `double`.
template <class F, class Loop>
operation_row differentiable_row_of_one(std::string name, const extents_desc& extents, F f,
                                        Loop loop) {
  return differentiable_row(
      std::move(name), {{extents}}, [f](const row_tensors& x) { return f(x[0].as<>()); },
      std::move(loop));
}

}  // namespace generated
