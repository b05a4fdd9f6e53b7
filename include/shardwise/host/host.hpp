// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/device_pool.hpp"
#include "shardwise/host/eigen_names.hpp"
#include "shardwise/kernel/element_kernels.hpp"
#include "shardwise/runtime/sync.hpp"
#include "shardwise/tensor/any_tensor.hpp"
#include "shardwise/tensor/shown_as.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// Contiguous `bool` elements that own their memory, which `std::vector<bool>` is not.
class truth_values {
 public:
  truth_values() = default;
  explicit truth_values(std::size_t size) : values_(std::make_unique<bool[]>(size)), size_(size) {}
  explicit truth_values(const std::vector<bool>& values) : truth_values(values.size()) {
    std::copy(values.begin(), values.end(), data());
  }
  truth_values(const truth_values& other) : truth_values(other.size_) {
    std::copy_n(other.data(), size_, data());
  }
  truth_values(truth_values&&) noexcept = default;
  truth_values& operator=(truth_values other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~truth_values() = default;

  [[nodiscard]] bool* data() noexcept { return values_.get(); }
  [[nodiscard]] const bool* data() const noexcept { return values_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const bool* begin() const noexcept { return data(); }
  [[nodiscard]] const bool* end() const noexcept { return data() + size_; }
  [[nodiscard]] const bool& operator[](std::size_t i) const noexcept { return values_[i]; }
  [[nodiscard]] const bool& front() const noexcept { return values_[0]; }

  friend bool operator==(const truth_values& a, const truth_values& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::unique_ptr<bool[]> values_;
  std::size_t size_ = 0;
};

/// Fails unless a tensor of these extents has this number of elements.
void require_size(const extents_desc& extents, index_t size);

/// The container that owns the elements of a tensor on the host.
template <class T>
using host_elements = std::conditional_t<std::is_same_v<T, bool>, truth_values, std::vector<T>>;

}  // namespace detail

namespace detail {
/// Gives a container this number of elements. Throws `out_of_memory`.
template <class T>
void make_elements(host_elements<T>& to, index_t count) {
  with_memory_for(count, sizeof(T),
                  [&] { to = host_elements<T>(static_cast<std::size_t>(count)); });
}
}  // namespace detail

/// A whole tensor in host memory: row-major elements and their extents.
///
/// Converts to a `std::vector` of its elements and, if the rank is at most 2, to an Eigen matrix,
/// vector or array (the program includes `<Eigen/Core>`), and prints with `<<`.
template <class T>
class host_tensor {
 public:
  /// There is one element for each index.
  host_tensor(extents_desc extents, detail::host_elements<T> elements)
      : extents_(extents), elements_(std::move(elements)) {
    detail::require_size(extents_, size());
  }

  /// Returns the number of elements along each dimension.
  [[nodiscard]] const extents_desc& extents() const noexcept { return extents_; }
  /// Returns the elements, row-major.
  [[nodiscard]] std::span<const T> elements() const& noexcept {
    return {elements_.data(), elements_.size()};
  }
  /// For a temporary, returns the elements by value, so `for (float v : to_host(y).elements())` is
  /// safe.
  [[nodiscard]] detail::host_elements<T> elements() && noexcept { return std::move(elements_); }
  /// The elements as a contiguous range, row-major.
  [[nodiscard]] const T* data() const noexcept { return elements_.data(); }
  [[nodiscard]] const T* begin() const noexcept { return elements_.data(); }
  [[nodiscard]] const T* end() const noexcept { return elements_.data() + elements_.size(); }
  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(elements_.size()); }

  /// Returns the element at one index for each dimension, counted from 0 and below the extent.
  template <std::convertible_to<index_t>... I>
  [[nodiscard]] const T& operator()(I... indices) const {
    if (sizeof...(I) != extents_.size())
      fail({.rule = violation::operand_rank_differs,
            .have = index_t{sizeof...(I)},
            .want = extents_.ssize()});
    [[maybe_unused]] const inplace_vector<index_t, max_rank> strides = row_major(extents_);
    index_t offset = 0;
    int d = 0;
    [[maybe_unused]] const auto along = [&](index_t i) {
      if (i < 0 || i >= extents_[d])
        fail({.rule = violation::index_is_out_of_range, .dim = d, .have = i, .want = extents_[d]});
      return i * strides[d++];
    };
    ((offset += along(static_cast<index_t>(indices))), ...);
    return elements_[static_cast<std::size_t>(offset)];
  }

  /// Returns the only element of a tensor of rank 0.
  [[nodiscard]] const T& value() const {
    if (!extents_.empty())
      fail({.rule = violation::operand_rank_differs, .have = extents_.ssize(), .want = 0});
    return elements_.front();
  }

  /// Converts to a matrix (rank 2), a column or, if the target is a row, a row (rank 1), or one
  /// element (rank 0); fixed sizes must be those of the tensor.
  template <int Rows, int Columns, int Options>
  operator Eigen::Matrix<T, Rows, Columns, Options, Rows, Columns>() const {
    return rows_of<Rows, Columns>();
  }
  template <int Rows, int Columns, int Options>
  operator Eigen::Array<T, Rows, Columns, Options, Rows, Columns>() const {
    return rows_of<Rows, Columns>().array();
  }

  /// Converts to a vector of the row-major elements.
  operator std::vector<T>() const& {
    std::vector<T> out;
    internal::with_memory_for(size(), sizeof(T), [&] { out.assign(begin(), end()); });
    return out;
  }
  operator std::vector<T>() && {
    if constexpr (std::is_same_v<detail::host_elements<T>, std::vector<T>>)
      return std::move(elements_);
    else
      return std::as_const(*this);
  }

  /// Deleted, since the rank is known only at run time. (Only for floating-point numbers, since
  /// Eigen would take integers for sizes.)
  template <std::floating_point N>
  operator N() const = delete;  // value() is the one number of a tensor of rank 0

  friend bool operator==(const host_tensor&, const host_tensor&) = default;

 private:
  /// Returns a view of the elements as an Eigen matrix whose fixed sizes are these.
  template <int Rows, int Columns>
  [[nodiscard]] auto rows_of() const {
    if (extents_.size() > 2)
      fail({.rule = violation::operand_rank_differs, .have = extents_.ssize(), .want = 2});
    const bool is_row = Rows == 1 && extents_.size() == 1;
    const index_t rows = extents_.empty() || is_row ? 1 : extents_[0];
    const index_t columns = is_row ? extents_[0] : extents_.size() < 2 ? 1 : extents_[1];
    require_fixed(0, rows, Rows);
    require_fixed(1, columns, Columns);
    return detail::eigen_rows<T>(elements_.data(), rows, columns);
  }
  static void require_fixed(int dim, index_t have, index_t fixed) {
    if (fixed != detail::eigen_dynamic && fixed != have)
      fail({.rule = violation::host_size_differs, .dim = dim, .have = fixed, .want = have});
  }

  extents_desc extents_;
  detail::host_elements<T> elements_;
};

/// The shard of a device: a view of the shard's own memory, which it keeps alive.
template <class T>
class local_shard {
 public:
  local_shard(node_ptr owner, index_t device)
      : owner_(std::move(owner)),
        device_(device),
        part_(owner_->where().box_of(device)),
        memory_(owner_->shard(owner_->where().shard_of(device))) {}

  /// Returns the number of the device.
  [[nodiscard]] index_t device() const noexcept { return device_; }
  /// Returns the number of this device among those that hold the same elements, from 0.
  [[nodiscard]] index_t replica() const noexcept { return owner_->where().replica_of(device_); }
  /// Returns the global indices that it holds. Along a dimension with a grain they are not
  /// contiguous, and the range is in storage order (see `grained_split`): use `global` instead.
  [[nodiscard]] const index_box& range() const noexcept { return part_; }
  /// Returns the global index along a dimension of the element at local index `x`.
  [[nodiscard]] index_t global(int dimension, index_t x) const noexcept {
    return owner_->where().held_by(device_)[dimension].global(x);
  }
  /// Returns the extents of the shard.
  [[nodiscard]] extents_desc extents() const noexcept { return extents_of(part_); }

  /// Returns the elements, row-major.
  [[nodiscard]] std::span<const T> elements() const noexcept {
    return {static_cast<const T*>(static_cast<const void*>(memory_.data())),
            static_cast<std::size_t>(memory_.size()) / sizeof(T)};
  }
  /// Returns a handle of its memory, which keeps it as it is: a tensor that is changed later has
  /// another one.
  [[nodiscard]] const shard_buffer<std::byte>& memory() const noexcept { return memory_; }
  /// Returns the elements as an Eigen map: rank 2, or rank 1 as a column. Needs `<Eigen/Core>`.
  [[nodiscard]] auto matrix() const {
    static_assert(
        requires { sizeof(detail::eigen_rows<T>); },
        "include <Eigen/Core> to see a shard as a matrix");
    const extents_desc shape = extents();
    if (shape.size() > 2)
      fail({.rule = violation::operand_rank_differs, .have = shape.ssize(), .want = 2});
    return detail::eigen_rows<T>(elements().data(), shape.empty() ? 1 : shape[0],
                                 shape.size() < 2 ? 1 : shape[1]);
  }

 private:
  node_ptr owner_;
  index_t device_;
  index_box part_;
  shard_buffer<std::byte> memory_;
};

/// Returns the shard of one device, after computing the tensor if necessary. A pending reduction
/// stays pending: the elements are this device's term.
///
///     Eigen::MatrixXf block = local(x, 3).matrix();
template <class X>
[[nodiscard]] decltype(auto) local(const X& x, index_t device) {
  if constexpr (!Readable<X>) {
    return internal::reading<"local", X>::value();
  } else {
    node_ptr owner = x.share();
    if (device < 0 || device >= owner->where().mesh().devices())
      fail({.rule = violation::device_is_out_of_range,
            .have = device,
            .want = owner->where().mesh().devices()});
    if (!owner->where().owns(device))
      fail({.rule = violation::device_is_elsewhere, .have = device});
    owner->evaluate();
    return local_shard<typename X::value_type>(std::move(owner), device);
  }
}

/// Returns the shards of all devices, in the order of the devices and including replicas; if
/// several processes own the mesh, only those of this process.
template <class X>
[[nodiscard]] decltype(auto) shards(const X& x) {
  if constexpr (!Readable<X>) {
    return internal::reading<"shards", X>::value();
  } else {
    std::vector<local_shard<typename X::value_type>> all;
    const node_ptr owner = x.share();
    owner->evaluate();
    for (index_t d : owner->home()->own_devices()) all.emplace_back(owner, d);
    return all;
  }
}

/// Checks that the host can read a tensor: no reduction over several devices is pending, and no
/// axis is manual.
[[nodiscard]] constexpr diagnosis check_reading(const mesh_desc& mesh,
                                                const layout_desc& layout) noexcept {
  if (const unsigned pending = internal::axes_of_several(mesh, layout.pending); pending != 0)
    return {.rule = violation::partial_value_is_read,
            .operand = 0,
            .axis = internal::first_axis(mesh, pending)};
  if (layout.manual == 0) return {};
  return {.rule = violation::manual_axis_is_left,
          .axis = internal::first_axis(mesh, layout.manual)};
}

namespace internal {
/// Reports an error for a tensor that the host cannot read, with the call that fixes it.
void require_readable(const tensor_node& owner);
/// Copies all elements of a tensor to row-major memory, after computing it if necessary: on all
/// owners of the mesh, or only on a reader.
void gather_into(tensor_node& owner, void* memory, std::optional<index_t> reader = std::nullopt);
/// Returns true if this process is a given owner of the mesh of a tensor; fails if there is none.
[[nodiscard]] bool is_owner(const tensor_node& of, index_t owner);

}  // namespace internal

namespace detail {

/// Returns the elements of a tensor in host memory, after computing it if necessary; on owners
/// other than the reader, if there is one, an empty tensor.
template <class T>
[[nodiscard]] host_tensor<T> gather(const node_ptr& owner,
                                    std::optional<index_t> reader = std::nullopt) {
  const bool reads = !reader || is_owner(*owner, *reader);
  const extents_desc extents = reads ? owner->tensor().extents : extents_desc{0};
  host_elements<T> elements;
  run_for_owners(owner->home()->link(),
                 [&] { make_elements<T>(elements, element_count(extents)); });
  gather_into(*owner, elements.data(), reader);
  return host_tensor<T>(extents, std::move(elements));
}
}  // namespace detail

/// The name of `to_host` in errors.
struct host_read;

namespace internal {

/// Checks that a tensor can be gathered.
template <class X>
[[nodiscard]] constexpr auto judge_gather() noexcept {
  if constexpr (!Readable<X> || !Operand<X>) {
    return judge_reading<"to_host", X>();
  } else {
    using layout = typename X::layout_type;
    constexpr auto verdict = [] { return check_reading(mesh_of<X>::value, layout::value); };
    if constexpr (verdict().ok()) {
      return allowed<X>{};
    } else if constexpr (verdict().rule == violation::partial_value_is_read) {
      return answer_to<host_read>(
          verdict, text_shown<suggested>([] {
            const mesh_desc& mesh = mesh_of<X>::value;
            return call_of(mesh, propose(mesh, {}, {paper_of<X>::value}, decltype(verdict){}()),
                           "");
          }));
    } else {
      return answer_to<mesh_of<X>, typename layout::spec_type>(verdict);
    }
  }
}

}  // namespace internal

namespace detail {
/// Checks what the type of an `any_tensor` does not tell: that the host can read it.
template <class X>
void require_gatherable(const X& x) {
  if constexpr (!Operand<X>) require_readable(*x.share());
}
}  // namespace detail

/// Gathers a tensor into host memory, after computing it if necessary. If several processes own the
/// mesh, all must call it together, and all get the tensor. A pending reduction over several
/// devices, or a manual axis, is a compile-time error (for an `any_tensor`, an exception): finish
/// it with `reshard` first.
///
///     std::cout << to_host(y) << '\n';
///     Eigen::MatrixXf values = to_host(y);
template <class X>
[[nodiscard]] decltype(auto) to_host(const X& x) {
  using outcome = internal::given<decltype(internal::judge_gather<X>())>;
  if constexpr (outcome::is_refusal) {
    return outcome::value();
  } else {
    detail::require_gatherable(x);
    return detail::gather<typename X::value_type>(x.share());
  }
}

/// Gathers a tensor into the memory of one owner of the mesh only, after computing it if necessary:
/// a `std::optional` that is empty on the other owners. All owners must call it together, like
/// `to_host`. A program of one process is owner 0.
///
/// Throws `owner_is_out_of_range`.
///
///     const auto weights = to_host_on(0, w);
///     if (weights) write(*weights);
template <class X>
[[nodiscard]] decltype(auto) to_host_on(index_t owner, const X& x) {
  using outcome = internal::given<decltype(internal::judge_gather<X>())>;
  if constexpr (outcome::is_refusal) {
    return outcome::value();
  } else {
    detail::require_gatherable(x);
    const node_ptr read = x.share();
    std::optional<host_tensor<typename X::value_type>> out =
        detail::gather<typename X::value_type>(read, owner);
    if (!internal::is_owner(*read, owner)) out.reset();
    return out;
  }
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/host/host_work.hpp"
#endif
