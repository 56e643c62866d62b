// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/stack_frames.h"

namespace firetower::daemon {

uint8_t StackFrames::Resolve(std::span<const uint64_t> addresses, size_t kernel_frames,
                             uint8_t stop, Process& process, StackParts parts) {
  frames_.clear();
  if (parts != StackParts::kUser) AddKernelPart(addresses.first(kernel_frames));
  if (parts == StackParts::kKernel) return FT_STOP_NO_USER;
  return AddUserPart(addresses.subspan(kernel_frames), stop, *process.mappings, process.pid,
                     &process);
}

uint8_t StackFrames::Resolve(const FinishedStack& stack) {
  frames_.clear();
  const std::span<const uint64_t> addresses = stack.addresses;
  AddKernelPart(addresses.first(stack.kernel_frames));
  return AddUserPart(addresses.subspan(stack.kernel_frames), stack.stop, *stack.mappings,
                     stack.sample.tgid, processes_.FindAlive(stack.sample.tgid));
}

void StackFrames::AddKernelPart(std::span<const uint64_t> addresses) {
  for (size_t i = 0; i < addresses.size(); ++i)
    frames_.push_back({ModuleRegistry::kKernel, 0, addresses[i] - (i > 0 ? 1 : 0)});
}

uint8_t StackFrames::AddUserPart(std::span<const uint64_t> addresses, uint8_t stop,
                                 const std::vector<ProcessMapping>& mappings, uint32_t pid,
                                 Process* process) {
  const std::vector<ProcessMapping>* known = &mappings;
  for (size_t i = 0; i < addresses.size(); ++i) {
    // The innermost user address is where the task ran or left for the kernel; the others are
    // return addresses, and the call lies before them.
    uint64_t address = addresses[i] - (i > 0 ? 1 : 0);
    if (AddUserFrame(address, *known, pid, process)) continue;
    if (i > 0) return kStopNoMapping;  // Not a return address after all: what follows is chance.
    if (process != nullptr && processes_.Refresh(*process)) {
      known = process->mappings.get();
      if (AddUserFrame(address, *known, pid, process)) continue;
    }
    frames_.push_back({ModuleRegistry::kUnknown, 0, address});
  }
  return stop;
}

bool StackFrames::AddUserFrame(uint64_t address, const std::vector<ProcessMapping>& mappings,
                               uint32_t pid, const Process* process) {
  const ProcessMapping* mapping = FindMapping(mappings, address);
  if (mapping == nullptr) return false;
  Frame frame;
  frame.module = processes_.NamesOf(*mapping, process);
  const std::shared_ptr<const Module>& module = modules_.Get(frame.module);
  switch (module->kind) {
    case ModuleKind::kFile:
    case ModuleKind::kVdso:
      frame.offset = address - mapping->start + mapping->file_offset;
      break;
    default:
      frame.offset = address;
      frame.pid = pid;
  }
  if (module->symbols.load(std::memory_order_relaxed) == Module::kWanted &&
      module->kind == ModuleKind::kFile && process != nullptr) {
    peers_.WantSymbols(module, *process, *mapping);
  }
  if (frames_.empty() || frames_.back().module != frame.module) {
    unwinder_.Touch(mapping->module);
    if (process != nullptr) {
      module->NoteSeen(process->pid, process->parent, mapping->start, mapping->end);
    }
  }
  frames_.push_back(frame);
  return true;
}

}  // namespace firetower::daemon
