// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/runtimes/runtime_function.h"
#include "daemon/runtimes/v8/v8_code.h"

namespace firetower::daemon {

// A frame of JavaScript, as the words of a stack body say it (bpf/abi/v8.h).
struct V8Frame {
  uint64_t word = 0;
  uint64_t where = 0;
  uint64_t code = 0;      // 0: it is not compiled, or its code is not known
  uint64_t feedback = 0;  // only with code
};

// Names the JavaScript functions of one process out of its memory. Keeps what it has read:
// functions by their place and cookie, compiled code as long as its head reads the same. Bounded by
// kMaxFunctions, kMaxCodes and kMaxScripts, beyond which it reads everything anew. Owned by the
// resolve thread.
class V8Names {
 public:
  static constexpr size_t kMaxFunctions = 8192;
  static constexpr size_t kMaxCodes = 2048;
  static constexpr size_t kMaxScripts = 512;
  static constexpr size_t kMaxStrange = 4096;

  explicit V8Names(const V8Build& build) : build_(build) {}

  // Returns the functions of a frame, the innermost first: more than one where calls were compiled
  // into their caller. A line is that of the call that was made last where it is known, else the
  // function's first. Nothing: another object has the function's place now, or its memory could not
  // be read.
  std::vector<RuntimePlace> Find(const RemoteMemory& memory, const V8Frame& frame);

 private:
  struct Script {
    std::string file;
    std::vector<uint32_t> line_ends;  // of its source text, in characters
  };
  struct Function {
    std::shared_ptr<const RuntimeFunction> function;
    std::shared_ptr<const Script> script;  // null: of none
    std::vector<V8Code::Entry> bytecodes;
  };
  // The facts of a ScopeInfo about its function.
  struct Scope {
    std::string name;
    uint32_t start = 0;  // of its text in the source, in characters
  };
  struct Compiled {
    V8CodeHead head;
    std::optional<V8Code> code;
    std::vector<std::shared_ptr<const Function>> calls;  // null: it could not be read
  };

  std::shared_ptr<const Function> FunctionOf(const V8Heap& heap, uint64_t shared, uint32_t cookie);
  std::shared_ptr<const Function> ReadFunction(const V8Heap& heap, uint64_t shared,
                                               uint32_t cookie);
  std::optional<Scope> ReadScope(const V8Heap& heap, uint64_t scope) const;
  std::shared_ptr<const Script> ScriptOf(const V8Heap& heap, uint64_t script);
  std::vector<V8Code::Entry> ReadBytecodes(const V8Heap& heap, uint64_t shared) const;
  // Returns null if the code cannot be read, or is not what its frame says.
  const Compiled* CompiledOf(const V8Heap& heap, uint64_t code);
  // Returns the code that a frame runs in: the function's, or that of a loop of it.
  const Compiled* CodeOf(const V8Heap& heap, const V8Frame& frame);
  // Returns the functions at an entry of compiled code; nothing if one of them is not known.
  std::vector<RuntimePlace> ChainOf(const std::shared_ptr<const Function>& outermost,
                                    const Compiled& compiled, V8Code::Place place) const;
  // The same of a frame, whose function is known.
  std::vector<RuntimePlace> FindCompiled(const V8Heap& heap, const V8Frame& frame,
                                         const std::shared_ptr<const Function>& outermost);

  V8Build build_;
  std::map<std::pair<uint64_t, uint32_t>, std::shared_ptr<const Function>>
      functions_;                                              // by place and cookie
  std::unordered_map<uint64_t, Compiled> compiled_;            // by address
  std::unordered_map<uint64_t, std::vector<uint64_t>> loops_;  // by feedback: the codes of loops
  std::set<std::pair<uint64_t, uint32_t>> strange_;  // feedback, counter: of no code that is known
  std::unordered_map<uint64_t, std::pair<uint64_t, std::shared_ptr<const Script>>>
      scripts_;  // by address: its source text, and what was read
};

}  // namespace firetower::daemon
