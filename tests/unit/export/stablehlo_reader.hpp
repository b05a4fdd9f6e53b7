// SPDX-License-Identifier: BSL-1.0
// Runs the text of a module of StableHLO on one device, by plain loops. Shardings are not read, and
// an operation that is not in its tables is an error, as an attribute is that nothing reads.
#pragma once

#include "unit/export/hlo_contractions.hpp"
#include "unit/export/hlo_regions.hpp"

namespace hlo_text {

/// Runs functions of a module.
class stablehlo_reader {
 public:
  explicit stablehlo_reader(const std::string& text) : module_(mlir_reader(text).read_all()) {
    demand(module_.name == "builtin.module" && module_.regions.size() == 1, "this is no module");
    for (const operation_text& one : module_.regions[0].operations) {
      if (one.name == "sdy.mesh") continue;
      demand(one.name == "func.func" && one.regions.size() == 1, "a module has functions");
      std::string name = one.attributes.at("sym_name");
      functions_[name.substr(1, name.size() - 2)] = &one;
    }
  }
  stablehlo_reader(const stablehlo_reader&) = delete;
  stablehlo_reader& operator=(const stablehlo_reader&) = delete;

  [[nodiscard]] std::vector<tensor_type> argument_types() const {
    std::vector<tensor_type> out;
    for (const auto& [name, type] : function("main").regions[0].arguments) out.push_back(type);
    return out;
  }
  [[nodiscard]] tensors run(const tensors& arguments) { return call("main", arguments); }

 private:
  using values = std::map<std::string, tensor>;
  using method = tensors (stablehlo_reader::*)(const operation_text&, const tensors&,
                                               attribute_reader&);
  using function_of_tensors = tensors (*)(const tensors&, attribute_reader&, const tensor_type&);

  [[nodiscard]] const operation_text& function(const std::string& name) const {
    const auto found = functions_.find(name);
    demand(found != functions_.end(), "there is no function @" + name);
    return *found->second;
  }
  tensors call(const std::string& name, const tensors& arguments) {
    return run_block(function(name).regions[0], arguments, "func.return");
  }
  /// Runs a block, which sees its arguments and no other values from outside.
  tensors run_block(const block& of, const tensors& arguments, const std::string& end) {
    values known;
    demand(arguments.size() == of.arguments.size(), "a block has other arguments");
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      demand(of.arguments[i].second == arguments[i].type, "an argument has another type");
      known.emplace(of.arguments[i].first, arguments[i]);
    }
    for (const operation_text& one : of.operations) {
      tensors read;
      for (std::size_t o = 0; o < one.operands.size(); ++o) {
        const auto found = known.find(one.operands[o]);
        demand(found != known.end(),
               one.name + " reads " + one.operands[o] + ", which is no value");
        demand(found->second.type == one.operand_types[o],
               one.name + " reads " + one.operands[o] + " as another type");
        read.push_back(found->second);
      }
      if (one.name == end) return read;
      tensors made = run_operation(one, read);
      demand(made.size() == one.results.size(), one.name + " has another number of results");
      for (std::size_t r = 0; r < made.size(); ++r) {
        demand(made[r].type == one.result_types[r], one.name + " makes another type than it says");
        known.emplace(one.results[r], std::move(made[r]));
      }
    }
    throw malformed("a block has no end");
  }

  tensors run_operation(const operation_text& one, const tensors& x) {
    attribute_reader in(one);
    tensors made = compute(one, x, in);
    in.finish();
    return made;
  }
  tensors compute(const operation_text& one, const tensors& x, attribute_reader& in) {
    static const std::map<std::string, std::pair<std::size_t, function_of_tensors>> moving = {
        {"transpose", {1, shapes::transpose}},
        {"reshape", {1, shapes::reshape}},
        {"broadcast_in_dim", {1, shapes::broadcast_in_dim}},
        {"slice", {1, shapes::slice}},
        {"pad", {2, shapes::pad}},
        {"concatenate", {0, shapes::concatenate}},
        {"reverse", {1, shapes::reverse}},
        {"iota", {0, shapes::iota}},
        {"dynamic_slice", {0, shapes::dynamic_slice}},
        {"dynamic_update_slice", {0, shapes::dynamic_update_slice}},
        {"dot_general", {2, contractions::dot_general}},
        {"convolution", {2, contractions::convolution}},
        {"fft", {1, contractions::fft}},
        {"cholesky", {1, contractions::cholesky}},
        {"triangular_solve", {2, contractions::triangular_solve}},
        {"gather", {2, regions::gather}},
    };
    using function_of_region =
        tensors (*)(const tensors&, attribute_reader&, const regions::block_runner&);
    static const std::map<std::string, function_of_region> with_regions = {
        {"reduce", regions::reduce},
        {"reduce_window", regions::reduce_window},
        {"sort", regions::sort},
        {"scatter", regions::scatter},
    };
    static const std::map<std::string, method> others = {
        {"constant", &stablehlo_reader::constant},
        {"compare", &stablehlo_reader::compare},
        {"select", &stablehlo_reader::select},
        {"clamp", &stablehlo_reader::clamp},
        {"is_finite", &stablehlo_reader::is_finite},
        {"convert", &stablehlo_reader::convert},
        {"bitcast_convert", &stablehlo_reader::bitcast_convert},
        {"complex", &stablehlo_reader::complex},
        {"real", &stablehlo_reader::part<false>},
        {"imag", &stablehlo_reader::part<true>},
        {"custom_call", &stablehlo_reader::custom_call},
    };
    if (one.name == "func.call") {
      const std::string& callee = in.text("callee");
      demand(callee.starts_with('@'), "a callee is a symbol");
      return call(callee.substr(1), x);
    }
    if (one.name == "sdy.reshard" || one.name == "sdy.sharding_constraint") {
      (void)in.text("sharding");
      return x;
    }
    if (one.name == "sdy.propagation_barrier") {
      (void)in.text("allowed_direction");
      return x;
    }
    demand(one.name.starts_with("stablehlo."), "no operation is " + one.name);
    const std::string name = one.name.substr(10);
    if (const auto row = elementwise_rows().find(name); row != elementwise_rows().end())
      return on_elements(one, x, row->second);
    if (const auto row = moving.find(name); row != moving.end()) {
      demand(row->second.first == 0 || row->second.first == x.size(),
             one.name + " of other operands");
      return row->second.second(x, in, one.result_types.at(0));
    }
    if (const auto row = with_regions.find(name); row != with_regions.end()) {
      demand(one.regions.size() == 1, one.name + " has one region");
      return row->second(x, in, [&](const tensors& arguments) {
        return run_block(one.regions[0], arguments, "stablehlo.return");
      });
    }
    const auto row = others.find(name);
    demand(row != others.end(), "no operation is " + one.name);
    return (this->*row->second)(one, x, in);
  }

  static tensors on_elements(const operation_text& one, const tensors& x,
                             const elementwise_row& row) {
    demand(x.size() == row.operands, one.name + " has another number of operands");
    for (const tensor& each : x) demand(each.type == x[0].type, one.name + " of different types");
    tensor out(x[0].type);
    const element_form form = out.form();
    std::vector<number> read(x.size());
    for (std::size_t i = 0; i < out.elements.size(); ++i) {
      for (std::size_t o = 0; o < x.size(); ++o) read[o] = x[o].elements[i];
      out.elements[i] = as_element(row.compute(read, form), form);
    }
    return {out};
  }
  tensors constant(const operation_text& one, const tensors&, attribute_reader& in) {
    tensor out(one.result_types.at(0));
    const std::string& words = in.text("value");
    const std::size_t end = words.find("> : ");
    demand(words.starts_with("dense<") && end != words.npos, "a constant is dense: " + words);
    std::vector<std::string> all(1);
    for (const char c : words.substr(6, end - 6)) {
      if (c == ',')
        all.emplace_back();
      else if (c != ' ' && c != '[' && c != ']')
        all.back() += c;
    }
    if (all.size() == 1 && all[0].empty()) all.clear();
    demand(all.size() == 1 || all.size() == out.elements.size(), "a constant has other elements");
    for (std::size_t i = 0; i < out.elements.size(); ++i)
      out.elements[i] =
          as_element(parse_number(all.size() == 1 ? all[0] : all[i], out.form()), out.form());
    return {out};
  }
  tensors compare(const operation_text& one, const tensors& x, attribute_reader& in) {
    const std::string how = in.word("comparison_direction", "comparison_direction");
    const element_form form = x[0].form();
    const std::string as = in.has("compare_type") ? in.word("compare_type", "comparison_type")
                           : form.is_float        ? "FLOAT"
                           : form.is_unsigned     ? "UNSIGNED"
                                                  : "SIGNED";
    demand(as == (form.is_float      ? "FLOAT"
                  : form.is_unsigned ? "UNSIGNED"
                                     : "SIGNED"),
           "elements are compared as " + as);
    demand(x.size() == 2 && x[0].type == x[1].type, one.name + " of different types");
    static const std::map<std::string, bool (*)(int)> directions = {
        {"EQ", [](int o) { return o == 0; }},  {"NE", [](int o) { return o != 0; }},
        {"LT", [](int o) { return o == -1; }}, {"LE", [](int o) { return o == -1 || o == 0; }},
        {"GT", [](int o) { return o == 1; }},  {"GE", [](int o) { return o == 1 || o == 0; }}};
    demand(directions.contains(how), "no direction is " + how);
    tensor out({"i1", x[0].type.extents});
    for (std::size_t i = 0; i < out.elements.size(); ++i)
      out.elements[i] =
          whole_number(directions.at(how)(order_of(x[0].elements[i], x[1].elements[i], form)));
    return {out};
  }
  tensors select(const operation_text& one, const tensors& x, attribute_reader&) {
    demand(x.size() == 3 && x[0].type.element == "i1" && x[1].type == x[2].type &&
               (x[0].rank() == 0 || x[0].type.extents == x[1].type.extents),
           one.name + " of other types");
    tensor out(x[1].type);
    for (std::size_t i = 0; i < out.elements.size(); ++i)
      out.elements[i] = x[x[0].whole(x[0].rank() == 0 ? 0 : i) != 0 ? 1 : 2].elements[i];
    return {out};
  }
  tensors clamp(const operation_text& one, const tensors& x, attribute_reader&) {
    demand(x.size() == 3 && x[1].type.element == x[0].type.element, one.name + " of other types");
    tensor out(x[1].type);
    const element_form form = out.form();
    for (std::size_t i = 0; i < out.elements.size(); ++i) {
      const number& low = x[0].elements[x[0].rank() == 0 ? 0 : i];
      const number& high = x[2].elements[x[2].rank() == 0 ? 0 : i];
      out.elements[i] = elements::extreme<false>(
          {elements::extreme<true>({low, x[1].elements[i]}, form), high}, form);
    }
    return {out};
  }
  tensors is_finite(const operation_text&, const tensors& x, attribute_reader&) {
    tensor out({"i1", x.at(0).type.extents});
    for (std::size_t i = 0; i < out.elements.size(); ++i)
      out.elements[i] = whole_number(std::isfinite(x[0].elements[i].real.real()));
    return {out};
  }
  tensors convert(const operation_text& one, const tensors& x, attribute_reader&) {
    tensor out({one.result_types.at(0).element, x.at(0).type.extents});
    for (std::size_t i = 0; i < out.elements.size(); ++i)
      out.elements[i] = converted(x[0].elements[i], x[0].form(), out.form());
    return {out};
  }
  /// Narrower elements are those of a further, last dimension, the low bits first.
  tensors bitcast_convert(const operation_text& one, const tensors& x, attribute_reader&) {
    const auto width = [](const element_form& form) { return form.bits == 15 ? 16 : form.bits; };
    tensor out(one.result_types.at(0));
    const element_form from = x.at(0).form(), to = out.form();
    const int have = width(from), want = width(to);
    const auto parts = static_cast<std::size_t>(std::max(have, want) / std::min(have, want));
    indices extents = x[0].type.extents;
    if (have > want) extents.push_back(static_cast<index>(parts));
    if (have < want) {
      demand(!extents.empty() && extents.back() == static_cast<index>(parts), "bits do not fit");
      extents.pop_back();
    }
    out = tensor({out.type.element, extents});
    for (std::size_t i = 0; i < out.elements.size(); ++i) {
      std::uint64_t bits = 0;
      if (have >= want)
        bits = stored_bits(x[0].elements[i / parts], from) >>
               (static_cast<std::size_t>(want) * (i % parts) * (have > want ? 1U : 0U));
      else
        for (std::size_t k = 0; k < parts; ++k)
          bits |= stored_bits(x[0].elements[i * parts + k], from)
                  << (static_cast<std::size_t>(have) * k);
      out.elements[i] = from_bits(want < 64 ? bits & ((std::uint64_t{1} << want) - 1) : bits, to);
    }
    return {out};
  }
  tensors complex(const operation_text& one, const tensors& x, attribute_reader&) {
    demand(x.size() == 2 && x[0].type == x[1].type, one.name + " of different types");
    tensor out({"complex<" + x[0].type.element + '>', x[0].type.extents});
    for (std::size_t i = 0; i < out.elements.size(); ++i)
      out.elements[i].real = {x[0].elements[i].real.real(), x[1].elements[i].real.real()};
    return {out};
  }
  template <bool Imaginary>
  tensors part(const operation_text&, const tensors& x, attribute_reader&) {
    const std::string& of = x.at(0).type.element;
    demand(of.starts_with("complex<"), "only complex numbers have parts");
    tensor out({of.substr(8, of.size() - 9), x[0].type.extents});
    for (std::size_t i = 0; i < out.elements.size(); ++i)
      out.elements[i] =
          real_number(Imaginary ? x[0].elements[i].real.imag() : x[0].elements[i].real.real());
    return {out};
  }
  /// Of a call, only requests of shardings and the error function have a meaning here.
  tensors custom_call(const operation_text& one, const tensors& x, attribute_reader& in) {
    const std::string& target = in.text("call_target_name");
    for (const char* const name : {"api_version", "backend_config", "has_side_effect"})
      if (in.has(name)) (void)in.text(name);
    if (target == "\"Sharding\"") return x;
    demand(target == "\"mhlo.erf\"", "nothing is known of a call of " + target);
    demand(x.size() == 1 && x[0].form().is_float, one.name + " of other operands");
    tensor out(x[0].type);
    for (std::size_t i = 0; i < out.elements.size(); ++i)
      out.elements[i] = as_element(real_number(std::erf(x[0].elements[i].real.real())), out.form());
    return {out};
  }

  operation_text module_;
  std::map<std::string, const operation_text*> functions_{};
};

}  // namespace hlo_text
