// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/remote_memory.h"

#include <sys/uio.h>

namespace firetower::daemon {

bool ProcessMemory::Read(uint64_t address, std::span<std::byte> to) const {
  iovec local{to.data(), to.size()};
  iovec remote{reinterpret_cast<void*>(address), to.size()};
  return ::process_vm_readv(static_cast<pid_t>(pid_), &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(to.size());
}

std::unique_ptr<RemoteMemory> OpenProcessMemory(uint32_t pid) {
  return std::make_unique<ProcessMemory>(pid);
}

}  // namespace firetower::daemon
