// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/container/flat_map.h"
#include "daemon/runtimes/python_function.h"

namespace firetower::daemon {

struct NumberedFunction {
  uint32_t id = 0;
  std::shared_ptr<const RuntimeFunction> function;
};

// The functions of interpreters that stacks of two epochs may name, as the kernel side sent them.
// Functions that read alike have one number, in whatever process they run; a number is never used
// for another one. Bounded by kMaxFunctions, kMaxBytes and, for those of each process apart,
// kMaxPlaces an epoch; further ones are counted, and have no names until the next epoch. Owned by
// the resolve thread.
class FunctionTable {
 public:
  static constexpr size_t kMaxFunctions = 65'536;
  static constexpr size_t kMaxBytes = 32u << 20;
  static constexpr size_t kMaxPlaces = 1u << 20;

  struct Place {
    uint32_t function = 0;  // its number; 0: unknown
    uint32_t line = 0;
  };

  // Takes a record of FT_KIND_FUNCTION. Returns false if it makes no sense.
  bool Add(std::span<const std::byte> record);
  // Finds a frame's function and line by the two words of a stack body (bpf/abi/runtime.h), in the
  // process with that ft_identity().
  Place Find(uint32_t pid, uint32_t identity, uint64_t frame, uint64_t where) const;

  // Begins an epoch of stacks: what no stack of it or the one before names is forgotten.
  void BeginEpoch(uint32_t epoch) { GenerationOf(epoch); }
  // Returns the number of a function that was read here and stands in a stack now; 0 if there is no
  // room for it.
  uint32_t Hold(const RuntimeFunction& function);

  // Keeps the functions that a body's words name for another epoch, because a sample that refers to
  // the body is still to come.
  void Keep(uint32_t pid, uint32_t identity, std::span<const uint64_t> words);

  // Append the functions that are new, and the numbers of those that are gone, since the last call.
  void TakeNew(std::vector<NumberedFunction>& to);
  void TakeGone(std::vector<uint32_t>& to);

  size_t size() const { return by_content_.size(); }
  size_t bytes() const { return bytes_; }
  uint64_t refused() const { return refused_; }

 private:
  struct Entry {
    uint32_t id = 0;
    uint32_t first_line = 0;
    uint32_t epoch = 0;  // the last one in which it was sent
    uint16_t minor = 0;  // of the version whose table of lines it has
    std::string content;
    size_t lines = 0;  // where its table of lines begins in `content`
  };
  struct Generation {
    uint32_t epoch = 0;
    FlatMap<uint32_t> ids;  // by process, object and cookie
  };

  static uint64_t KeyOf(uint32_t pid, uint32_t identity, uint64_t code, uint32_t cookie);
  Generation* GenerationOf(uint32_t epoch);
  // Notes that `key` means that function in a generation, unless there is no room.
  void Put(Generation& generation, uint64_t key, Entry& entry);
  const uint32_t* FindId(uint64_t key) const;
  void ForgetOld(uint32_t epoch);
  Entry* Intern(const ReadFunction& read);

  Generation generations_[2];
  int newest_ = 0;
  std::unordered_map<std::string_view, std::unique_ptr<Entry>> by_content_;
  std::unordered_map<uint32_t, Entry*> by_id_;
  std::vector<NumberedFunction> new_;
  std::vector<uint32_t> gone_;
  uint32_t last_id_ = 0;
  size_t bytes_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace firetower::daemon
