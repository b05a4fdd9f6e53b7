// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/interop/array_view.hpp"
#include "shardwise/interop/dlpack_types.hpp"
#include "shardwise/interop/tensor_arrays.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace shardwise {

/// Calls the deleter of a managed tensor, which may be null.
struct release_dlpack {
  template <DlpackTensor M>
  void operator()(M* managed) const {
    if (managed->deleter != nullptr) managed->deleter(managed);
  }
};

/// A managed tensor whose deleter is called once, when nobody has taken it. `release()` gives it to
/// another library, which calls the deleter.
template <DlpackTensor M = dlpack::managed_tensor_versioned>
using dlpack_ptr = std::unique_ptr<M, release_dlpack>;

namespace detail {

/// Reads the array of a managed tensor. Fails for one that the host cannot read, or with elements
/// other than `T`.
template <class T, class Tensor>
[[nodiscard]] strided<T> read_dlpack(const Tensor& tensor) {
  using dlpack::memory_kind;
  const auto where = static_cast<memory_kind>(tensor.device.device_type);
  if (where != memory_kind::cpu && where != memory_kind::cuda_host &&
      where != memory_kind::rocm_host)
    fail_array(message_text() << "it is in memory of kind "
                              << static_cast<index_t>(tensor.device.device_type)
                              << ", which the host cannot read: copy it to the CPU first");
  using V = std::remove_const_t<T>;
  const auto& type = tensor.dtype;
  if (internal::element_of_dlpack(type.code, type.bits, type.lanes) != element_of<V>)
    fail_array(message_text() << "its elements have code " << index_t{type.code} << ", "
                              << index_t{type.bits} << " bits and " << index_t{type.lanes}
                              << " lanes, and are not " << to_text(element_of<V>));
  if (tensor.ndim < 0 || tensor.ndim > max_rank)
    fail_array(message_text() << "it has " << index_t{tensor.ndim}
                              << " dimensions, and a tensor has at most " << index_t{max_rank});
  if (tensor.ndim > 0 && tensor.shape == nullptr) fail_array("it has dimensions, and no shape");
  strided<T> out;
  for (int d = 0; d < tensor.ndim; ++d) out.extents.push_back(tensor.shape[d]);
  if (tensor.strides == nullptr)
    out.strides = compact_strides(out.extents);
  else
    for (int d = 0; d < tensor.ndim; ++d) out.strides.push_back(tensor.strides[d]);
  if (tensor.data != nullptr)
    out.data = static_cast<T*>(
        static_cast<void*>(static_cast<std::byte*>(tensor.data) + tensor.byte_offset));
  return out;
}

/// Takes a managed tensor: its deleter is called when the last copy of the view is gone, or now if
/// it is refused.
template <class T, DlpackTensor M>
[[nodiscard]] array_view<T> take_dlpack(dlpack_ptr<M> managed) {
  if (managed == nullptr) fail_array("there is none: its address is null");
  if constexpr (internal::VersionedDlpackTensor<M>) {
    if (managed->version.major != dlpack::major_version)
      fail_array(message_text() << "it is of version " << index_t{managed->version.major}
                                << " of DLPack, not " << index_t{dlpack::major_version});
    if (!std::is_const_v<T> && (managed->flags & dlpack::read_only) != 0)
      fail_array("it is read-only: from_dlpack reads it");
  }
  const strided<T> elements = read_dlpack<T>(managed->dl_tensor);
  return {elements.data, elements.extents, elements.strides,
          std::shared_ptr<M>(std::move(managed))};
}

/// Returns a view of a row-major copy of an array, which owns it.
template <class T>
[[nodiscard]] array_view<T> copy_of_array(const array_view<const T>& array) {
  auto copy = std::make_shared<host_elements<T>>();
  make_elements<T>(*copy, array.size());
  T* const first = copy->data();
  const extents_desc strides = row_major(array.extents());
  if (array.size() > 0) copy_elements<T>(array.elements(), {first, array.extents(), strides});
  return {first, array.extents(), strides, std::move(copy)};
}

/// A managed tensor, and what it refers to.
template <class M>
struct exported_array {
  M managed{};
  std::array<std::int64_t, max_rank> shape{}, strides{};
  std::shared_ptr<const void> owner{};
};

template <class M, class T>
[[nodiscard]] dlpack_ptr<M> export_array(const array_view<T>& array) {
  auto made = std::make_unique<exported_array<M>>();
  M& managed = made->managed;
  auto& tensor = managed.dl_tensor;
  tensor.data = const_cast<void*>(static_cast<const void*>(array.data()));
  tensor.device.device_type =
      static_cast<decltype(tensor.device.device_type)>(dlpack::memory_kind::cpu);
  tensor.ndim = array.rank();
  const dlpack::data_type type = internal::dlpack_type_of(element_of<std::remove_const_t<T>>);
  tensor.dtype = {type.code, type.bits, type.lanes};
  for (int d = 0; d < array.rank(); ++d) {
    made->shape[static_cast<std::size_t>(d)] = array.extents()[d];
    made->strides[static_cast<std::size_t>(d)] = array.strides()[d];
  }
  tensor.shape = made->shape.data();
  tensor.strides = made->strides.data();
  if constexpr (internal::VersionedDlpackTensor<M>) {
    managed.version.major = dlpack::major_version;
    managed.version.minor = dlpack::minor_version;
    managed.flags = std::is_const_v<T> ? dlpack::read_only : 0;
  }
  made->owner = array.owner();
  managed.manager_ctx = made.get();
  managed.deleter = [](M* self) { delete static_cast<exported_array<M>*>(self->manager_ctx); };
  return dlpack_ptr<M>(&made.release()->managed);
}

}  // namespace detail

/// Takes an array of another library by DLPack, for reading. The view owns the managed tensor: its
/// deleter is called once, when the last copy of the view is gone, on the thread that has it.
///
/// Throws `host_array_is_unusable` if the array is not in memory that the host can read, or has
/// other elements than `T`, more than 8 dimensions or negative strides, or follows another major
/// version of DLPack. The deleter is called then, too. `M` is `DLManagedTensor` or
/// `DLManagedTensorVersioned` of any `dlpack.h`, or of `shardwise::dlpack`.
///
///     auto x = distribute<X>(pool, from_dlpack<float>(managed));
template <Element T, DlpackTensor M>
[[nodiscard]] array_view<const T> from_dlpack(M* managed) {
  return detail::take_dlpack<const T>(dlpack_ptr<M>(managed));
}
template <Element T, DlpackTensor M>
[[nodiscard]] array_view<const T> from_dlpack(dlpack_ptr<M> managed) {
  return detail::take_dlpack<const T>(std::move(managed));
}
/// The same for writing, as by `copy_to`; throws for an array that is read-only.
template <Element T, DlpackTensor M>
[[nodiscard]] array_view<T> from_dlpack_to_write(M* managed) {
  return detail::take_dlpack<T>(dlpack_ptr<M>(managed));
}
template <Element T, DlpackTensor M>
[[nodiscard]] array_view<T> from_dlpack_to_write(dlpack_ptr<M> managed) {
  return detail::take_dlpack<T>(std::move(managed));
}

/// Gives an array to another library by DLPack. The managed tensor shares the owner of the view; if
/// there is none, the memory must outlive it.
///
/// A view of const elements is read-only. `DLManagedTensor`, which has no version, cannot say so:
/// it gets a copy of them.
///
///     auto managed = to_dlpack(as_array(matrix));
///     take(to_dlpack<DLManagedTensor>(local(x, 3)).release());
template <DlpackTensor M = dlpack::managed_tensor_versioned, class T>
[[nodiscard]] dlpack_ptr<M> to_dlpack(const array_view<T>& array) {
  if constexpr (std::is_const_v<T> && !internal::VersionedDlpackTensor<M>)
    return detail::export_array<M>(detail::copy_of_array<std::remove_const_t<T>>(array));
  else
    return detail::export_array<M>(array);
}
/// The shard of a device, for reading: its memory is shared, not copied, and stays as it is.
template <DlpackTensor M = dlpack::managed_tensor_versioned, class T>
[[nodiscard]] dlpack_ptr<M> to_dlpack(const local_shard<T>& shard) {
  return to_dlpack<M>(as_array(shard));
}
/// A tensor on the host that is moved in, for reading and writing.
///
///     auto managed = to_dlpack(to_host(x));
template <DlpackTensor M = dlpack::managed_tensor_versioned, class T>
[[nodiscard]] dlpack_ptr<M> to_dlpack(host_tensor<T>&& host) {
  const auto owner = std::make_shared<host_tensor<T>>(std::move(host));
  T* const first = const_cast<T*>(owner->data());  // the elements of a tensor that is not const
  return to_dlpack<M>(array_view<T>(first, owner->extents(), row_major(owner->extents()), owner));
}

}  // namespace shardwise
