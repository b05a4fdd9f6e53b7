// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "support/paper.hpp"

#include <algorithm>

using namespace paper;

namespace {

const mesh_desc pod{{axis_desc{"x", 2}, axis_desc{"y", 4}}};

/// A program of steps that read earlier ones; some are read twice, some never.
std::vector<step_desc> make_program(numbers& random) {
  const tensor_desc shapes[] = {
      {element::f32, {8, 16}, {{axis_list{0}, axis_list{}}}},
      {element::f32, {8, 16}, {{axis_list{0}, axis_list{1}}}},
      {element::f64, {8, 16}, {{axis_list{0}, axis_list{}}}},
      {element::f32, {32}, {{axis_list{}}, 2}},
      {element::f32, {2, 4, 16}, {{axis_list{0}, axis_list{}, axis_list{}}}},
  };
  std::vector<step_desc> steps;
  const index_t inputs = 1 + random(3);
  const index_t count = inputs + random(14);
  for (index_t i = 0; i < count; ++i) {
    step_desc step;
    step.result = shapes[random(random(2) == 0 ? 1 : 5)];
    if (i >= inputs) {
      constexpr step_kind kinds[] = {step_kind::pass, step_kind::pass, step_kind::operation,
                                     step_kind::operation, step_kind::collective};
      step.kind = kinds[random(5)];
      const index_t reads =
          step.kind == step_kind::pass ? 1 + random(max_fused_operands) : 1 + random(2);
      for (index_t k = 0; k < reads; ++k)
        step.operands.push_back(static_cast<std::int32_t>(
            random(2) == 0 ? i - 1 - random(std::min<index_t>(i, 2)) : random(i)));
      // Memory is reused for results of the same size.
      const tensor_desc& first = steps[static_cast<std::size_t>(step.operands[0])].result;
      step.reuses_first = step.kind == step_kind::operation && random(2) == 0 &&
                          have_same_shards(pod, first, step.result);
      // Views, of which some have the positions of the result.
      for (int k = 0; k < step.operands.ssize(); ++k) {
        const tensor_desc& read = steps[static_cast<std::size_t>(step.operands[k])].result;
        if (step.kind == step_kind::collective || step.reuses_first || random(3) != 0) continue;
        step.viewed |= 1U << k;
        if (random(2) == 0 && have_same_shards(pod, read, step.result)) step.aligned |= 1U << k;
      }
      step.cost.flops = random(100);
      if (step.kind == step_kind::collective) {
        step.cost.is_collective = true;
        step.cost.moved = static_cast<collective>(random(collective_count));
        for (std::uint8_t a = 0; a < 2; ++a)
          if (random(2) == 0) {
            step.cost.axes.push_back(a);
            step.cost.bytes.push_back(step.cost.moved == collective::slice ? 0 : random(50));
          }
      }
    }
    step.kept = random(6) == 0 || i + 1 == count;
    steps.push_back(step);
  }
  return steps;
}

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

bool reads(const step_desc& step, std::int32_t o) {
  return std::find(step.operands.begin(), step.operands.end(), o) != step.operands.end();
}

/// True if a kept result depends on the step.
bool is_needed(const std::vector<step_desc>& steps, std::int32_t i) {
  if (steps[at(i)].kept) return true;
  for (auto j = i + 1; j < static_cast<std::int32_t>(steps.size()); ++j)
    if (reads(steps[at(j)], i) && is_needed(steps, j)) return true;
  return false;
}

/// Returns the last executed step that reads the result of `i`, or `i` if there is none.
std::int32_t last_reader(const std::vector<step_desc>& steps, std::int32_t i) {
  auto last = i;
  for (auto j = i + 1; j < static_cast<std::int32_t>(steps.size()); ++j)
    if (reads(steps[at(j)], i) && is_needed(steps, j)) last = j;
  return last;
}

}  // namespace

TEST_CASE("lifetimes and peak memory are those of a simulation") {
  numbers random(11);
  index_t reused = 0, overwritten = 0;
  for (int n = 0; n < 600; ++n) {
    const std::vector<step_desc> steps = make_program(random);
    const auto count = static_cast<std::int32_t>(steps.size());
    std::vector<value_lifetime> lives(steps.size());
    plan_lifetimes(steps.data(), count, lives.data());
    const cost_ledger total = summarize(pod, steps.data(), lives.data(), count);

    index_t flops = 0;
    index_t bytes_by_axis[2] = {0, 0};
    index_t collectives = 0;
    index_t inputs = 0;
    for (const step_desc& step : steps)
      if (step.kind == step_kind::input) inputs += bytes_per_device(pod, step.result);
    index_t peak = inputs;
    for (std::int32_t i = 0; i < count; ++i) {
      const step_desc& step = steps[at(i)];
      const value_lifetime& life = lives[at(i)];
      CAPTURE(n, i);
      REQUIRE(life.needed == is_needed(steps, i));
      REQUIRE(life.last_use == last_reader(steps, i));
      if (!life.needed || step.kind == step_kind::input) {
        REQUIRE(life.reuses == -1);
        continue;
      }
      flops += step.cost.flops;
      if (step.kind == step_kind::collective && pod.parts(step.cost.axes) > 1) {
        if (step.cost.moved != collective::slice) ++collectives;
        for (int k = 0; k < step.cost.axes.ssize(); ++k)
          bytes_by_axis[step.cost.axes[k]] += step.cost.bytes[k];
      }
      // The operand that a pass may overwrite: the first one of the same size that is last read
      // here, and that no view reads at other positions. An operation that overwrites its first
      // operand needs that one, read once.
      int wanted = -1;
      for (int k = step.operands.ssize() - 1; k >= 0; --k) {
        const std::int32_t o = step.operands[k];
        const bool is_read_once = std::count(step.operands.begin(), step.operands.end(), o) == 1;
        if (step.kind != step_kind::pass && !(step.reuses_first && k == 0 && is_read_once))
          continue;
        bool is_moved = false;
        for (int j = 0; j < step.operands.ssize(); ++j)
          if (step.operands[j] == o && (step.viewed >> j & 1U) > (step.aligned >> j & 1U))
            is_moved = true;
        const bool is_alike = steps[at(o)].result == step.result || (step.aligned >> k & 1U) == 1;
        if (steps[at(o)].kind != step_kind::input && !steps[at(o)].kept && !is_moved &&
            last_reader(steps, o) == i && (step.kind != step_kind::pass || is_alike))
          wanted = k;
      }
      REQUIRE(life.reuses == wanted);
      if (wanted >= 0) ++reused;
      if (wanted >= 0 && step.reuses_first) ++overwritten;
      // In use while the step runs: its result, and every earlier one that is read later or kept,
      // except the one that it overwrites.
      index_t live = inputs + bytes_per_device(pod, step.result);
      for (std::int32_t j = 0; j < i; ++j) {
        if (steps[at(j)].kind == step_kind::input || !is_needed(steps, j)) continue;
        if (wanted >= 0 && step.operands[wanted] == j) continue;
        if (steps[at(j)].kept || last_reader(steps, j) >= i)
          live += bytes_per_device(pod, steps[at(j)].result);
      }
      peak = std::max(peak, live);
    }
    CAPTURE(n);
    REQUIRE(total.peak_bytes_per_device() == peak);
    REQUIRE(total.flops() == flops);
    REQUIRE(total.collectives() == collectives);
    REQUIRE(total.bytes_moved("x") == bytes_by_axis[0]);
    REQUIRE(total.bytes_moved("y") == bytes_by_axis[1]);
    REQUIRE(total.bytes_moved() == bytes_by_axis[0] + bytes_by_axis[1]);
  }
  CHECK(reused > 100);
  CHECK(overwritten > 20);
}

TEST_CASE("memory that is written over belongs to nobody else") {
  numbers random(12);
  for (int n = 0; n < 600; ++n) {
    const std::vector<step_desc> steps = make_program(random);
    const auto count = static_cast<std::int32_t>(steps.size());
    std::vector<value_lifetime> lives(steps.size());
    plan_lifetimes(steps.data(), count, lives.data());
    // A run with numbered buffers: no result that is read later may change.
    std::vector<int> buffer(steps.size(), -1);
    std::vector<std::int32_t> writer;
    for (std::int32_t i = 0; i < count; ++i) {
      const step_desc& step = steps[at(i)];
      if (!lives[at(i)].needed && step.kind != step_kind::input) continue;
      for (std::int32_t o : step.operands) {
        CAPTURE(n, i, o);
        REQUIRE(writer[static_cast<std::size_t>(buffer[at(o)])] == o);
      }
      if (lives[at(i)].reuses >= 0) {
        buffer[at(i)] = buffer[at(step.operands[lives[at(i)].reuses])];
        writer[static_cast<std::size_t>(buffer[at(i)])] = i;
      } else {
        buffer[at(i)] = static_cast<int>(writer.size());
        writer.push_back(i);
      }
    }
    for (std::int32_t i = 0; i < count; ++i)
      if (steps[at(i)].kept || steps[at(i)].kind == step_kind::input)
        REQUIRE(writer[static_cast<std::size_t>(buffer[at(i)])] == i);
  }
}
