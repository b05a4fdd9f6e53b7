// SPDX-License-Identifier: BSL-1.0
#include "support/requests.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

std::atomic<long> support::requests{0};
std::atomic<long> support::requested_bytes{0};
std::atomic<long> support::blocks{0};
std::atomic<support::failing> support::how{support::failing::never};
std::atomic<long> support::fails_at{0};

namespace {

bool refuses() noexcept {
  const long request = support::requests.fetch_add(1);
  const support::failing now = support::how.load();
  return now == support::failing::once
             ? request == support::fails_at.load()
             : now == support::failing::from_then_on && request >= support::fails_at.load();
}

[[gnu::noinline]] void* take(std::size_t bytes, std::size_t alignment) noexcept {
  if (refuses()) return nullptr;
  support::requested_bytes += static_cast<long>(bytes);
  void* const block = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  if (block != nullptr) ++support::blocks;
  return block;
}
void* take_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const block = take(bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void give_back(void* block) noexcept {
  if (block == nullptr) return;
  --support::blocks;
  std::free(block);
}

constexpr std::size_t plain = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t n) { return take_or_throw(n, plain); }
void* operator new[](std::size_t n) { return take_or_throw(n, plain); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take(n, plain); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take(n, plain); }
void* operator new(std::size_t n, std::align_val_t a) {
  return take_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return take_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return take(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return take(n, static_cast<std::size_t>(a));
}
void operator delete(void* block) noexcept { give_back(block); }
void operator delete[](void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t) noexcept { give_back(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { give_back(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  give_back(block);
}
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  give_back(block);
}
