// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/process/host_exchange.hpp"

#include <chrono>
#include <concepts>
#include <cstring>
#include <ostream>
#include <ranges>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

/// Returns the number of this process among those that run the program, and how many there are:
/// 0 of 1 in a program of one process.
[[nodiscard]] index_t process_index();
[[nodiscard]] index_t process_count();
/// The same among the processes of its host, which share memory. Waits until all have started.
[[nodiscard]] index_t host_process_index();
[[nodiscard]] index_t host_process_count();

namespace internal {

/// Writes to the standard output at once, if this is the first process.
void print_from_first(const std::string& text);

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = !std::same_as<T, bool>;

/// A value whose bytes mean the same in every process: neither a pointer nor a view.
template <class T>
concept PlainValue =
    std::is_trivially_copyable_v<T> && std::default_initializable<T> && !std::is_pointer_v<T> &&
    !std::is_member_pointer_v<T> && !std::ranges::borrowed_range<T>;

/// The same, or a list of such values.
template <class T>
concept ValueOrList = PlainValue<T> || std::same_as<T, std::string> ||
    (is_list<T>&& requires { requires PlainValue<typename T::value_type>; });

template <ValueOrList T>
[[nodiscard]] std::string bytes_of_value(const T& value) {
  if constexpr (PlainValue<T>) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  } else {
    return {reinterpret_cast<const char*>(value.data()), value.size() * sizeof *value.data()};
  }
}
template <ValueOrList T>
[[nodiscard]] T value_of_bytes(std::string bytes) {
  if constexpr (std::same_as<T, std::string>) {
    return bytes;
  } else {
    T value{};
    if constexpr (!PlainValue<T>) value.resize(bytes.size() / sizeof *value.data());
    if constexpr (PlainValue<T>)
      std::memcpy(&value, bytes.data(), sizeof value);
    else if (!bytes.empty())
      std::memcpy(value.data(), bytes.data(), bytes.size());
    return value;
  }
}

template <class T>
inline constexpr bool has_no_padding =
    std::has_unique_object_representations_v<T> || std::same_as<T, float> ||
    std::same_as<T, double> || std::same_as<T, std::string>;
template <class T>
inline constexpr bool has_no_padding<std::vector<T>> = has_no_padding<T>;

/// Returns the name of an exchange: `mesh_reduce "loss"`.
[[nodiscard]] std::string exchange_name(std::string_view what, std::string_view name);

/// Fails unless all processes have the same text and bytes; the error shows who has which text.
void require_equal_bytes(std::string_view name, std::string bytes, std::string text);

/// Returns what a person reads of a value.
template <class T>
[[nodiscard]] std::string text_of_value(const T& value) {
  std::ostringstream out;
  out.precision(17);
  if constexpr (std::same_as<T, std::string>) {
    out << '"' << value << '"';
  } else if constexpr (std::is_arithmetic_v<T>) {
    out << +value;
  } else if constexpr (requires { out << value; }) {
    out << value;
  } else if constexpr (is_list<T>) {
    constexpr std::size_t most = 8;
    out << '{';
    for (std::size_t i = 0; i < value.size() && i < most; ++i)
      out << (i > 0 ? ", " : "") << text_of_value(value[i]);
    out << (value.size() > most ? ", ...}" : "}");
  } else {
    out << sizeof value << " bytes";
  }
  return out.str();
}

}  // namespace internal

/// A value of host code that processes can exchange: a trivially copyable one that is neither a
/// pointer nor a view, a `std::string`, or a `std::vector` of such values.
template <class T>
concept HostValue = internal::ValueOrList<T>;

/// A value whose equality is that of its bytes: integers, enumerators, `float`, `double`, types
/// without padding, strings, and vectors of those.
template <class T>
concept ComparableHostValue = HostValue<T> && internal::has_no_padding<T>;

/// Prints a line from the first process only, in one piece. The others do not wait.
///
///     print_once("loss ", loss);
template <class... T>
void print_once(const T&... parts) {
  if (process_index() != 0) return;
  std::ostringstream line;
  (line << ... << parts) << '\n';
  internal::print_from_first(line.str());
}

/// Waits until all processes have come to the same rendezvous, and returns the payloads of all, by
/// index.
///
/// Processes that come to another one make all of them throw `owners_differ` with both names.
/// Throws `owner_error` if a process will never come, or has not come `within` a time: the error
/// names all that are missing. Without that time, a process that lives is waited for.
///
///     const auto hosts = rendezvous("hosts", my_host_name());
std::vector<std::string> rendezvous(
    std::string_view name, std::string payload = {},
    std::chrono::milliseconds within = internal::host_exchange::for_ever);

/// Returns the value of one process on all of them. All call it.
///
/// Throws `owner_is_out_of_range` if there is no such process.
///
///     const auto seed = broadcast(std::random_device{}());
template <HostValue T>
[[nodiscard]] T broadcast(const T& value, index_t from = 0) {
  const index_t count = process_count();
  if (from < 0 || from >= count)
    fail({.rule = violation::owner_is_out_of_range, .have = from, .want = count});
  if (count == 1) return value;
  constexpr bool is_sized = internal::PlainValue<T>;
  const std::string name = "broadcast from process " + std::to_string(from) +
                           (is_sized ? " of " + std::to_string(sizeof(T)) + " bytes" : "");
  const bool gives = is_sized || process_index() == from;
  auto all = internal::all_of_host(name, gives ? internal::bytes_of_value(value) : std::string(),
                                   is_sized);
  return internal::value_of_bytes<T>(std::move(all[static_cast<std::size_t>(from)]));
}

/// Requires that all processes have the same value, to the bit. All call it.
///
/// Throws `owners_differ` on all of them if they do not; the error shows who has what.
///
///     require_equal("learning rate", rate);
template <ComparableHostValue T>
void require_equal(std::string_view name, const T& value) {
  if (process_count() > 1)
    internal::require_equal_bytes(name, internal::bytes_of_value(value),
                                  internal::text_of_value(value));
}

/// Returns `f` of the values of all processes, a `std::vector<T>` in the order of their index: the
/// same result with the same bits on all of them. All call it.
///
///     const double slowest = mesh_reduce("seconds", seconds, [](const std::vector<double>& all) {
///       return *std::max_element(all.begin(), all.end());
///     });
template <HostValue T, std::invocable<const std::vector<T>&> F>
[[nodiscard]] auto mesh_reduce(std::string_view name, const T& value, const F& f) {
  std::vector<T> values;
  if (process_count() == 1) {
    values.push_back(value);
  } else {
    for (std::string& each :
         internal::all_of_host(internal::exchange_name("mesh_reduce", name),
                               internal::bytes_of_value(value), internal::PlainValue<T>))
      values.push_back(internal::value_of_bytes<T>(std::move(each)));
  }
  return f(std::as_const(values));
}

/// Returns the seconds of a steady clock, that of the first process: the same number on all of
/// them, so that all take the same decision. All call it.
///
///     while (agreed_seconds() - begin < 600) train();
[[nodiscard]] double agreed_seconds();

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/process/host_values_work.hpp"
#endif
