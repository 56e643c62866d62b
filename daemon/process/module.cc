// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/module.h"

#include <fmt/core.h>

#include <functional>

#include "symbolizer/elf/build_id.h"

namespace firetower::daemon {
namespace {

// Tells whether a path means memory rather than a file of code: the kernel's names for it
// (mm/mmap.c, perf's "//anon"), and memory files, which run-time compilers map twice.
bool IsAnonymous(std::string_view path) {
  if (path.empty() || path == "//anon") return true;
  for (std::string_view prefix :
       {"[heap]", "[stack", "[anon", "anon_inode:", "/memfd:", "/dev/zero", "/SYSV", "/dev/shm/",
        "/run/shm/", "/anon_hugepage", "/dev/hugepages/", "/dmabuf", "/drm mm object"}) {
    if (path.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

}  // namespace

uint32_t PathHash(std::string_view path) {
  return static_cast<uint32_t>(std::hash<std::string_view>()(path));
}

ModuleRegistry::ModuleRegistry(int64_t forget_after_ns) : forget_after_ns_(forget_after_ns) {
  Add(ModuleKind::kUnknown, {"[unknown]", {}, 0, 0, false}, "", "unknown");
  Add(ModuleKind::kKernel, {"[kernel.kallsyms]", {}, 0, 0, false}, "", "kernel");
  Add(ModuleKind::kJit, {"[jit]", {}, 0, 0, false}, "", "jit");
  Add(ModuleKind::kVdso, {"[vdso]", {}, 0, 0, false}, "", "vdso");
  Add(ModuleKind::kPython, {"[python]", {}, 0, 0, false}, "", "python");
  Add(ModuleKind::kJava, {"[java]", {}, 0, 0, false}, "", "java");
  Add(ModuleKind::kScript, {"[javascript]", {}, 0, 0, false}, "", "javascript");
  Add(ModuleKind::kPhp, {"[php]", {}, 0, 0, false}, "", "php");
  Add(ModuleKind::kRuby, {"[ruby]", {}, 0, 0, false}, "", "ruby");
  Add(ModuleKind::kPerl, {"[perl]", {}, 0, 0, false}, "", "perl");
}

uint32_t ModuleRegistry::Add(ModuleKind kind, const FileIdentity& file, std::string build_id,
                             std::string key) {
  auto id = static_cast<uint32_t>(modules_.size());
  if (free_.empty()) {
    modules_.emplace_back();
    unmapped_since_ns_.push_back(kMapped);
  } else {
    id = free_.back();
    free_.pop_back();
  }
  auto module = std::make_shared<Module>();
  module->kind = kind;
  module->path = file.path;
  module->build_id = std::move(build_id);
  module->cache_key = key;
  module->inode = file.inode;
  modules_[id] = std::move(module);
  unmapped_since_ns_[id] = kMapped;
  ids_.emplace(std::move(key), id);
  new_.push_back(id);
  return id;
}

uint32_t ModuleRegistry::Intern(const FileIdentity& file) {
  if (file.path == "[vdso]") return kVdso;
  if (file.build_id.empty() && !file.is_image && IsAnonymous(file.path)) return kJit;
  std::string build_id = symbolizer::BuildIdHex(file.build_id);
  key_ = build_id.empty() ? fmt::format("f:{:x}:{}:{}", file.device, file.inode, file.path)
                          : "b:" + build_id;
  auto found = ids_.find(key_);
  if (found != ids_.end()) {
    unmapped_since_ns_[found->second] = kMapped;  // Now at least.
    return found->second;
  }
  if (modules_.size() >= kMaxModules && free_.empty()) {
    ++refused_;
    return kUnknown;
  }
  return Add(ModuleKind::kFile, file, std::move(build_id), key_);
}

uint32_t ModuleRegistry::OfFile(uint32_t module, const FileStamp& stamp, std::string_view path) {
  const Module& first = *modules_[module];
  if (first.kind != ModuleKind::kFile || first.build_id.empty()) return module;
  // The path is shown with its frames: the first stamp must be of that file.
  if (first.stamp() == nullptr && first.path == path) first.SetStamp(stamp);
  if (first.stamp() != nullptr && *first.stamp() == stamp) return module;
  return AddOther(module, path, &stamp);
}

uint32_t ModuleRegistry::OfUnseenFile(uint32_t module, uint32_t path_hash) {
  const auto others = others_.find(module);
  if (others == others_.end()) return module;
  uint32_t there = PathHash(modules_[module]->path) == path_hash ? module : kUnknown;
  for (const uint32_t other : others->second) {
    if (modules_[other]->stamp() == nullptr || PathHash(modules_[other]->path) != path_hash)
      continue;
    if (there != kUnknown) return AddOther(module, modules_[other]->path, nullptr);
    there = other;
  }
  return there != kUnknown ? there : AddOther(module, modules_[module]->path, nullptr);
}

uint32_t ModuleRegistry::AddOther(uint32_t module, std::string_view path, const FileStamp* stamp) {
  const std::shared_ptr<const Module> first = modules_[module];
  std::string key = fmt::format("{}:{}", first->cache_key, stamp != nullptr ? ToText(*stamp) : "?");
  if (const auto found = ids_.find(key); found != ids_.end()) {
    unmapped_since_ns_[found->second] = kMapped;
    return found->second;
  }
  if (modules_.size() >= kMaxModules && free_.empty()) {
    ++refused_;
    return kUnknown;
  }
  const uint32_t other =
      Add(ModuleKind::kFile, {path, {}, 0, 0, false}, first->build_id, std::move(key));
  if (stamp != nullptr) {
    modules_[other]->SetStamp(*stamp);
  } else {
    modules_[other]->symbols.store(Module::kFailed);  // There is nothing to read.
  }
  others_[module].push_back(other);
  return other;
}

void ModuleRegistry::TakeNew(std::vector<NumberedModule>& to) {
  for (uint32_t id : new_) to.push_back({id, modules_[id]});
  new_.clear();
}

std::vector<uint32_t> ModuleRegistry::Forget(const std::vector<bool>& mapped, int64_t now_ns) {
  std::vector<uint32_t> forgotten;
  for (uint32_t id = kFirstFile; id < modules_.size(); ++id) {
    int64_t& since_ns = unmapped_since_ns_[id];
    if (since_ns == kForgotten) continue;
    if (id < mapped.size() && mapped[id]) {
      since_ns = kMapped;
    } else if (since_ns == kMapped) {
      since_ns = now_ns;
    } else if (now_ns - since_ns >= forget_after_ns_) {
      since_ns = kForgotten;
      ids_.erase(modules_[id]->cache_key);
      others_.erase(id);
      free_.push_back(id);
      forgotten.push_back(id);
    }
  }
  if (forgotten.empty()) return forgotten;
  for (auto& [first, others] : others_) {
    std::erase_if(others, [&](uint32_t id) { return unmapped_since_ns_[id] == kForgotten; });
  }
  std::erase_if(others_, [](const auto& entry) { return entry.second.empty(); });
  return forgotten;
}

}  // namespace firetower::daemon
