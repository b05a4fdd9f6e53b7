// SPDX-License-Identifier: BSL-1.0
#include <shardwise/paper.hpp>

#include <tuple>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using Q = sharded_tensor<float, extents<64, 64>, layout<pod, P<"data", none>>>;
using R = sharded_tensor<float, extents<64>, layout<pod, P<none>>>;

constexpr auto recorded = [](auto f) { return trace_program<12>(f, abstract<Q>(), abstract<Q>()); };
constexpr auto normal = [](auto f) { return normal_form(recorded(f)); };
/// The name of an instruction.
constexpr auto is = [](const auto& p, value_id i, text_view name) {
  return p.view().what(i).name == name;
};

// Instructions that no kept value needs are dropped; unused inputs are not.
constexpr auto alone = [](const auto& a, const auto&) { return relu(a); };
constexpr auto with_more = [](const auto& a, const auto& b) {
  [[maybe_unused]] auto unread = reshard<P<none, none>>(exp(b) + a);
  return relu(a);
};
static_assert(recorded(with_more).count > recorded(alone).count);
static_assert(normal(with_more) == normal(alone) && normal(alone).count == 2);
static_assert(normal_form(normal(alone)) == normal(alone));

// Inputs come in the order of their first use; those that are kept and not read are last.
constexpr auto in_order = normal([](const auto& a, const auto& b) { return b - a; });
static_assert(in_order == normal([](const auto& a, const auto& b) { return a - b; }));
static_assert(in_order.code[2].operands == value_ids{0, 1});
constexpr auto first_kept = normal([](const auto& a, const auto& b) { return std::tuple(a, -b); });
static_assert(first_kept.count == 3 && first_kept.code[1].kept && !first_kept.code[0].kept);
static_assert(first_kept.code[2].operands == value_ids{0});
static_assert(normal([](const auto& a, const auto&) { return a; }).count == 1);

// A reduction, then the pass that reads it; before each the other members of its pass, with their
// numbers, as they are read from left to right.
constexpr auto passes = normal([](const auto& a, const auto& b) {
  auto columns = reshard<P<none>>(sum<0>(b * 2.0F));
  return exp(a - 1.0F) + columns;
});
static_assert(passes.count == 10 && is(passes, 0, "input") && is(passes, 1, "input"));
static_assert(is(passes, 2, "constant") && is(passes, 3, "*") && is(passes, 4, "reduce"));
static_assert(is(passes, 5, "collective") && is(passes, 6, "constant") && is(passes, 7, "-"));
static_assert(is(passes, 8, "exp") && is(passes, 9, "+") && passes.code[9].kept);
static_assert(passes.code[5].named && passes.code[9].operands == value_ids{8, 5});

// Steps keep their order: where it differs, programs do.
constexpr auto one_first = [](const auto& a, const auto& b) {
  auto x = exp(a);
  auto y = relu(b);
  return x * y;
};
constexpr auto other_first = [](const auto& a, const auto& b) {
  auto y = relu(b);
  auto x = exp(a);
  return x * y;
};
static_assert(!(normal(one_first) == normal(other_first)));

// Programs that are built, not recorded.
constexpr tensor_desc one_tile{element::f32, {64, 64}, layout<pod, P<"data", none>>::value};
constexpr auto built = [](auto write) {
  traced_program<12> out;
  program_builder code(out);
  code.place(pod::value);
  write(code, code.append(operation_of<input_operation>, {}, {}, one_tile));
  return out;
};
template <class F>
constexpr auto apply = [](program_builder& code, auto... operands) {
  return code.emit(operation_of<pointwise<F>>, {}, {operands...});
};
namespace fn = functions;

// The members of a pass in any order.
constexpr auto left_first = built([](program_builder& code, value_id x) {
  const value_id left = apply<fn::exp>(code, x);
  const value_id right = apply<fn::multiply>(code, x, code.constant(2.0F, element::f32));
  code.keep(apply<fn::add>(code, left, right));
});
constexpr auto right_first = built([](program_builder& code, value_id x) {
  const value_id two = code.constant(2.0F, element::f32);
  const value_id right = apply<fn::multiply>(code, x, two);
  const value_id left = apply<fn::exp>(code, x);
  code.keep(apply<fn::add>(code, left, right));
});
static_assert(!(left_first == right_first) && normal_form(left_first) == left_first);
static_assert(normal_form(right_first) == left_first);
static_assert(hash_of(left_first.view()) != hash_of(right_first.view()));
static_assert(hash_of(left_first.view()) == hash_of(normal_form(right_first).view()));
static_assert(ledger_of(right_first) == ledger_of(left_first));

// An unused reader does not affect passes.
constexpr auto joined = [](bool is_read_twice) {
  return built([=](program_builder& code, value_id x) {
    const value_id inner = apply<fn::exp>(code, x);
    code.keep(apply<fn::relu>(code, x));
    if (is_read_twice) apply<fn::relu>(code, inner);
    code.keep(apply<fn::negate>(code, inner));
  });
};
static_assert(!(joined(true) == joined(false)));
static_assert(normal_form(joined(true)) == normal_form(joined(false)));
static_assert(normal_form(joined(true)).code[3].operands == value_ids{2});

// A number that two passes read comes before the first; one that is kept stays.
constexpr auto shared = normal_form(built([](program_builder& code, value_id x) {
  const value_id two = code.constant(2.0F, element::f32);
  const value_id one = code.constant(1.0F, element::f32);
  code.keep(two);
  code.keep(apply<fn::relu>(code, x));
  code.keep(apply<fn::add>(code, x, one));
  code.keep(apply<fn::multiply>(code, x, one));
}));
static_assert(shared.count == 6 && is(shared, 1, "constant") && is(shared, 2, "relu"));
static_assert(is(shared, 3, "constant") && is(shared, 4, "+") && is(shared, 5, "*"));
static_assert(shared.code[5].operands == value_ids{0, 3});

// Every mark stays.
constexpr auto marked = built([](program_builder& code, value_id x) {
  code.mark(x, {.donated = true});
  const value_id inner = apply<fn::exp>(code, x);
  code.name(inner);
  code.keep(apply<fn::relu>(code, inner));
});
static_assert(normal_form(marked) == marked && normal_form(marked).code[0].donated);
static_assert(marked.code[1].named && marked.code[2].kept && marked.code[2].named);

// Equal programs have equal hashes, however they are stored; the numbers are those of any compiler.
static_assert(hash_of(trace_program<8>(alone, abstract<Q>(), abstract<Q>()).view()) ==
              hash_of(trace_program<16>(alone, abstract<Q>(), abstract<Q>()).view()));
static_assert(hash_of(traced_program<1>{}.view()) == 0xd44f354183b6d328U);
static_assert(hash_of(left_first.view()) == 0x6172b4e7dc3e3abaU);

// Everything that is compared is hashed.
constexpr auto hash = [](const mesh_desc& mesh, const tensor_desc& of, const attributes& how,
                         const instruction& marks, const operation& what) {
  traced_program<2> out;
  program_builder code(out);
  code.place(mesh);
  const value_id x = code.append(operation_of<input_operation>, {}, {}, of);
  const value_id made = code.append(what, how, {x}, of);
  code.mark(made, marks);
  if (marks.kept) code.keep(made);
  return hash_of(out.view());
};
constexpr index_t usual[] = {0, 1, 2, 3, 4, 5, 6, 7};
constexpr index_t turned[] = {1, 0, 2, 3, 4, 5, 6, 7};
constexpr auto hashes = [] {
  const attributes none_given;
  const operation& relu_of = operation_of<pointwise<fn::relu>>;
  inplace_vector<std::uint64_t, 32> all;
  const auto of_mesh = [&](const mesh_desc& mesh) {
    all.push_back(hash(mesh, one_tile, none_given, {}, relu_of));
  };
  of_mesh(pod::value);
  of_mesh({{axis_desc{"data", 2}, axis_desc{"models", 4}}});
  of_mesh({{axis_desc{"data", 4}, axis_desc{"model", 2}}});
  of_mesh({{axis_desc{"data", 8}}});
  of_mesh({pod::value.axes, device_order(turned, turned)});
  const auto of_tensor = [&](auto change) {
    tensor_desc other = one_tile;
    change(other, other.layout);
    all.push_back(hash(pod::value, other, none_given, {}, relu_of));
  };
  of_tensor([](auto& t, auto&) { t.type = element::f64; });
  of_tensor([](auto& t, auto&) { t.extents[1] = 65; });
  of_tensor([](auto& t, auto&) { t.extents.pop_back(); });
  of_tensor([](auto&, auto& l) { l.dims[0].push_back(1); });
  of_tensor([](auto&, auto& l) { l.dims[1].push_back(1); });
  of_tensor([](auto&, auto& l) { l.pending = 2; });
  of_tensor([](auto&, auto& l) { l.kind = reduction::max; });
  of_tensor([](auto&, auto& l) { l.uneven = true; });
  of_tensor([](auto&, auto& l) { l.manual = 2; });
  of_tensor([](auto&, auto& l) { l.grains[0] = grain::cyclic(2); });
  of_tensor([](auto&, auto& l) { l.grains[0] = grain::strided(2); });
  const auto of_attributes = [&](auto change) {
    attributes other;
    change(other);
    all.push_back(hash(pod::value, one_tile, other, {}, relu_of));
  };
  of_attributes([](auto& how) { how.integers = {0}; });
  of_attributes([](auto& how) { how.integers = {-1}; });
  of_attributes([](auto& how) { how.number = -0.0; });
  of_attributes([](auto& how) { how.number = 1; });
  of_attributes([](auto& how) { how.kind = reduction::product; });
  of_attributes([](auto& how) { how.words << "ij->i"; });
  all.push_back(hash(pod::value, one_tile, none_given, {.named = true}, relu_of));
  all.push_back(hash(pod::value, one_tile, none_given, {.kept = true}, relu_of));
  all.push_back(hash(pod::value, one_tile, none_given, {.donated = true}, relu_of));
  all.push_back(hash(pod::value, one_tile, none_given, {}, operation_of<pointwise<fn::exp>>));
  return all;
}();
constexpr bool all_differ = [] {
  for (int i = 0; i < hashes.ssize(); ++i)
    for (int k = 0; k < i; ++k)
      if (hashes[i] == hashes[k]) return false;
  return true;
}();
static_assert(hashes.size() == 26 && all_differ);
static_assert(hash_of(in_order.view()) != hash_of(first_kept.view()));

// An explicit device order that equals the natural one has the same hash.
static_assert(hash({pod::value.axes, device_order(usual, usual)}, one_tile, {}, {},
                   operation_of<pointwise<fn::relu>>) == hashes[0]);
