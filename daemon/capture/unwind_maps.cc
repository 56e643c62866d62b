// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/unwind_maps.h"

#include <bpf/bpf.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include "daemon/capture/map_array.h"

namespace firetower::daemon {
namespace {

constexpr size_t kArenaBytes = size_t{FT_MAX_SLABS} * FT_SLAB_BYTES;
constexpr size_t kPageBytes = 4096;

constexpr size_t ToPages(size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}
constexpr size_t kModulesBytes = ToPages(sizeof(ft_module) * FT_MAX_MODULES);
constexpr size_t kProcessesBytes = ToPages(sizeof(ft_process_bucket) * FT_PROCESS_BUCKETS);

}  // namespace

UnwindMaps::~UnwindMaps() {
  if (arena_ != nullptr) ::munmap(arena_, kArenaBytes);
  if (modules_ != nullptr) ::munmap(modules_, kModulesBytes);
  if (processes_ != nullptr) ::munmap(processes_, kProcessesBytes);
}

Status UnwindMaps::Open(int slabs_fd, int modules_fd, int processes_fd) {
  slabs_fd_ = slabs_fd;
  void* range =
      ::mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return ErrnoError("reserve addresses for unwind tables");
  arena_ = static_cast<std::byte*>(range);
  RETURN_IF_ERROR(MapArray(modules_fd, kModulesBytes, "map the list of unwind tables", modules_));
  return MapArray(processes_fd, kProcessesBytes, "map the list of processes", processes_);
}

Status UnwindMaps::AddSlab(uint32_t slab) {
  bpf_map_create_opts options{};
  options.sz = sizeof(options);
  options.map_flags = BPF_F_MMAPABLE;
  UniqueFd fd(::bpf_map_create(BPF_MAP_TYPE_ARRAY, "ft_slab", sizeof(uint32_t), FT_SLAB_BYTES, 1,
                               &options));
  if (!fd) return ErrnoError("create a BPF map of 1 MiB for unwind tables");
  std::byte* at = arena_ + size_t{slab} * FT_SLAB_BYTES;
  if (::mmap(at, FT_SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd.get(), 0) ==
      MAP_FAILED) {
    return ErrnoError("map a BPF map for unwind tables");
  }
  int value = fd.get();
  if (::bpf_map_update_elem(slabs_fd_, &slab, &value, BPF_ANY) != 0) {
    Error error = ErrnoError(fmt::format("give the kernel side slab {}", slab));
    RemoveSlab(slab);
    return error;
  }
  slabs_[slab] = std::move(fd);
  slab_count_.store(slabs_.size(), std::memory_order_relaxed);
  return OkStatus();
}

void UnwindMaps::RemoveSlab(uint32_t slab) {
  ::bpf_map_delete_elem(slabs_fd_, &slab);
  // The range stays reserved, so that no other memory is mapped into the arena.
  (void)::mmap(arena_ + size_t{slab} * FT_SLAB_BYTES, FT_SLAB_BYTES, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  slabs_.erase(slab);
  slab_count_.store(slabs_.size(), std::memory_order_relaxed);
}

}  // namespace firetower::daemon
