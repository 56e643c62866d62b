// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/runtimes/hotspot/vm_layout.h"
#include "daemon/runtimes/remote_memory.h"
#include "daemon/runtimes/runtime_function.h"

namespace firetower::daemon {

// Names the frames of one JVM out of its memory, as the two words of a stack body say them
// (bpf/abi/hotspot.h). Keeps what it has read: of compiled code by the id of the compilation, which
// is never used twice; of methods as long as their heads read the same. Bounded by kMaxPlaces and
// kMaxMethods, beyond which it reads everything anew. Owned by the resolve thread.
class JavaNames {
 public:
  static constexpr size_t kMaxPlaces = 4096;
  static constexpr size_t kMaxMethods = 4096;

  JavaNames(VmLayout layout, ft_hotspot walk) : layout_(std::move(layout)), walk_(walk) {}

  // Returns the functions of a frame, the innermost first: more than one where calls were inlined.
  // Leaves out inlined calls that the JVM does not describe. Returns nothing if the code is not
  // what it was, or its memory could not be read.
  const std::vector<RuntimePlace>& Find(const RemoteMemory& memory, uint64_t word, uint64_t where);

  const ft_hotspot& walk() const { return walk_; }
  const VmLayout& layout() const { return layout_; }

 private:
  struct Method {
    std::vector<std::byte> head;  // its ConstMethod, before the bytecodes
    std::shared_ptr<const RuntimeFunction> function;
    std::vector<std::pair<uint32_t, uint32_t>> lines;  // bytecode offset, line; rising
  };

  std::vector<RuntimePlace> Read(const RemoteMemory& memory, uint64_t word, uint64_t where);
  std::vector<RuntimePlace> ReadCompiled(const RemoteMemory& memory, uint64_t nmethod,
                                         uint64_t where);
  // PcDesc of pcDesc.hpp; vmStructs has said so in every version.
  struct PcDesc {
    int32_t pc_offset = 0;
    int32_t scope_offset = 0;
    int32_t object_offset = 0;
    int32_t flags = 0;
  };
  // The parts of an nmethod that describe its code: addresses of the process, but for the
  // descriptions.
  struct Scopes {
    std::vector<PcDesc> pcs;
    uint64_t stream = 0;
    uint64_t metadata = 0;
    uint64_t code = 0;
  };
  std::optional<Scopes> ScopesOf(const RemoteMemory& memory, uint64_t nmethod) const;
  // Tells whether a loop polls there for a safepoint.
  bool IsPoll(const RemoteMemory& memory, uint64_t pc) const;
  // Appends a scope and those that it was inlined into, up to the method itself.
  bool ReadChain(const RemoteMemory& memory, const Scopes& scopes, uint32_t decode,
                 std::vector<RuntimePlace>& to);
  // Appends the scopes at that position of an nmethod's code. Returns false if they are not known.
  bool ReadScopes(const RemoteMemory& memory, uint64_t nmethod, uint32_t position,
                  std::vector<RuntimePlace>& to);
  std::optional<RuntimePlace> PlaceOf(const RemoteMemory& memory, uint64_t method,
                                      int64_t bytecode);
  const Method* MethodOf(const RemoteMemory& memory, uint64_t const_method);
  std::optional<std::string> SymbolAt(const RemoteMemory& memory, uint64_t address) const;
  std::optional<std::string> PoolText(const RemoteMemory& memory, uint64_t pool,
                                      uint16_t index) const;
  std::optional<Method> ReadMethod(const RemoteMemory& memory, uint64_t const_method,
                                   std::vector<std::byte> head) const;

  VmLayout layout_;
  ft_hotspot walk_;
  std::unordered_map<uint64_t, std::unordered_map<uint64_t, std::vector<RuntimePlace>>> compiled_;
  size_t places_ = 0;
  std::unordered_map<uint64_t, Method> methods_;        // by ConstMethod
  std::unordered_map<uint64_t, uint64_t> interpreted_;  // the ConstMethod that a Method had last
  std::vector<RuntimePlace> found_;                     // what was not kept
};

// Returns the name that is shown of a method: "java.util.ArrayList.add"; of classes that are made
// while the program runs, without the address in their name.
std::string JavaName(std::string_view klass, std::string_view method);

}  // namespace firetower::daemon
