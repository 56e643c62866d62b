// SPDX-License-Identifier: Apache-2.0
// Replaces every form of the global operator new ([new.delete]): a sanitizer has its own of those
// that are left.
#include "tests/support/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<uint64_t> g_allocations{0};

void* Allocate(std::size_t size) noexcept {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}
void* Allocate(std::size_t size, std::align_val_t alignment) noexcept {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  auto align = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(align, (size + align - 1) / align * align);
}
void* OrThrow(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

namespace firetower::testing {
uint64_t Allocations() { return g_allocations.load(std::memory_order_relaxed); }
}  // namespace firetower::testing

using Size = std::size_t;
using Align = std::align_val_t;
using NoThrow = std::nothrow_t;

void* operator new(Size size) { return OrThrow(Allocate(size)); }
void* operator new[](Size size) { return OrThrow(Allocate(size)); }
void* operator new(Size size, Align align) { return OrThrow(Allocate(size, align)); }
void* operator new[](Size size, Align align) { return OrThrow(Allocate(size, align)); }
void* operator new(Size size, const NoThrow&) noexcept { return Allocate(size); }
void* operator new[](Size size, const NoThrow&) noexcept { return Allocate(size); }
void* operator new(Size size, Align align, const NoThrow&) noexcept {
  return Allocate(size, align);
}
void* operator new[](Size size, Align align, const NoThrow&) noexcept {
  return Allocate(size, align);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, Size) noexcept { std::free(memory); }
void operator delete[](void* memory, Size) noexcept { std::free(memory); }
void operator delete(void* memory, Align) noexcept { std::free(memory); }
void operator delete[](void* memory, Align) noexcept { std::free(memory); }
void operator delete(void* memory, Size, Align) noexcept { std::free(memory); }
void operator delete[](void* memory, Size, Align) noexcept { std::free(memory); }
