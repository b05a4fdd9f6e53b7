// SPDX-License-Identifier: BSL-1.0
// Arrays of other libraries by DLPack: who calls the deleter, and what is refused.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/interop.hpp>
#include <shardwise/shardwise.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif

using namespace shardwise;
using Catch::Contains;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec, partial<>, uneven>>;
using X = tensor<float, P<"data", "model">, 2, 3>;

/// An array of another library: counts calls of its deleter, which frees it.
template <class M>
struct foreign {
  M managed{};
  std::vector<std::int64_t> shape, strides;
  std::vector<float> memory = std::vector<float>(64);
  int* deleted = nullptr;
};
template <class M>
M* make_foreign(int& deleted, std::vector<std::int64_t> shape,
                std::optional<std::vector<std::int64_t>> strides = std::nullopt,
                dlpack::data_type type = {2, 32, 1}) {
  auto* const made = new foreign<M>;
  made->shape = std::move(shape);
  if (strides) made->strides = std::move(*strides);
  for (std::size_t i = 0; i < made->memory.size(); ++i) made->memory[i] = static_cast<float>(i);
  made->deleted = &deleted;
  auto& tensor = made->managed.dl_tensor;
  tensor.data = made->memory.data();
  tensor.device.device_type = static_cast<decltype(tensor.device.device_type)>(1);
  tensor.ndim = static_cast<std::int32_t>(made->shape.size());
  tensor.dtype = {type.code, type.bits, type.lanes};
  tensor.shape = made->shape.data();
  tensor.strides = strides ? made->strides.data() : nullptr;
  made->managed.manager_ctx = made;
  made->managed.deleter = [](M* self) {
    auto* const mine = static_cast<foreign<M>*>(self->manager_ctx);
    ++*mine->deleted;
    delete mine;  // and with it `self`
  };
  return &made->managed;
}

using versioned = dlpack::managed_tensor_versioned;
using plain = dlpack::managed_tensor;

/// The rule that an array breaks, whose deleter must have been called once.
template <class M, class T = float, class Change>
std::string words_when_refused(const Change& change) {
  int deleted = 0;
  M* const managed = make_foreign<M>(deleted, {2, 3});
  change(*managed);
  std::string words;
  try {
    (void)from_dlpack<T>(managed);
  } catch (const error& refused) {
    words = refused.what();
  }
  REQUIRE(deleted == 1);
  return words;
}

template <class M>
void require_read() {
  const device_pool pool(pod{}, 2);
  int deleted = 0;
  {
    // No strides: row-major.
    const auto array = from_dlpack<float>(make_foreign<M>(deleted, {2, 3}));
    REQUIRE((array.is_contiguous() && array(1, 2) == 5.0F));
    const X x = distribute<X>(pool, array);
    REQUIRE(to_host(x)(1, 0) == 3.0F);
    const auto copy = array;
    REQUIRE(deleted == 0);
  }
  REQUIRE(deleted == 1);
  // Strides, an offset, and a dimension of size 1 whose stride is never taken.
  M* const managed = make_foreign<M>(deleted, {1, 3, 2}, std::vector<std::int64_t>{-5, 1, 10});
  managed->dl_tensor.byte_offset = 8;
  {
    const auto array = from_dlpack<float>(managed);
    REQUIRE((array(0, 0, 0) == 2.0F && array(0, 2, 1) == 14.0F));
    // In and out again: the same elements, and one owner.
    auto again = to_dlpack(array);
    REQUIRE(from_dlpack<float>(std::move(again))(0, 2, 1) == 14.0F);
    REQUIRE(deleted == 1);
  }
  REQUIRE(deleted == 2);
  // Empty arrays, with strides of any kind and without an address.
  REQUIRE(from_dlpack<float>(make_foreign<M>(deleted, {1, 8, 0, 128})).size() == 0);
  REQUIRE(from_dlpack<float>(
              make_foreign<M>(deleted, {1, 8, 0, 128}, std::vector<std::int64_t>{1, 0, 128, 1}))
              .size() == 0);
  M* const nowhere = make_foreign<M>(deleted, {0, 3});
  nowhere->dl_tensor.data = nullptr;
  nowhere->dl_tensor.byte_offset = 8;
  using Empty = sharded_tensor<float, extents<dyn, 3>, layout<pod, P<none, none>>>;
  REQUIRE(to_host(distribute<Empty>(pool, from_dlpack<float>(nowhere))).size() == 0);
  REQUIRE(deleted == 5);
  // One without a deleter.
  M* const kept = make_foreign<M>(deleted, {});
  auto* const context = static_cast<foreign<M>*>(kept->manager_ctx);
  kept->deleter = nullptr;
  REQUIRE(from_dlpack<float>(kept)() == 0.0F);
  delete context;
  // Another thread has the last copy.
  std::optional shared(from_dlpack<float>(make_foreign<M>(deleted, {2})));
  std::thread([held = *shared] { (void)held; }).join();
  REQUIRE(deleted == 5);
  std::thread([held = std::move(shared)]() mutable { held.reset(); }).join();
  shared.reset();
  REQUIRE(deleted == 6);
}

template <class M>
void require_refusals() {
  using words = std::vector<std::int64_t>;
  CHECK_THAT(words_when_refused<M>([](M& m) { m.dl_tensor.dtype.bits = 64; }),
             Contains("host_array_is_unusable") && Contains("64 bits") && Contains("not f32"));
  CHECK_THAT((words_when_refused<M, double>([](M&) {})), Contains("not f64"));
  CHECK_THAT(words_when_refused<M>([](M& m) { m.dl_tensor.dtype.lanes = 4; }), Contains("4 lanes"));
  CHECK_THAT(words_when_refused<M>([](M& m) {
               m.dl_tensor.device.device_type =
                   static_cast<decltype(m.dl_tensor.device.device_type)>(2);
             }),
             Contains("memory of kind 2"));
  CHECK_THAT(words_when_refused<M>([](M& m) { m.dl_tensor.ndim = 9; }), Contains("9 dimensions"));
  CHECK_THAT(words_when_refused<M>([](M& m) { m.dl_tensor.ndim = -1; }), Contains("-1 dimensions"));
  CHECK_THAT(words_when_refused<M>([](M& m) { m.dl_tensor.shape = nullptr; }),
             Contains("no shape"));
  CHECK_THAT(words_when_refused<M>([](M& m) { m.dl_tensor.data = nullptr; }),
             Contains("no address"));
  CHECK_THAT(words_when_refused<M>([](M& m) { m.dl_tensor.byte_offset = 2; }),
             Contains("alignment"));
  CHECK_THAT(words_when_refused<M>([](M& m) { m.dl_tensor.shape[0] = -1; }),
             Contains("extent_is_negative"));
  CHECK_THAT(words_when_refused<M>([](M& m) { m.dl_tensor.shape[0] = std::int64_t{1} << 60; }),
             Contains("tensor_is_too_large"));
  static words negative{-3, 1};
  CHECK_THAT(words_when_refused<M>([](M& m) { m.dl_tensor.strides = negative.data(); }),
             Contains("stride is negative"));
}

template <class T>
void require_round_trip(const device_pool& pool) {
  using V = tensor<T, P<none>, 3>;
  const V x = cast<T>(iota<tensor<float, P<none>, 3>>(pool));
  for (int turn = 0; turn < 2; ++turn) {
    const auto array = turn == 0 ? from_dlpack<T>(to_dlpack(local(x, 0)))
                                 : from_dlpack<T>(to_dlpack<plain>(to_host(x)));
    REQUIRE(to_host(distribute<V>(pool, array)) == to_host(x));
  }
}

}  // namespace

TEST_CASE("an array comes by DLPack, and its deleter is called once") {
  require_read<plain>();
  require_read<versioned>();
}

TEST_CASE("an array that DLPack brings and the host cannot use is refused, and released once") {
  require_refusals<plain>();
  require_refusals<versioned>();
  CHECK_THAT(words_when_refused<versioned>([](versioned& m) { m.version.major = 2; }),
             Contains("version 2 of DLPack"));
  CHECK(words_when_refused<versioned>([](versioned& m) { m.version.minor = 9; }).empty());
  CHECK(refusal([] { return from_dlpack<float>(static_cast<plain*>(nullptr)).size(); }) ==
        violation::host_array_is_unusable);
}

TEST_CASE("a shard goes out by DLPack, shared and for reading") {
  std::optional<dlpack_ptr<>> kept;
  const float* address = nullptr;
  {
    const device_pool pool(pod{}, 2);
    X x = iota<X>(pool);
    address = local(x, 2).elements().data();
    kept = to_dlpack(local(x, 2));
    x += 100.0F;
    (void)to_host(x);
  }
  const dlpack::tensor& out = (*kept)->dl_tensor;
  REQUIRE(((*kept)->version.major == 1 && (*kept)->flags == dlpack::read_only));
  REQUIRE(((*kept)->dl_tensor.data == address && out.byte_offset == 0));  // not copied
  REQUIRE((out.ndim == 2 && out.shape[0] == 1 && out.shape[1] == 2 && out.strides[1] == 1));
  REQUIRE((out.dtype.code == 2 && out.dtype.bits == 32 && out.dtype.lanes == 1));
  REQUIRE((out.device.device_type == 1 && out.device.device_id == 0));
  REQUIRE(static_cast<const float*>(out.data)[1] == 4.0F);
  REQUIRE(refusal([&] { return from_dlpack_to_write<float>(std::move(*kept)).size(); }) ==
          violation::host_array_is_unusable);

  // Without a version nobody could say that it is read-only.
  const device_pool pool(pod{}, 2);
  const X x = iota<X>(pool);
  dlpack_ptr<plain> copy = to_dlpack<plain>(local(x, 2));
  REQUIRE(copy->dl_tensor.data != local(x, 2).elements().data());
  const auto writable = from_dlpack_to_write<float>(copy.release());
  writable(0, 1) = 7.0F;
  REQUIRE(to_host(x)(1, 1) == 4.0F);
}

TEST_CASE("what goes out by DLPack is released once, whoever takes it") {
  const device_pool pool(pod{}, 2);
  const X x = iota<X>(pool);
  const auto owner = std::make_shared<const int>(3);
  float memory[6] = {0, 1, 2, 3, 4, 5};
  const array_view<float> view(memory, {2, 3}, {3, 1}, owner);
  REQUIRE(owner.use_count() == 2);
  { const auto never_taken = to_dlpack(view); }
  REQUIRE(owner.use_count() == 2);
  // By another library: the deleter frees its argument, on another thread.
  versioned* const taken = to_dlpack(view).release();
  REQUIRE((owner.use_count() == 3 && taken->flags == 0));
  std::thread([taken] { taken->deleter(taken); }).join();
  REQUIRE(owner.use_count() == 2);
  // Refused.
  REQUIRE(refusal([&] { return from_dlpack<double>(to_dlpack(view)).size(); }) ==
          violation::host_array_is_unusable);
  REQUIRE(owner.use_count() == 2);
  // To be written by this one.
  copy_to(x * 2.0F, from_dlpack_to_write<float>(to_dlpack(view)));
  REQUIRE((memory[5] == 10.0F && owner.use_count() == 2));
}

TEST_CASE("all elements of tensors go out and in by DLPack") {
  const device_pool pool(pod{}, 2);
  require_round_trip<float>(pool);
  require_round_trip<double>(pool);
  require_round_trip<std::int32_t>(pool);
  require_round_trip<std::int64_t>(pool);
  require_round_trip<bool>(pool);
  require_round_trip<std::int8_t>(pool);
  require_round_trip<std::uint8_t>(pool);
  require_round_trip<bfloat16>(pool);
  require_round_trip<float16>(pool);
  for (int code = 0; code < 8; ++code)
    for (const int bits : {4, 8, 16, 32, 64, 128})
      if (const auto type = internal::element_of_dlpack(static_cast<std::uint8_t>(code),
                                                        static_cast<std::uint8_t>(bits), 1)) {
        const dlpack::data_type back = internal::dlpack_type_of(*type);
        REQUIRE((back.code == code && back.bits == bits));
      }
}

#if __has_include(<dlpack/dlpack.h>)
TEST_CASE("the structures of a dlpack.h have the form of those of the library") {
  require_read<DLManagedTensor>();
  require_refusals<DLManagedTensor>();
  static_assert(sizeof(DLManagedTensor) == sizeof(plain) &&
                sizeof(DLTensor) == sizeof(dlpack::tensor));
  static_assert(offsetof(DLTensor, byte_offset) == offsetof(dlpack::tensor, byte_offset));
  static_assert(offsetof(DLTensor, dtype) == offsetof(dlpack::tensor, dtype));
#if defined(DLPACK_MAJOR_VERSION)
  require_read<DLManagedTensorVersioned>();
  require_refusals<DLManagedTensorVersioned>();
  static_assert(sizeof(DLManagedTensorVersioned) == sizeof(versioned));
#endif
}
#endif
