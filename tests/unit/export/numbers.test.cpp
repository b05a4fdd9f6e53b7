// SPDX-License-Identifier: BSL-1.0
// The exported text computes what the program computes, operation by operation and step by step.
#include "support/catch.hpp"
#include "unit/export/exported.hpp"
#include "unit/export/nets.hpp"
#include "unit/export/program_numbers.hpp"
#include <shardwise/optim.hpp>

#include <set>
#include <string>

using namespace shardwise;

namespace {

using namespace exported::nets;

/// Compares the numbers of the training step of a model, which is trained once.
template <class Model, class X, class Y>
void check_step(const X& x, const Y& y, const device_pool& pool) {
  auto model = nn::initialise<Model>(pool, random_key{5});
  const optim::adamw adam;
  auto state = adam.start(model);
  auto train = step(optim::training_step{squared_error, adam, 1.0});
  static_cast<void>(train(model, state, 0.05F, x, y));
  const program_view code = train.code(model, state, 0.05F, x, y);
  for (const sharding_form form : {sharding_form::hlo, sharding_form::sdy}) {
    const hlo_text::agreement found = hlo_text::compare(pool, code, {.shardings = form});
    CHECK(found.difference == "");
    CHECK(found.not_run == "");
  }
}

/// The operations of the catalogue that StableHLO has no counterpart for.
const std::set<std::string> without_counterpart = {"determinant",         "digamma", "erfinv",
                                                   "householder_product", "inverse", "lgamma",
                                                   "normal_like",         "solve"};

}  // namespace

TEST_CASE("the text of each operation of the catalogue has its numbers") {
  const device_pool pool{pod{}};
  const mesh_desc mesh = pod::value;
  int run = 0;
  std::set<std::string> left_out;
  for (const catalogued_operation& entry : catalogue) {
    const operation_example example = example_of(mesh, entry);
    for (const bool is_split : {false, true}) {
      tensor_descs operands = example.operands;
      if (is_split)
        for (tensor_desc& each : operands)
          if (each.rank() > 0 && each.extents[0] % 2 == 0 && each.layout.manual == 0)
            each.layout.dims[0].push_back(0);
      const exported::example_program made = exported::program_of(mesh, entry, operands);
      if (!made.is_made) continue;
      const std::string name(entry.name);
      CAPTURE(name, is_split);
      for (const sharding_form form : {sharding_form::hlo, sharding_form::sdy}) {
        const hlo_text::agreement found =
            hlo_text::compare(pool, made.code.view(), {.shardings = form});
        CHECK(found.difference == "");
        if (!found.not_run.empty() && entry.called == nullptr) left_out.insert(name);
        run += found.not_run.empty() ? 1 : 0;
      }
    }
  }
  CHECK(run > 300);
  CHECK(left_out == without_counterpart);
}

TEST_CASE("the text of a step with gradients and an update has its numbers") {
  const device_pool pool{pod{}};
  check_step<mlp>(normal<tensor<rows, 16, 6>>(pool, random_key{6}),
                  normal<tensor<rows, 16, 4>>(pool, random_key{7}), pool);
  check_step<looker>(normal<tensor<P<"data", none, none, none>, 4, 2, 8, 8>>(pool, random_key{8}),
                     normal<tensor<rows, 4, 3>>(pool, random_key{9}), pool);
}
