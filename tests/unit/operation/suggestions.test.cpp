// SPDX-License-Identifier: BSL-1.0
// What needs the elements of other devices is refused with two calls that help: a reshard, and the
// permission to communicate over named axes.
#include "unit/operation/inference_facts.hpp"

namespace {

using namespace inference;

/// A refused application, the rule that it breaks, the operands that a reshard makes legal, and the
/// axes that a permission has to name; none if the operation takes no permission.
struct suggestion {
  extents_desc mesh;
  const char* operation;
  const char* operands;
  const char* refusal;
  const char* reshards;
  const char* across;
};

std::string names_of(const mesh_desc& mesh, unsigned axes) {
  std::string out;
  for (int a = 0; a < mesh.rank(); ++a)
    if ((axes >> a & 1U) != 0)
      out += (out.empty() ? "" : ",") + std::string(mesh.axes[a].label.data());
  return out;
}

void check(const suggestion& one) {
  CAPTURE(one.operation, one.operands);
  const mesh_desc mesh = mesh_of_sizes(one.mesh);
  request asked = read_request(mesh, one.operation, one.operands);
  const auto infer = [&](const tensor_descs& operands) {
    return infer_operation(mesh, *asked.entry, asked.given, operands, asked.wishes);
  };
  const operation_inference made = infer(asked.operands);
  REQUIRE(!made.ok());
  const text_view rule = name_of(made.verdict.rule);
  CHECK(std::string(rule.data(), rule.size()) == one.refusal);
  std::string reshards;
  for (const tensor_desc& type : made.legal)
    reshards += (&type == made.legal.begin() ? "" : "; ") + words_of(mesh, type);
  CHECK(reshards == one.reshards);
  CHECK(infer(made.legal).ok());
  CHECK(names_of(mesh, made.to_permit) == one.across);
  if (made.to_permit == 0) return;
  // The permission helps, and each of its axes is necessary.
  asked.wishes.permitted = made.to_permit;
  const operation_inference permitted = infer(asked.operands);
  CHECK(permitted.ok());
  CHECK(!permitted.reshards.empty());
  for (int a = 0; a < mesh.rank(); ++a)
    if ((made.to_permit >> a & 1U) != 0) {
      asked.wishes.permitted = made.to_permit & ~(1U << a);
      CHECK(!infer(asked.operands).ok());
    }
}
template <std::size_t N>
void check_all(const suggestion (&all)[N]) {
  for (const suggestion& one : all) check(one);
}

constexpr const char* whole = "dimension_is_split";
constexpr const char* moves = "split_would_move";

}  // namespace

TEST_CASE("What orders, scans or searches a split dimension is refused with both calls that help") {
  constexpr suggestion all[] = {
      {{2, 4}, "sort dim=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "argsort dim=0", "f32[8@x, 16@y]", whole, "f32[8, 16@y]", "x"},
      {{2, 4}, "argmax dim=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "max_with_index dim=1", "f32[8@x, 15@y]", whole, "f32[8@x, 15]", "y"},
      {{2, 4}, "top_k dim=1 count=2", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "median dim=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "quantile dim=1", "f32[8@x, 16@y]; f32[]", whole, "f32[8@x, 16]; f32[]", "y"},
      {{2, 4}, "cumsum dim=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "cumprod dim=1", "f32[8@x, 5@y]", whole, "f32[8@x, 5]", "y"},
      {{2, 4}, "cummax dim=0", "f32[3@x, 5@y]", whole, "f32[3, 5@y]", "x"},
      {{2}, "cumsum dim=0", "f32[1@x, 4]", whole, "f32[1, 4]", "x"},
      {{2}, "sort dim=0", "f32[0@x, 4]", whole, "f32[0, 4]", "x"},
      // Axes together, in any order, and axes of one device, which no permission has to name.
      {{2, 4}, "sort dim=1", "f32[8, 16@(x,y)]", whole, "f32[8, 16]", "x,y"},
      {{2, 4}, "sort dim=1", "f32[8, 16@(y,x)]", whole, "f32[8, 16]", "x,y"},
      {{1, 4}, "sort dim=1", "f32[8, 16@(x,y)]", whole, "f32[8, 16]", "y"},
      {{4, 1}, "cumsum dim=0", "f32[16@(y,x)]", whole, "f32[16]", "x"},
      {{2, 4}, "cholesky", "f32[8@x, 4, 4@y]", whole, "f32[8@x, 4, 4]", "y"},
      {{2, 4}, "eigh", "f32[8@x, 4@y, 4]", whole, "f32[8@x, 4, 4]", "y"},
      {{2, 4}, "qr", "f32[8@x, 4@y, 6]", whole, "f32[8@x, 4, 6]", "y"},
      {{2, 4},
       "householder_product",
       "f32[8@x, 6@y, 4]; f32[8@x, 3]",
       whole,
       "f32[8@x, 6, 4]; f32[8@x, 3]",
       "y"},
      {{2, 4}, "svd", "f32[8@x, 6@y, 4]", whole, "f32[8@x, 6, 4]", "y"},
      {{2, 4}, "slogdet", "f32[8@x, 4@y, 4]", whole, "f32[8@x, 4, 4]", "y"},
      {{2, 4}, "fft dims=1", "f32[8@x, 4@y, 2]", whole, "f32[8@x, 4, 2]", "y"},
      {{2, 4}, "ifft dims=0,1", "f32[8@x, 4@y, 2]", whole, "f32[8, 4, 2]", "x,y"},
      {{2, 4}, "bitcast type=f64", "u8[4@x, 8@y]", whole, "u8[4@x, 8]", "y"},
      {{2, 4}, "interpolate sizes=4,5 method=linear", "f32[8@x, 4@y]", whole, "f32[8, 4]", "x,y"},
      {{2, 4}, "rfft dims=0", "f32[8@x, 4@y]", whole, "f32[8, 4@y]", "x"},
      {{2, 4}, "irfft dims=0", "f32[5@y, 8@x, 2]", whole, "f32[5, 8@x, 2]", "y"},
      {{2, 4}, "fft dims=0", "f32[5, 8@y, 2@x]", whole, "f32[5, 8@y, 2]", "x"},
      // A permission that is given already is not enough.
      {{2, 4}, "sort dim=1 across=x", "f32[8, 16@(x,y)]", whole, "f32[8, 16]", "x,y"},
  };
  check_all(all);
}

TEST_CASE("What cuts, joins or turns a split dimension is refused with both calls that help") {
  constexpr suggestion all[] = {
      {{2, 4}, "flip dims=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "flip dims=0,1", "f32[8@x, 16@y]", whole, "f32[8, 16]", "x,y"},
      {{2, 4}, "roll dim=1 places=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "pad amounts=0,0,1,1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "slice_in_dim dim=1 begin=1 end=3", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "index_at dim=0 index=1", "f32[8@x, 16@y]", whole, "f32[8, 16@y]", "x"},
      {{2, 4}, "split_at dim=1 ends=4", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "glu dim=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "pixel_shuffle factor=2", "f32[8@x, 6@y, 4]", moves, "f32[8@x, 6, 4]", "y"},
      {{2}, "cross", "f32[8, 3@x]; f32[3]", whole, "f32[8, 3]; f32[3]", "x"},
      {{2}, "kron", "f32[8, 2]; f32[4@x, 3]", moves, "f32[8, 2]; f32[4, 3]", "x"},
      {{2, 4}, "diff dim=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4},
       "dynamic_slice dim=1 size=2",
       "f32[8@x, 16@y]; i64[]",
       whole,
       "f32[8@x, 16]; i64[]",
       "y"},
      {{2, 4},
       "concatenate dim=1",
       "f32[8@x, 16@y]; f32[8@x, 4@y]",
       whole,
       "f32[8@x, 16]; f32[8@x, 4]",
       "y"},
      {{2, 4}, "tile counts=1,2", "f32[8, 16@y]", moves, "f32[8@y, 16]", "y"},
      {{2, 4}, "repeat dim=0 count=3", "f32[7@x, 4]", moves, "f32[7, 4]", "x"},
      // A reshape has no permission: a reshard says where the split goes.
      {{2}, "reshape shape=20", "f32[5@x, 4]", moves, "f32[5, 4]", ""},
  };
  check_all(all);
}

TEST_CASE("What normalises a split dimension is refused with both calls that help") {
  constexpr suggestion all[] = {
      {{2, 4}, "softmax dim=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "log_softmax dim=0", "f32[8@x, 16@y]", whole, "f32[8, 16@y]", "x"},
      {{2, 4},
       "cross_entropy dim=1",
       "f32[8@x, 16@y]; i64[8@x]",
       whole,
       "f32[8@x, 16]; i64[8@x]",
       "y"},
      {{2, 4}, "layer_norm dims=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "layer_norm dims=0,1", "f32[8@x, 16@y]", whole, "f32[8, 16]", "x,y"},
      {{2, 4}, "rms_norm dims=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "batch_norm", "f32[8@x, 4@y, 6]", whole, "f32[8, 4@y, 6]", "x"},
      {{2, 4}, "instance_norm", "f32[8@x, 4, 6@y]", whole, "f32[8@x, 4, 6]", "y"},
      {{2, 4}, "l2_norm dims=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "l2_norm", "f32[8@x, 16@y]", whole, "f32[8, 16]", "x,y"},
      {{2, 4}, "variance dims=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "standard_deviation dims=0", "f32[8@x, 15@y]", whole, "f32[8, 15@y]", "x"},
      {{2, 4}, "logsumexp dims=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "nanmean dims=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "nanvar dims=1", "f32[8@x, 16@y]", whole, "f32[8@x, 16]", "y"},
      {{2, 4}, "lp_norm dims=1", "f32[8@x, 16@y]; f32[]", whole, "f32[8@x, 16]; f32[]", "y"},
      {{2, 4}, "cov", "f32[2@x, 4, 16@y]", whole, "f32[2@x, 4, 16]", "y"},
      {{2, 4}, "corrcoef", "f32[4@x, 16@y]", whole, "f32[4, 16]", "x,y"},
      {{2}, "cdist", "f32[8, 16@x]; f32[4, 16]", whole, "f32[8, 16]; f32[4, 16]", "x"},
      {{2}, "pinv", "f32[6@x, 4]", whole, "f32[6, 4]", "x"},
      {{2},
       "attention",
       "f32[8, 4, 2]; f32[8, 6@x, 2]; f32[8, 6@x, 3]",
       whole,
       "f32[8, 4, 2]; f32[8, 6, 2]; f32[8, 6, 3]",
       "x"},
      {{2},
       "convolution padding=1",
       "f32[4, 2, 8@x]; f32[3, 2, 3]",
       whole,
       "f32[4, 2, 8]; f32[3, 2, 3]",
       "x"},
      {{2}, "average_pool window=3", "f32[4, 2, 9@x]", whole, "f32[4, 2, 9]", "x"},
  };
  check_all(all);
}

TEST_CASE("Axes in another order are other parts: no operation takes them without a permission") {
  constexpr const char* conflict = "operand_layouts_conflict";
  constexpr suggestion all[] = {
      {{2, 3}, "add", "f32[8@(x,y)]; f32[8@(y,x)]", conflict, "f32[8@(x,y)]; f32[8@(x,y)]", "x,y"},
      {{2, 2, 2},
       "add",
       "f32[8@(x,y)]; f32[8@(x,z)]",
       conflict,
       "f32[8@(x,y)]; f32[8@(x,y)]",
       "y,z"},
      // Of the parts of an axis that has lost its major axis, devices hold half.
      {{2, 2}, "add", "f32[8@y]; f32[8@(x,y)]", conflict, "f32[8@y]; f32[8@y]", "x,y"},
      {{2, 3},
       "where",
       "bool[7@(x,y)]; f32[7@(y,x)]; f32[]",
       conflict,
       "bool[7@(x,y)]; f32[7@(x,y)]; f32[]",
       "x,y"},
      {{2, 2},
       "concatenate dim=1",
       "f32[8@(x,y), 4]; f32[8@(y,x), 2]",
       conflict,
       "f32[8@(x,y), 4]; f32[8@(x,y), 2]",
       "x,y"},
      {{2, 2},
       "take_along dim=1",
       "f32[8@(x,y), 4]; i64[8@(y,x), 2]",
       conflict,
       "f32[8@(x,y), 4]; i64[8@(x,y), 2]",
       "x,y"},
  };
  check_all(all);
}

namespace {

/// Checks an application under all layouts: it communicates only with a permission, and what an
/// error suggests is legal, be it reshards or the permission to use every axis.
void check_layouts(const mesh_desc& mesh, const request& asked, int& legal, int& refused) {
  CAPTURE(std::string(asked.entry->name.data(), asked.entry->name.size()));
  const bool is_call = asked.entry->called != nullptr;
  for_each_layout(asked, [&](const tensor_descs& operands) {
    CAPTURE(words_of(mesh, operands));
    const auto infer = [&](const tensor_descs& given) {
      return infer_operation(mesh, *asked.entry, asked.given, given, asked.wishes);
    };
    const operation_inference made = infer(operands);
    if (made.ok()) {
      ++legal;
      if (!is_call && !made.reshards.empty()) REQUIRE(made.reshards.empty());
    } else if (!made.legal.empty()) {
      ++refused;
      // It is given back as it is written.
      CAPTURE(words_of(mesh, made.legal));
      tensor_descs given_back;
      for (const tensor_desc& each : made.legal)
        given_back.push_back(type_of(mesh, words_of(mesh, each)));
      const operation_inference mended = infer(given_back);
      if (!mended.ok()) REQUIRE(mended.ok());
      if (!is_call && !mended.reshards.empty()) REQUIRE(mended.reshards.empty());
    }
    // A composed operation gathers only what its steps need.
    if (!made.ok() && asked.entry->steps == nullptr &&
        shardwise::detail::takes_parameter(*asked.entry, "across")) {
      const inference_wishes every{.permitted = ~0U};
      const operation_inference permitted =
          infer_operation(mesh, *asked.entry, asked.given, operands, every);
      if (!permitted.ok()) REQUIRE(permitted.ok());
    }
  });
}

}  // namespace

TEST_CASE("No operation communicates without a permission, and what an error suggests is legal") {
  const mesh_desc mesh = mesh_of_sizes({2, 3});
  int legal = 0;
  int refused = 0;
  for (const catalogued_operation& entry : catalogue)
    check_layouts(mesh, request_of(mesh, entry), legal, refused);
  CHECK(legal > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("Every axis permitted, heads of queries and shared heads of keys may be split anyhow") {
  int legal = 0;
  int refused = 0;
  for (const extents_desc& sizes : {extents_desc{2, 2}, extents_desc{2, 3}}) {
    const mesh_desc mesh = mesh_of_sizes(sizes);
    for (const char* operands :
         {"f32[8, 4, 2]; f32[4, 4, 2]; f32[4, 4, 2]", "f32[12, 4, 2]; f32[6, 4, 2]; f32[6, 4, 2]"})
      check_layouts(mesh, read_request(mesh, "attention", operands), legal, refused);
  }
  CHECK(legal > 100);
  CHECK(refused > 1000);
}

TEST_CASE("Every operation that needs a dimension whole takes a permission") {
  // Each operand of each example is split along one dimension after another.
  const mesh_desc mesh = mesh_of_sizes({2, 2});
  int refused = 0;
  for (const catalogued_operation& entry : catalogue) {
    if (entry.called != nullptr) continue;
    const request asked = request_of(mesh, entry);
    CAPTURE(std::string(entry.name.data(), entry.name.size()));
    for (int o = 0; o < asked.operands.ssize(); ++o)
      for (int d = 0; d < asked.operands[o].rank(); ++d) {
        tensor_descs split = asked.operands;
        split[o].layout.dims[d] = {0};
        split[o].layout.uneven = true;
        const operation_inference made =
            infer_operation(mesh, *asked.entry, asked.given, split, asked.wishes);
        if (made.ok() || made.verdict.rule != violation::dimension_is_split) continue;
        ++refused;
        CAPTURE(o, d);
        CHECK(!made.legal.empty());
        CHECK(made.to_permit == 1U);
      }
  }
  CHECK(refused > 50);
}
