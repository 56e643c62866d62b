// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/trace_variables.h"

#include <algorithm>
#include <array>

namespace firetower::daemon {
namespace {

// A thread's vector has an entry for each module with such variables: an address and what to free
// in glibc (sysdeps/generic/dl-dtv.h), an address in musl (src/internal/pthread_impl.h).
constexpr uint16_t kGlibcEntry = 16, kMuslEntry = 8;
// Programs have some hundred libraries. A descriptor that is not resolved yet has the address of
// its relocation, which begins with that of the slot.
constexpr uint64_t kMostModules = 4000;
constexpr uint64_t kLargestBlock = uint64_t{1} << 30;

// Offsets from FS are negative; anything else in a slot is an address, or nothing yet.
bool IsOffset(uint64_t word) {
  const auto offset = static_cast<int64_t>(word);
  return offset < 0 && offset >= -static_cast<int64_t>(kLargestBlock);
}

std::optional<TraceVariable> Static(uint64_t word) {
  if (!IsOffset(word)) return std::nullopt;
  return TraceVariable{.kind = FT_TRACE_STATIC, .offset = static_cast<int64_t>(word)};
}

std::optional<TraceVariable> InBlock(uint64_t module, uint64_t offset, bool musl) {
  if (module == 0 || module > kMostModules || offset >= kLargestBlock) return std::nullopt;
  return TraceVariable{.kind = FT_TRACE_DTV,
                       .dtv_bytes = musl ? kMuslEntry : kGlibcEntry,
                       .module = static_cast<uint32_t>(module),
                       .offset = static_cast<int64_t>(offset)};
}

}  // namespace

std::optional<TraceVariable> TraceVariables::Place(const TraceSymbol& symbol, uint64_t bias,
                                                   const RemoteMemory& memory, bool musl) {
  using Words = std::array<uint64_t, 2>;
  if (symbol.access == TraceSymbol::Access::kExecutable)
    return Static(static_cast<uint64_t>(symbol.offset));
  const auto slot = memory.Get<Words>(bias + static_cast<uint64_t>(symbol.slot));
  if (!slot) return std::nullopt;
  const auto [first, second] = *slot;
  switch (symbol.access) {
    case TraceSymbol::Access::kOffset:
      return Static(first);
    case TraceSymbol::Access::kModuleIndex:
      return InBlock(first, symbol.in_block.value_or(second), musl);
    case TraceSymbol::Access::kDescriptor: {
      if (IsOffset(second)) return Static(second);
      const auto index = memory.Get<Words>(second);
      return index ? InBlock((*index)[0], (*index)[1], musl) : std::nullopt;
    }
    case TraceSymbol::Access::kExecutable:
      break;
  }
  return std::nullopt;
}

TraceVariable TraceVariables::Find(const Process& process) {
  if (libraries_.empty()) return {};
  const auto found = known_.find(process.pid);
  if (found == known_.end() && known_.size() >= kMax) return {};
  if (found != known_.end() && found->second.identity == process.identity &&
      found->second.variable.kind != FT_TRACE_NONE) {
    // A library that was opened may be closed again.
    const bool is_there =
        std::ranges::any_of(*process.mappings, [&](const ProcessMapping& mapping) {
          return mapping.module == found->second.module &&
                 mapping.start - mapping.file_offset == found->second.bias;
        });
    if (is_there) return found->second.variable;
    found->second = Known();
    found->second.identity = process.identity;
  }
  std::unique_ptr<RemoteMemory> memory;
  bool musl = false;
  for (const ProcessMapping& mapping : *process.mappings) {
    const auto library = libraries_.find(mapping.module);
    if (library == libraries_.end()) continue;
    if (!memory) {
      memory = open_(process.pid);
      musl = std::ranges::any_of(
          *process.mappings, [&](const ProcessMapping& other) { return is_musl_(other.module); });
    }
    Known& known = known_[process.pid];
    if (known.identity != process.identity) {
      known = Known();
      known.identity = process.identity;
    }
    ++known.tries;
    const uint64_t bias = mapping.start - mapping.file_offset;
    if (const auto variable = Place(library->second, bias, *memory, musl)) {
      known.module = mapping.module;
      known.bias = bias;
      known.variable = *variable;
      return *variable;
    }
  }
  return {};
}

std::vector<uint32_t> TraceVariables::Unplaced() const {
  std::vector<uint32_t> pids;
  for (const auto& [pid, known] : known_) {
    if (known.variable.kind == FT_TRACE_NONE && known.tries < kMaxTries) pids.push_back(pid);
  }
  return pids;
}

}  // namespace firetower::daemon
