// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/container/set_once.h"
#include "bpf/abi/unwind.h"
#include "daemon/process/file_stamp.h"

namespace firetower::daemon {

enum class ModuleKind : uint8_t {
  kUnknown,  // no mapping holds the address
  kFile,     // an ELF file, or another file mapped executable
  kVdso,
  kKernel,
  kJit,     // memory that a program wrote code to: named, if at all, by a perf-map
  kPython,  // functions of CPython, which have no addresses
  kJava,    // methods and stubs of HotSpot, by what its memory says of them
  kScript,  // functions of JavaScript in V8, likewise
  kPhp,     // functions of PHP, which have no addresses either
  kRuby,    // methods and blocks of Ruby, likewise
  kPerl,    // subroutines of Perl, likewise
};

// The reason why the symbols of a module's file were not read.
enum class Unread : uint8_t {
  kNot,       // readable, or not tried yet
  kGone,      // its process ended, or does not map it any more
  kDenied,    // the kernel refused to open it
  kNotFound,  // neither the process nor a parent shows that file
  kNotElf,    // no ELF image, or a damaged one
};

// Code that addresses point into. Its identity never changes. Shared by every process that maps it
// and by all threads.
//
// Files with one build id have the same code and unwind table, but may have different names, or
// none (FileStamp). So each such file is a module of its own with the same build id. Mappings have
// the id of the first one, for the unwind table; frames have the id of their own file
// (ModuleRegistry::OfFile).
struct Module {
  ModuleKind kind = ModuleKind::kUnknown;
  std::string path;       // as its process sees it
  std::string build_id;   // lower-case hex; empty if the kernel did not tell
  std::string cache_key;  // names it in the registry, and its symbols until SymbolsKey is known
  uint64_t inode = 0;     // only without a build id

  // The progress of reading its symbols. Written by the resolve, symbols and export threads.
  enum State : uint8_t { kWanted, kAsked, kLoaded, kFailed };
  mutable std::atomic<uint8_t> symbols{kWanted};
  mutable std::atomic<uint8_t> failures{0};
  // The result of the last try to read its symbols. Written by the symbols thread.
  mutable std::atomic<Unread> unread{Unread::kNot};
  // The number of functions that the file names beyond those that its build id covers (0: none, or
  // not read yet), and SymbolTable::NamesHash() of them. Written by the symbols and fetch threads,
  // the hash first.
  mutable std::atomic<uint32_t> own_names{0};
  mutable std::atomic<uint64_t> names_hash{0};

  // The process whose stack showed the file last: `pid << 32 | parent` (0: none yet), and that
  // process's mapping. Written by the resolve thread. The three values may belong to two processes,
  // so a thread that opens the file through them must verify it.
  mutable std::atomic<uint64_t> seen_in{0};
  mutable std::atomic<uint64_t> seen_start{0};
  mutable std::atomic<uint64_t> seen_end{0};

  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  void NoteSeen(uint32_t pid, uint32_t parent, uint64_t start, uint64_t end) const {
    const uint64_t seen = uint64_t{pid} << 32 | parent;
    if (seen_in.load(std::memory_order_relaxed) == seen) return;
    seen_start.store(start, std::memory_order_relaxed);
    seen_end.store(end, std::memory_order_relaxed);
    seen_in.store(seen, std::memory_order_relaxed);
  }

  // Returns the kernel's build id, else the one that the loader read from the file; "" while
  // neither is known.
  std::string_view BuildId() const {
    const std::string* found = found_build_id_.Get();
    return found != nullptr ? std::string_view(*found) : std::string_view(build_id);
  }
  // May be called from any thread; the first call wins.
  void SetFoundBuildId(std::string id) const { found_build_id_.Set(std::move(id)); }

  // Returns the cache key of the symbols: files with equal symbols share it. The symbols thread
  // sets it after reading the file.
  const std::string& SymbolsKey() const {
    const std::string* key = symbols_key_.Get();
    return key != nullptr ? *key : cache_key;
  }
  // Returns false if the file had other symbols when it was read before.
  bool SetSymbolsKey(const std::string& key) const { return symbols_key_.Set(key) == key; }

  // Identifies the file when several files have its build id; null while no process that maps it
  // could be asked. Written by the resolve thread.
  const FileStamp* stamp() const { return stamp_.Get(); }
  const FileStamp& SetStamp(const FileStamp& stamp) const { return stamp_.Set(stamp); }

 private:
  mutable SetOnce<std::string> found_build_id_;
  mutable SetOnce<std::string> symbols_key_;
  mutable SetOnce<FileStamp> stamp_;
};

uint32_t PathHash(std::string_view path);

struct NumberedModule {
  uint32_t id = 0;
  std::shared_ptr<const Module> module;
};

// The properties of a file that a mapping shows.
struct FileIdentity {
  std::string_view path;
  std::span<const uint8_t> build_id;
  uint64_t device = 0;
  uint64_t inode = 0;
  // True if it was found to be an ELF image. Other memory files (memfd, /dev/shm) without a build
  // id count as memory.
  bool is_image = false;
};

// Registry of all modules in use, by dense ids. Owned by the resolve thread; the modules are
// shared. Bounded by kMaxModules: further files count as unknown code. When a file has been
// unmapped for long enough, its id is given to another file.
class ModuleRegistry {
 public:
  static constexpr uint32_t kUnknown = 0;
  static constexpr uint32_t kKernel = 1;
  static constexpr uint32_t kJit = FT_MODULE_WRITTEN;
  static constexpr uint32_t kVdso = 3;
  static constexpr uint32_t kPython = 4;
  static constexpr uint32_t kJava = 5;
  static constexpr uint32_t kScript = 6;
  static constexpr uint32_t kPhp = 7;
  static constexpr uint32_t kRuby = 8;
  static constexpr uint32_t kPerl = 9;
  static constexpr uint32_t kFirstFile = 10;
  static constexpr size_t kMaxModules = 16384;
  static constexpr int64_t kForgetAfterNs = 600 * kNsPerSecond;

  // `forget_after_ns` must be longer than the life of anything that holds frames by id: a window.
  explicit ModuleRegistry(int64_t forget_after_ns = kForgetAfterNs);

  uint32_t Intern(const FileIdentity& file);
  // Returns the module of a file that is mapped as `module` from `path`: `module` itself for the
  // first file with its build id or without a build id, else that file's own module.
  uint32_t OfFile(uint32_t module, const FileStamp& stamp, std::string_view path);
  // Returns the module when the process is gone, so that the file cannot be identified: the only
  // file with the build id, else the only one at a path with that hash, else code without names.
  uint32_t OfUnseenFile(uint32_t module, uint32_t path_hash);
  const std::shared_ptr<const Module>& Get(uint32_t id) const { return modules_[id]; }
  // All ids are below this.
  size_t size() const { return modules_.size(); }
  // Appends the modules that were interned since the last call, with their ids.
  void TakeNew(std::vector<NumberedModule>& to);
  // Must be called about once a minute with the mapped modules by id. Returns the ids that were
  // freed; Intern may use them again.
  std::vector<uint32_t> Forget(const std::vector<bool>& mapped, int64_t now_ns);
  uint64_t refused() const { return refused_; }

 private:
  static constexpr int64_t kMapped = -1;
  static constexpr int64_t kForgotten = -2;

  uint32_t Add(ModuleKind kind, const FileIdentity& file, std::string build_id, std::string key);
  uint32_t AddOther(uint32_t module, std::string_view path, const FileStamp* stamp);

  int64_t forget_after_ns_;
  std::vector<std::shared_ptr<const Module>> modules_;
  std::vector<int64_t> unmapped_since_ns_;  // by id; kMapped, kForgotten
  std::vector<uint32_t> free_;
  std::vector<uint32_t> new_;
  std::unordered_map<std::string, uint32_t> ids_;
  // For a module with a build id: the further files with that build id.
  std::unordered_map<uint32_t, std::vector<uint32_t>> others_;
  std::string key_;  // scratch
  uint64_t refused_ = 0;
};

}  // namespace firetower::daemon
