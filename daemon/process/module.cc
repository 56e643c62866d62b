// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/module.h"

#include <fmt/core.h>

namespace firetower::daemon {
namespace {

// Executable memory that is no file of code: the kernel's names for it (mm/mmap.c, perf's
// "//anon"), and the memory files that run-time compilers map twice.
bool IsAnonymous(std::string_view path) {
  if (path.empty() || path == "//anon") return true;
  for (std::string_view prefix :
       {"[heap]", "[stack", "[anon", "anon_inode:", "/memfd:", "/dev/zero", "/SYSV", "/dev/shm/"}) {
    if (path.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

}  // namespace

std::string HexOf(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

ModuleRegistry::ModuleRegistry() {
  Add(ModuleKind::kUnknown, {"[unknown]", {}, 0, 0}, "unknown");
  Add(ModuleKind::kKernel, {"[kernel.kallsyms]", {}, 0, 0}, "kernel");
  Add(ModuleKind::kJit, {"[jit]", {}, 0, 0}, "jit");
  Add(ModuleKind::kVdso, {"[vdso]", {}, 0, 0}, "vdso");
}

uint32_t ModuleRegistry::Add(ModuleKind kind, const FileIdentity& file, std::string key) {
  auto id = static_cast<uint32_t>(modules_.size());
  auto module = std::make_shared<Module>();
  module->kind = kind;
  module->path = file.path;
  module->build_id = HexOf(file.build_id);
  module->cache_key = key;
  module->inode = file.inode;
  modules_.push_back(std::move(module));
  ids_.emplace(std::move(key), id);
  return id;
}

uint32_t ModuleRegistry::Intern(const FileIdentity& file) {
  if (file.path == "[vdso]") return kVdso;
  if (IsAnonymous(file.path)) return kJit;
  key_ = file.build_id.empty() ? fmt::format("f:{:x}:{}:{}", file.device, file.inode, file.path)
                               : "b:" + HexOf(file.build_id);
  auto found = ids_.find(key_);
  if (found != ids_.end()) return found->second;
  if (modules_.size() >= kMaxModules) {
    ++refused_;
    return kUnknown;
  }
  return Add(ModuleKind::kFile, file, key_);
}

}  // namespace firetower::daemon
