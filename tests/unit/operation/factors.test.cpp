// SPDX-License-Identifier: BSL-1.0
// The factors of each operation: which dimensions share an index, and what a split of it means. The
// facts are those of Shardy for the same operations, up to the names of the factors, in the terms
// of this library: Shardy permutes what is concatenated or sliced, gathers windows of weights by a
// reduction, and has no windows.
#include "unit/operation/factor_text.hpp"
#include "unit/operation/inference_facts.hpp"
#include <shardwise/operation/catalogue_example.hpp>

namespace {

using namespace inference;

struct rule_fact {
  const char* operation;
  const char* operands;
  text_view rule;
};

factor_rule rule_of(const request& asked) {
  const operation_arguments given =
      detail::arguments_from_front(*asked.entry, asked.given, asked.operands[0].rank());
  return asked.entry->rule(attributes_of(*asked.entry, given, asked.operands), asked.operands);
}

template <std::size_t N>
void check_rules(const rule_fact (&facts)[N]) {
  for (const rule_fact& one : facts) {
    CAPTURE(one.operation, one.operands);
    const factors::rule_text written =
        factors::write_rule(rule_of(read_request({}, one.operation, one.operands)));
    CAPTURE(written.data());
    CHECK(written == one.rule);
  }
}

TEST_CASE("Functions of elements share all indices, except those of dimensions that are repeated") {
  constexpr rule_fact facts[] = {
      {"add", "f32[2, 0, 4]; f32[2, 0, 4]", "([i, j, k], [i, j, k])->([i, j, k])"},
      {"add", "f32[8, 1]; f32[4]", "([i, .], [j])->([i, j])"},
      {"less", "f32[8, 2]; f32[8, 2]", "([i, j], [i, j])->([i, j])"},
      {"fold_in", "i64[8, 2]; i64[8, 2]", "([i, j], [i, j])->([i, j])"},
      {"cast type=bf16", "f32[8, 2]", "([i, j])->([i, j])"},
      {"stop_gradient", "bf16[8, 2]", "([i, j])->([i, j])"},
      {"reshard", "f32[8, 4]", "([i, j])->([i, j])"},
      {"erf", "f32[8, 4]", "([i, j])->([i, j])"},
      {"erfinv", "f32[8, 4]", "([i, j])->([i, j])"},
      {"lgamma", "bf16[8, 4]", "([i, j])->([i, j])"},
      {"digamma", "f32[8]", "([i])->([i])"},
      {"where", "bool[]; f32[4, 8]; f32[4, 8]", "([], [i, j], [i, j])->([i, j])"},
      {"dropout", "f32[8, 5]; i64[]; f32[]", "([i, j], [], [])->([i, j])"},
      {"uniform_like", "f32[8, 5]; i64[]", "([i, j], [])->([i, j])"},
      {"normal_like", "bf16[8, 5]; i32[]", "([i, j], [])->([i, j])"},
  };
  check_rules(facts);
}

TEST_CASE("Contractions and reductions sum over the indices that the result does not have") {
  constexpr rule_fact facts[] = {
      {"dot", "f32[32]; f32[32]", "([i], [i])->([]) reduction={i}"},
      {"matmul", "f32[2, 8, 16]; f32[2, 16, 4]",
       "([i, j, k], [i, k, l])->([i, j, l]) reduction={k}"},
      {"outer", "f32[8]; f32[4]", "([i], [j])->([i, j])"},
      {"diagonal", "f32[2, 8, 8]", "([i, j, j])->([i, j])"},
      {"einsum equation=ijklon,mnoji->ijklm", "f32[2, 4, 8, 4, 64, 32]; f32[16, 32, 64, 4, 2]",
       "([i, j, k, l, m, n], [o, n, m, j, i])->([i, j, k, l, o]) reduction={m, n}"},
      {"sum dims=1", "f32[2, 64, 13]", "([i, j, k])->([i, k]) reduction={j}"},
      {"sum dims=0,2", "i32[2, 64, 13]", "([i, j, k])->([j]) reduction={i, k}"},
      {"max dims=0,2 keep_dims=", "i32[2, 64, 13]", "([i, j, k])->([., j, .]) reduction={i, k}"},
      {"l1_norm", "f32[8, 4]", "([i, j])->([]) reduction={i, j}"},
      {"l2_norm dims=1", "f32[8, 4]", "([i, j])->([i]) need_replication={j}"},
      {"variance dims=0", "f32[8, 4]", "([i, j])->([j]) need_replication={i}"},
  };
  check_rules(facts);
}

TEST_CASE("Windows share batches and features, and read the other dimensions") {
  constexpr rule_fact facts[] = {
      {"convolution stride=2,2 padding=0,1,0,1", "f32[2, 192, 224, 224]; f32[64, 192, 3, 3]",
       "([i, j, k, l], [m, j, n, o])->([i, m, p, q]) reduction={j} need_replication={n, o} "
       "blocked={k, l} windows={p of k, q of l}"},
      // More windows than results do not change the factors.
      {"convolution stride=2,2 padding=0,1,0,1", "f32[2, 192, 224, 224]; f32[64, 192, 112, 112]",
       "([i, j, k, l], [m, j, n, o])->([i, m, p, q]) reduction={j} need_replication={n, o} "
       "blocked={k, l} windows={p of k, q of l}"},
      // Groups are major to the channels of one group.
      {"convolution groups=4", "f32[2, 192, 14]; f32[256, 48, 3]",
       "([i, (jk), l], [(jm), k, n])->([i, (jm), o]) reduction={k} need_replication={n} "
       "blocked={l} windows={o of l}"},
      {"max_pool window=1,1 padding=-1,1,2,-2", "f32[2, 3, 8, 16]",
       "([i, j, k, l])->([i, j, m, n]) blocked={k, l} windows={m of k, n of l}"},
      {"stencil", "f32[2, 8, 8]; f32[3, 3]",
       "([i, j, k], [l, m])->([i, n, o]) need_replication={l, m} blocked={j, k} "
       "windows={n of j, o of k}"},
  };
  check_rules(facts);
}

TEST_CASE("Reshapes and repetitions form products of indices") {
  constexpr rule_fact facts[] = {
      {"reshape shape=", "f32[1, 1]", "([i, j])->([])"},
      {"reshape shape=2x4", "f32[8]", "([(ij)])->([i, j])"},
      {"reshape shape=4x2x3x2", "f32[4, 12]", "([i, (jkl)])->([i, j, k, l])"},
      {"reshape shape=2x3", "f32[3, 2]", "([i, j])->([k, l])"},
      {"reshape shape=5x3x5x2", "f32[5, 2, 5, 3]", "([i, j, k, l])->([i, m, n, o])"},
      {"reshape shape=32x1", "f32[8, 4]", "([i, j])->([(ij), .])"},
      {"reshape shape=8x4", "f32[32, 1]", "([(ij), k])->([i, j])"},
      {"reshape shape=8x1x4", "f32[32]", "([(ij)])->([i, ., j])"},
      {"squeeze dims=1", "f32[8, 1]", "([i, j])->([i])"},
      {"unsqueeze dims=1", "f32[8, 4]", "([i, j])->([i, ., j])"},
      {"tile counts=1,2", "f32[8, 4]", "([i, j])->([i, (kj)])"},
      {"kron", "f32[8, 4]; f32[2, 3]", "([i, j], [k, l])->([(ik), (jl)])"},
      {"kron", "f32[8, 1]; f32[2, 3]", "([i, j], [k, l])->([(ik), l])"},
      {"pixel_shuffle factor=2", "f32[12, 4, 5]", "([(ijk), l, m])->([i, (lj), (mk)])"},
      {"pixel_unshuffle factor=2", "f32[3, 8, 10]", "([i, (jk), (lm)])->([(ikm), j, l])"},
      {"repeat dim=1 count=2", "f32[8, 4]", "([i, j])->([i, (jk)])"},
      {"broadcast_to shape=2x64x13x1", "f32[2, 1, 13, 1]", "([i, ., j, k])->([i, l, j, k])"},
      {"broadcast_to shape=2x64x13x0", "f32[2, 1, 13, 0]", "([i, ., j, k])->([i, l, j, k])"},
      {"broadcast_to shape=2x64x13x1", "f32[13, 1]", "([i, j])->([k, l, i, j])"},
      {"broadcast_to shape=2x1x13", "f32[]", "([])->([i, j, k])"},
      {"transpose order=2,0,1", "f32[8, 4, 2]", "([i, j, k])->([k, i, j])"},
      {"full_like", "f32[8, 4]; f32[]", "([i, j], [])->([i, j])"},
      {"ones_like", "bool[8, 4]", "([i, j])->([i, j])"},
      {"zeros_like", "f32[8, 4]", "([i, j])->([i, j])"},
      {"bitcast type=i32", "f32[8, 4]", "([i, j])->([i, j])"},
      {"bitcast type=u8", "f64[8, 4]", "([i, j])->([i, j, k]) need_replication={k}"},
      {"bitcast type=f32", "bf16[8, 2]", "([i, j])->([i]) need_replication={j}"},
  };
  check_rules(facts);
}

TEST_CASE("Joins form sums of indices, and slices have indices of their own") {
  constexpr rule_fact facts[] = {
      {"concatenate dim=1", "f32[4, 1, 256]; f32[4, 1, 256]; f32[4, 1, 256]",
       "([i, j, k], [i, l, k], [i, m, k])->([i, (j+l+m), k]) need_replication={j, l, m}"},
      {"concatenate dim=1", "f32[4, 32, 256]; f32[4, 40, 256]; f32[4, 24, 256]",
       "([i, j, k], [i, l, k], [i, m, k])->([i, (j+l+m), k]) need_replication={j, l, m}"},
      {"concatenate dim=0", "bf16[4, 64]; bf16[2, 64]; bf16[4, 64]",
       "([i, j], [k, j], [l, j])->([(i+k+l), j]) need_replication={i, k, l}"},
      {"stack dim=1", "f32[8, 4]; f32[8, 4]", "([i, j], [i, j])->([i, k, j])"},
      {"pad amounts=0,0,1,2", "f32[8, 4]", "([i, j])->([i, k]) blocked={j} windows={k of j}"},
      {"pad amounts=0,0,1,2 mode=edge", "f32[8, 4]", "([i, j])->([i, (j+k)]) need_replication={j}"},
      {"slice_in_dim dim=0 begin=0 end=32", "f32[32, 4]", "([i, j])->([i, j])"},
      {"slice_in_dim dim=0 begin=1 end=32", "f32[32, 4]",
       "([i, j])->([k, j]) blocked={i} windows={k of i}"},
      {"slice_in_dim dim=0 begin=-1 end=0 step=-1", "f32[32, 4]",
       "([i, j])->([k, j]) need_replication={i}"},
      {"index_at dim=1 index=0", "f32[8, 4]", "([i, j])->([i]) need_replication={j}"},
      {"dynamic_slice dim=1 size=1", "f32[32, 4, 8]; i32[]",
       "([i, j, k], [])->([i, l, k]) need_replication={j}"},
      {"update_slice dim=1", "f32[32, 4, 8]; f32[32, 1, 8]; i32[]",
       "([i, j, k], [i, l, k], [])->([i, j, k]) need_replication={l}"},
      {"flip dims=1,3", "f32[4, 32, 8, 2]", "([i, j, k, l])->([i, j, k, l]) permutation={j, l}"},
      {"propagation_barrier flow=backward", "f32[4, 8]", "([i, j])->([i, j])"},
      {"roll dim=0 places=3", "f32[12, 4]", "([i, j])->([i, j]) permutation={i}"},
      {"roll dim=0 places=0", "f32[12, 4]", "([i, j])->([i, j])"},
      {"interpolate sizes=4,16 method=linear", "f32[2, 8, 8]",
       "([i, j, k])->([i, l, m]) need_replication={j, k, l, m}"},
      {"interpolate sizes=8,16 method=nearest", "f32[2, 8, 8]",
       "([i, j, k])->([i, j, l]) need_replication={k, l}"},
  };
  check_rules(facts);
}

TEST_CASE("Look-ups sum over the indices that are looked up") {
  constexpr rule_fact facts[] = {
      // The batch dimensions of XLA's gather are those that `take_along` shares.
      {"take_along dim=1", "f32[5, 3, 7]; i64[5, 2, 7]",
       "([i, j, k], [i, l, k])->([i, l, k]) reduction={j}"},
      {"take dim=0", "f32[64, 16]; i32[8, 4]", "([i, j], [k, l])->([k, l, j]) reduction={i}"},
      {"take dim=1", "f32[64, 16]; i32[8, 4]", "([i, j], [k, l])->([i, k, l]) reduction={j}"},
      {"segment_sum dim=0 count=3", "f32[2, 4]; i64[2]", "([i, j], [i])->([k, j]) reduction={i}"},
      {"sum_along dim=1 count=3", "f32[8, 4]; i32[8, 4]",
       "([i, j], [i, j])->([i, k]) reduction={j}"},
      {"bincount count=10", "i32[8]", "([i])->([j]) reduction={i}"},
      {"searchsorted", "f32[8]; f32[4]", "([i], [j])->([j]) reduction={i}"},
      {"searchsorted", "f32[2, 8]; f32[2, 4]", "([i, j], [i, k])->([i, k]) reduction={j}"},
      {"one_hot classes=10", "i32[8]", "([i])->([i, j])"},
      {"repeat_counts dim=0 counts=1,0,2", "f32[3, 4]", "([i, j])->([k, j]) need_replication={i}"},
      {"repeat_each dim=1 count=6", "f32[8, 4]; i32[4]",
       "([i, j], [k])->([i, l]) reduction={j} need_replication={k}"},
      // A tensor that is not pending is no term of a sum, so that split updates are gathered;
      // `segment_sum` leaves their sum pending.
      {"scatter_add dim=0", "f32[3, 4, 2]; i64[2, 3]; f32[2, 3, 4, 2]",
       "([i, j, k], [l, m], [l, m, j, k])->([i, j, k]) need_replication={l, m}"},
      {"put_along_set dim=1", "f32[5, 3, 7]; i64[5, 2, 7]; f32[5, 2, 7]",
       "([i, j, k], [i, l, k], [i, l, k])->([i, j, k]) need_replication={l}"},
      {"put_along_set dim=1", "f32[5, 3, 7]; i64[4, 9, 7]; f32[4, 9, 7]",
       "([i, j, k], [l, m, k], [l, m, k])->([i, j, k]) need_replication={i, l, m}"},
  };
  check_rules(facts);
}

TEST_CASE("What is sorted, searched, scanned or normalised is needed as a whole") {
  constexpr rule_fact facts[] = {
      {"top_k dim=0 count=1", "f32[16]", "([i])->([j]) need_replication={i, j}"},
      {"top_k dim=1 count=2", "f32[16, 4]", "([i, j])->([i, k]) need_replication={j, k}"},
      {"sort dim=0", "i32[4, 32, 8]", "([i, j, k])->([i, j, k]) need_replication={i}"},
      {"argsort dim=0", "i32[4, 32, 8]", "([i, j, k])->([i, j, k]) need_replication={i}"},
      {"sort dim=1", "i32[1, 4, 1]", "([i, j, k])->([i, j, k]) need_replication={j}"},
      {"argmax dim=1", "f32[8, 4]", "([i, j])->([i]) need_replication={j}"},
      {"cumsum dim=1", "f32[8, 4]", "([i, j])->([i, j]) need_replication={j}"},
      {"logcumsumexp dim=1", "f32[8, 4]", "([i, j])->([i, j]) need_replication={j}"},
      {"softmax dim=1", "f32[8, 4]", "([i, j])->([i, j]) need_replication={j}"},
      {"layer_norm dims=1", "f32[8, 4]; f32[4]; f32[4]",
       "([i, j], [j], [j])->([i, j]) need_replication={j}"},
      {"batch_norm", "f32[8, 4, 6]; f32[4]; f32[4]",
       "([i, j, k], [j], [j])->([i, j, k]) need_replication={i, k}"},
      {"cross_entropy dim=1", "f32[8, 4]; i32[8]", "([i, j], [i])->([i]) need_replication={j}"},
      {"attention attends=to_all", "f32[2, 6, 8]; f32[2, 4, 8]; f32[2, 4, 8]",
       "([i, j, k], [i, l, k], [i, l, m])->([i, j, m]) need_replication={k, l}"},
  };
  check_rules(facts);
}

TEST_CASE("Matrices are needed as a whole, their batches and right-hand sides are not") {
  constexpr rule_fact facts[] = {
      {"cholesky", "f32[8, 3, 3]", "([i, j, k])->([i, j, k]) need_replication={j, k}"},
      {"triangular_solve transposed=true", "f32[8, 3, 3]; f32[8, 3, 5]",
       "([i, j, k], [i, j, l])->([i, j, l]) need_replication={j, k}"},
      {"triangular_solve upper=true", "f32[3, 3]; f32[3]",
       "([i, j], [i])->([i]) need_replication={i, j}"},
      {"solve", "f32[8, 3, 3]; f32[8, 3]", "([i, j, k], [i, j])->([i, j]) need_replication={j, k}"},
      {"inverse", "f32[3, 3]", "([i, j])->([i, j]) need_replication={i, j}"},
      {"determinant", "f32[8, 3, 3]", "([i, j, k])->([i]) need_replication={j, k}"},
      {"slogdet", "f32[3, 3]", "([i, j])->([]) need_replication={i, j}"},
      {"qr", "f32[8, 12, 5]", "([i, j, k])->([i, j, l]) need_replication={j, k, l}"},
      {"eigh", "f32[8, 3, 3]", "([i, j, k])->([i, j, k]) need_replication={j, k}"},
      {"householder_product", "f32[8, 6, 4]; f32[8, 3]",
       "([i, j, k], [i, l])->([i, j, k]) need_replication={j, k, l}"},
      {"svd", "f32[8, 6, 4]", "([i, j, k])->([i, l, m]) need_replication={j, k, l, m}"},
  };
  check_rules(facts);
}

TEST_CASE("Fourier transforms need their dimensions whole, and halve one if numbers are real") {
  constexpr rule_fact facts[] = {
      {"fft dims=1", "f32[8, 4, 2]", "([i, j, k])->([i, j, k]) need_replication={j, k}"},
      {"ifft dims=0,2", "f32[8, 4, 6, 2]",
       "([i, j, k, l])->([i, j, k, l]) need_replication={i, k, l}"},
      {"rfft dims=1", "f32[8, 6]", "([i, j])->([i, k, l]) need_replication={j, k, l}"},
      {"rfft dims=1,0", "f32[8, 6, 4]",
       "([i, j, k])->([l, j, k, m]) need_replication={i, j, l, m}"},
      {"irfft dims=1", "f32[8, 4, 2]", "([i, j, k])->([i, l]) need_replication={j, k, l}"},
      {"irfft dims=0 length=7", "f32[4, 3, 2]", "([i, j, k])->([l, j]) need_replication={i, k, l}"},
  };
  check_rules(facts);
}

// --- what a split means for each kind of factor
// ---------------------------------------------------

/// A split of one factor over all axes of a mesh, in every operand that has it or only in the first
/// of them.
tensor_descs with_split(const mesh_desc& mesh, const factor_rule& rule, tensor_descs operands,
                        std::uint8_t factor, bool only_first) {
  bool is_done = false;
  for (int o = 0; o < operands.ssize(); ++o)
    if (const int d = rule.operands[o].find(factor); d >= 0 && !(is_done && only_first)) {
      for (int a = 0; a < mesh.rank(); ++a)
        operands[o].layout.dims[d].push_back(static_cast<std::uint8_t>(a));
      operands[o].layout.uneven = true;
      is_done = true;
    }
  return operands;
}

struct tally {
  int passed = 0;
  int pending = 0;
  int refused = 0;
  int removed = 0;
  int within_blocks = 0;
};

/// Checks what an operation makes of a split of a factor that is a dimension of its own.
void check_factor(const mesh_desc& mesh, const request& asked, const factor_rule& rule,
                  std::uint8_t f, bool only_first, tally& count) {
  const tensor_descs split = with_split(mesh, rule, asked.operands, f, only_first);
  const unsigned all = (1U << mesh.rank()) - 1;
  CAPTURE(asked.entry->name.data(), static_cast<int>(f), only_first, mesh.rank(),
          mesh.axes[0].size);
  const operation_inference made =
      infer_operation(mesh, *asked.entry, asked.given, split, asked.wishes);
  // Windows may end where parts do, and groups of channels may be whole on devices.
  const bool has_local_blocks =
      rule.factors[f] == factor_kind::blocked || asked.entry->name == "group_norm";
  const int window = rule.window_of(f);
  const int to = rule.dim_with(rule.result, window < 0 ? f : rule.windows[window].reader);
  if (rule.factors[f] == factor_kind::reduction) {
    REQUIRE(made.ok());
    CHECK(made.results[0].layout.pending == all);
    if (asked.entry->what != nullptr) CHECK(made.results[0].layout.kind == rule.reduce);
    for (const axis_list& dim : made.results[0].layout.dims) CHECK(dim.empty());
    CHECK(made.reshards.empty());
    ++count.pending;
  } else if (rule.factors[f] == factor_kind::pass_through && to < 0) {
    // One device holds the only index of a dimension that is removed.
    CHECK(made.verdict.rule == violation::split_would_move);
    ++count.removed;
  } else if (rule.factors[f] == factor_kind::pass_through || (has_local_blocks && made.ok())) {
    REQUIRE(made.ok());
    for (const tensor_desc& result : made.results) {
      CHECK(result.layout.pending == 0);
      int splits = 0;
      for (const axis_list& dim : result.layout.dims) splits += dim.ssize();
      CHECK(splits == mesh.rank());
      if (result.rank() == rule.result.ssize())
        CHECK(result.layout.dims[to].ssize() == mesh.rank());
    }
    CHECK(made.reshards.empty());
    ++(has_local_blocks ? count.within_blocks : count.passed);
  } else {
    // The error offers the gather of every operand, and permission for the axis does it.
    CHECK(made.verdict.rule == violation::dimension_is_split);
    REQUIRE(made.legal.size() == split.size());
    for (int o = 0; o < split.ssize(); ++o)
      for (const axis_list& dim : made.legal[o].layout.dims) CHECK(dim.empty());
    CHECK(infer_operation(mesh, *asked.entry, asked.given, made.legal, asked.wishes).ok());
    const suggested_reshard fix =
        propose(mesh, rule, split, propagate(mesh, rule, split).verdict, {.is_taken = true});
    CHECK(fix.permitted.ssize() == mesh.rank());
    CHECK(infer_operation(mesh, *asked.entry, asked.given, split, {~0U, nullptr}).ok());
    CHECK_THAT(std::string(asked.entry->parameters.data(), asked.entry->parameters.size()),
               contains("across?"));
    ++count.refused;
  }
}

/// Calls `check(mesh, asked, rule, factor)` for the factors of every operation of the catalogue
/// that are dimensions of their own. Returns the number of those that are parts of products, which
/// are the subject of the facts about reshapes.
template <class Check>
int for_each_factor(const extents_desc& sizes, const Check& check) {
  int composed = 0;
  const mesh_desc mesh = mesh_of_sizes(sizes);
  for (const catalogued_operation& entry : catalogue) {
    if (entry.called != nullptr) continue;  // a collective on manual axes has no factors
    const operation_example example = example_of(mesh, entry);
    request asked;
    asked.entry = &entry;
    asked.given = example.given;
    asked.operands = example.operands;
    const factor_rule rule = rule_of(asked);
    unsigned seen = 0;
    for (const factor_map& dims : rule.operands)
      for (const std::uint8_t f : dims) {
        if (f == repeated || (seen >> f & 1U) != 0) continue;
        seen |= 1U << f;
        const int to = rule.dim_with(rule.result, f);
        if (rule.composite_of(f) >= 0 || (to >= 0 && rule.composite_of(rule.result[to]) >= 0 &&
                                          rule.factors[f] == factor_kind::pass_through))
          ++composed;
        else
          check(mesh, asked, rule, f);
      }
  }
  return composed;
}

// A convolution whose groups are parts of the batch, as compilers write the gradient of the weights
// of grouped features: the groups (i) and the features within them (k) pass through, what the
// windows are summed over is pending.
TEST_CASE("The weights' gradient of grouped features convolves groups of a batch") {
  const auto tensor = [](const extents_desc& extents) {
    layout_desc layout;
    layout.dims.resize(extents.size());
    return tensor_desc{element::f32, extents, layout};
  };
  const window_numbers each{2, 0, 1, 1, 1};
  attributes how = internal::window_attributes::from({each, each}, 4);
  for (int d = 0; d < 2; ++d) how.integers[5 * d + 2] = 113;  // the size of a window
  const factor_rule rule = convolution_weights_operation::rule(
      how, {tensor({192, 4, 224, 224}), tensor({192, 256, 112, 112})});
  CHECK(text_view(factors::write_rule(rule)) ==
        "([i, (jk), l, m], [i, (jn), o, p])->([(jn), k, q, r]) reduction={i, o, p} "
        "blocked={l, m} windows={o of l, p of m}");
}

TEST_CASE("A split of an index passes, is pending, or is refused with both remedies, by its kind") {
  tally count;
  for (const extents_desc& sizes : {extents_desc{2}, extents_desc{3}, extents_desc{2, 2}}) {
    const int composed = for_each_factor(sizes, [&](const mesh_desc& mesh, const request& asked,
                                                    const factor_rule& rule, std::uint8_t f) {
      for (const bool only_first : {false, true})
        check_factor(mesh, asked, rule, f, only_first, count);
    });
    CHECK(composed < 30);
  }
  CHECK(count.passed > 1500);
  CHECK(count.pending > 120);
  CHECK(count.refused > 250);
  CHECK(count.removed > 0);
  CHECK(count.within_blocks > 0);
}

TEST_CASE("An axis of one device splits nothing, whatever the kind of an index") {
  int checked = 0;
  for_each_factor({1}, [&](const mesh_desc& mesh, const request& asked, const factor_rule& rule,
                           std::uint8_t f) {
    CAPTURE(asked.entry->name.data(), static_cast<int>(f));
    const tensor_descs split = with_split(mesh, rule, asked.operands, f, false);
    const operation_inference made =
        infer_operation(mesh, *asked.entry, asked.given, split, asked.wishes);
    REQUIRE(made.ok());
    for (const tensor_desc& result : made.results) CHECK(result.layout.pending == 0);
    ++checked;
  });
  CHECK(checked > 300);
}

}  // namespace
