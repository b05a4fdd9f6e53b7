// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/element.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace shardwise {

/// The structures of DLPack 1.1, for programs that have no `dlpack.h`. Those of any `dlpack.h` have
/// the same form in memory, and `from_dlpack` and `to_dlpack` take them as well.
namespace dlpack {

/// The version of the interface that these structures follow: another minor version adds types and
/// flags only.
inline constexpr std::uint32_t major_version = 1, minor_version = 1;

/// Kinds of memory that the host can read; others exist.
enum class memory_kind : std::int32_t { cpu = 1, cuda_host = 3, rocm_host = 11 };
/// Kinds of elements; others exist.
enum class type_code : std::uint8_t {
  integer = 0,
  unsigned_integer = 1,
  floating = 2,
  bfloat = 4,
  boolean = 6
};

struct device {
  std::int32_t device_type = 1;
  std::int32_t device_id = 0;
};
struct data_type {
  std::uint8_t code = 0;
  std::uint8_t bits = 0;
  std::uint16_t lanes = 1;
};
/// `DLTensor`.
struct tensor {
  void* data = nullptr;
  dlpack::device device{};
  std::int32_t ndim = 0;
  data_type dtype{};
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;
  std::uint64_t byte_offset = 0;
};
/// `DLManagedTensor`.
struct managed_tensor {
  tensor dl_tensor{};
  void* manager_ctx = nullptr;
  void (*deleter)(managed_tensor*) = nullptr;
};
/// `DLPackVersion`.
struct version {
  std::uint32_t major = major_version, minor = minor_version;
};
/// The elements must not be written, and: they are a copy, not shared.
inline constexpr std::uint64_t read_only = 1, is_copied = 2;
/// `DLManagedTensorVersioned`.
struct managed_tensor_versioned {
  dlpack::version version{};
  void* manager_ctx = nullptr;
  void (*deleter)(managed_tensor_versioned*) = nullptr;
  std::uint64_t flags = 0;
  tensor dl_tensor{};
};

static_assert(sizeof(tensor) == 48 && offsetof(tensor, shape) == 24 &&
              offsetof(tensor, byte_offset) == 40 && offsetof(tensor, dtype) == 20);
static_assert(sizeof(managed_tensor) == 64 && offsetof(managed_tensor, deleter) == 56);
static_assert(sizeof(managed_tensor_versioned) == 80 &&
              offsetof(managed_tensor_versioned, dl_tensor) == 32 &&
              offsetof(managed_tensor_versioned, flags) == 24);

}  // namespace dlpack

/// A managed tensor of DLPack: of this library or of a `dlpack.h`, with a version or without.
template <class M>
concept DlpackTensor = requires(M& m) {
  m.dl_tensor.shape[0] + m.dl_tensor.strides[0];
  m.dl_tensor.byte_offset;
  m.manager_ctx;
  m.deleter(&m);
};

namespace internal {

/// True for a managed tensor with a version and flags.
template <class M>
concept VersionedDlpackTensor = DlpackTensor<M> && requires(M& m) {
  m.version.major;
  m.flags;
};

/// Returns the elements of a type of DLPack, or nothing if no tensor has such elements.
[[nodiscard]] constexpr std::optional<element> element_of_dlpack(std::uint8_t code,
                                                                 std::uint8_t bits,
                                                                 std::uint16_t lanes) noexcept {
  using dlpack::type_code;
  if (lanes != 1) return std::nullopt;
  const auto is = [&](type_code wanted, int size) {
    return code == static_cast<std::uint8_t>(wanted) && bits == size;
  };
  if (is(type_code::floating, 32)) return element::f32;
  if (is(type_code::floating, 64)) return element::f64;
  if (is(type_code::floating, 16)) return element::f16;
  if (is(type_code::bfloat, 16)) return element::bf16;
  if (is(type_code::integer, 8)) return element::i8;
  if (is(type_code::integer, 32)) return element::i32;
  if (is(type_code::integer, 64)) return element::i64;
  if (is(type_code::unsigned_integer, 8)) return element::u8;
  if (is(type_code::boolean, 8)) return element::boolean;
  return std::nullopt;
}

/// Returns the type of elements in DLPack.
[[nodiscard]] constexpr dlpack::data_type dlpack_type_of(element type) noexcept {
  using dlpack::type_code;
  const type_code code = type == element::boolean ? type_code::boolean
                         : type == element::bf16  ? type_code::bfloat
                         : has_fractions(type)    ? type_code::floating
                         : type == element::u8    ? type_code::unsigned_integer
                                                  : type_code::integer;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of(type)), 1};
}

}  // namespace internal

}  // namespace shardwise
