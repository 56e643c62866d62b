// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/perf_ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace firetower::daemon {

Result<PerfRing> PerfRing::Map(UniqueFd event, size_t data_bytes) {
  auto page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* base =
      ::mmap(nullptr, page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
  if (base == MAP_FAILED) return ErrnoError("mmap of a perf ring");
  return PerfRing(std::move(event), static_cast<std::byte*>(base), page_bytes, data_bytes);
}

PerfRing::PerfRing(PerfRing&& other) noexcept { *this = std::move(other); }

PerfRing& PerfRing::operator=(PerfRing&& other) noexcept {
  if (this != &other) {
    Unmap();
    event_ = std::move(other.event_);
    base_ = std::exchange(other.base_, nullptr);
    page_bytes_ = other.page_bytes_;
    data_bytes_ = other.data_bytes_;
    wrapped_ = std::move(other.wrapped_);
  }
  return *this;
}

PerfRing::~PerfRing() { Unmap(); }

void PerfRing::Unmap() {
  if (base_ != nullptr) ::munmap(base_, page_bytes_ + data_bytes_);
  base_ = nullptr;
}

void PerfRing::Drain(const std::function<void(std::span<const std::byte>)>& sink) {
  auto* page = reinterpret_cast<perf_event_mmap_page*>(base_);
  const std::byte* data = base_ + page_bytes_;
  const size_t mask = data_bytes_ - 1;
  // The kernel publishes data_head after the records (its smp_wmb pairs with this acquire).
  uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = page->data_tail;
  while (tail + sizeof(perf_event_header) <= head) {
    size_t begin = tail & mask;
    perf_event_header header;  // Records are 8-byte aligned, so a header never wraps.
    std::memcpy(&header, data + begin, sizeof(header));
    if (header.size < sizeof(header) || tail + header.size > head) {
      tail = head;  // Only a broken kernel gets here; the rest is invalid.
      break;
    }
    if (begin + header.size <= data_bytes_) {
      sink({data + begin, header.size});
    } else {
      size_t first = data_bytes_ - begin;
      wrapped_.resize(header.size);
      std::memcpy(wrapped_.data(), data + begin, first);
      std::memcpy(wrapped_.data() + first, data, header.size - first);
      sink(wrapped_);
    }
    tail += header.size;
  }
  __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

}  // namespace firetower::daemon
