// SPDX-License-Identifier: BSL-1.0
#include "support/requests.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

std::atomic<long> support::requests{0};

namespace {
[[gnu::noinline]] void* take(std::size_t bytes, std::size_t alignment) {
  ++support::requests;
  void* const block = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void give_back(void* block) noexcept { std::free(block); }
constexpr std::size_t plain = alignof(std::max_align_t);
}  // namespace

void* operator new(std::size_t n) { return take(n, plain); }
void* operator new[](std::size_t n) { return take(n, plain); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take(n, plain); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take(n, plain); }
void* operator new(std::size_t n, std::align_val_t a) {
  return take(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return take(n, static_cast<std::size_t>(a));
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
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  give_back(block);
}
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  give_back(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
