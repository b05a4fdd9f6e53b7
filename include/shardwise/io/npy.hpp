// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/host/host_block.hpp"
#include "shardwise/io/load_array.hpp"
#include "shardwise/io/npy_header.hpp"
#include "shardwise/nn/state_entry.hpp"
#include "shardwise/rule/strided_elements.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace shardwise {

namespace detail {

/// Writes an NPY file of row-major elements.
void write_npy(const std::string& path, element type, const extents_desc& extents,
               std::span<const std::byte> elements);
/// The same for a tensor, which is gathered.
void write_npy(const std::string& path, const const_state_entry& tensor);

/// Writes a block of host memory, whose elements are packed first if they have strides.
template <class T>
void write_npy(const std::string& path, const strided<const T>& block) {
  const auto count = static_cast<std::size_t>(block.size());
  if (block.strides == row_major(block.extents))
    return write_npy(path, element_of<T>, block.extents,
                     std::as_bytes(std::span<const T>(block.data, count)));
  host_elements<T> packed;
  make_elements<T>(packed, block.size());
  copy_elements(block, strided<T>{packed.data(), block.extents, row_major(block.extents)});
  write_npy(path, element_of<T>, block.extents,
            std::as_bytes(std::span<const T>(packed.data(), count)));
}

template <class B>
using element_of_block_t = typename element_of_block<B>::type;

}  // namespace detail

/// Loads an NPY file as a tensor of type `X`, or with a run-time layout; see `load_array`.
///
///     const auto x = load_npy<X>(pool, "x.npy");
///     const auto y = load_npy<float>(pool, "y.npy", spec_desc{{"data", ""}});
///     const auto z = load_npy<X>(pool, "doubles.npy", stored_elements::converted);
template <ShardedTensor X>
[[nodiscard]] X load_npy(const device_pool& pool, const std::string& path,
                         stored_elements how = stored_elements::same) {
  return load_array<X>(pool, open_npy(path), how);
}
template <Element T>
[[nodiscard]] any_tensor<T> load_npy(const device_pool& pool, const std::string& path,
                                     const spec_desc& spec,
                                     stored_elements how = stored_elements::same) {
  return load_array<T>(pool, open_npy(path), spec, how);
}

/// Saves a tensor to an NPY file, which replaces an existing one only when it is complete. It is
/// gathered; none may be pending over several devices or manual. If several processes share the
/// mesh, all of them must call it, and each writes the whole file. `bf16` is saved as the elements
/// `V2` of 2 bytes, since NumPy has no name for it.
///
///     save_npy("x.npy", x);
template <Readable X>
void save_npy(const std::string& path, const X& tensor) {
  if constexpr (Operand<X>) (void)sizeof(typename decltype(internal::judge_gather<X>())::type);
  detail::write_npy(path, const_state_entry("the tensor", tensor));
}
/// Saves elements in memory of the host: an Eigen matrix or vector, a `host_tensor`, or a
/// contiguous range, which has one dimension.
///
///     save_npy("scores.npy", std::vector<float>{1, 2, 3});
template <HostBlock B>
  requires(!Readable<B> && Element<detail::element_of_block_t<B>>)
void save_npy(const std::string& path, const B& block) {
  if constexpr (RunOfElements<B>) {
    const extents_desc extents{static_cast<index_t>(std::ranges::size(block))};
    detail::write_npy<detail::element_of_block_t<B>>(
        path, {std::ranges::data(block), extents, row_major(extents)});
  } else {
    int rank = 2;
    if constexpr (requires { B::IsVectorAtCompileTime; }) rank = B::IsVectorAtCompileTime ? 1 : 2;
    detail::write_npy(path, internal::block_of(block, rank).view);
  }
}
/// Saves a contiguous range of row-major elements with these extents. Throws `host_size_differs`.
///
///     save_npy("images.npy", pixels, {60000, 28, 28});
template <RunOfElements B>
  requires(Element<detail::element_of_block_t<B>>)
void save_npy(const std::string& path, const B& run, const extents_desc& extents) {
  const auto have = static_cast<index_t>(std::ranges::size(run));
  if (have != element_count(extents))
    fail({.rule = violation::host_size_differs, .have = have, .want = element_count(extents)});
  detail::write_npy<detail::element_of_block_t<B>>(
      path, {std::ranges::data(run), extents, row_major(extents)});
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/npy_work.hpp"
#endif
