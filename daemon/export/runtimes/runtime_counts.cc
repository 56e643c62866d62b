// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/runtimes/runtime_counts.h"

#include <algorithm>
#include <utility>

namespace firetower::daemon {
namespace {

bool IsRuntimes(uint32_t module) {
  return module == ModuleRegistry::kPython || module == ModuleRegistry::kJava ||
         module == ModuleRegistry::kScript || module == ModuleRegistry::kPhp ||
         module == ModuleRegistry::kRuby || module == ModuleRegistry::kPerl;
}

}  // namespace

std::shared_ptr<const RuntimeNote> RuntimeCounts::NoteOf(uint32_t module,
                                                         const ModuleOf& module_of) {
  const auto known = modules_.find(module);
  if (known != modules_.end()) return known->second;
  const Module& file = module_of(module);
  std::shared_ptr<const RuntimeNote> note;
  if (file.kind == ModuleKind::kFile) {
    note = notes_.Find(file.BuildId());
    if (note == nullptr) note = notes_.Find(file.cache_key);
  }
  return modules_[module] = note;
}

const RuntimeCounts::Seen& RuntimeCounts::Look(const Slice& slice, uint32_t stack,
                                               const ModuleOf& module_of) {
  Seen& seen = stacks_[stack];
  if (std::exchange(seen.known, true)) return seen;
  for (const Frame& frame : slice.FramesOf(stack)) {
    if (IsRuntimes(frame.module)) {
      (frame.offset >> 32 != 0 ? seen.named : seen.unnamed) = true;
    } else if (seen.note == nullptr && frame.module >= ModuleRegistry::kFirstFile) {
      seen.note = NoteOf(frame.module, module_of);
    }
  }
  return seen;
}

void RuntimeCounts::Count(const RuntimeNote& note, const Seen& seen,
                          const Slice::ContainerEntry& entry, uint64_t samples) {
  for (auto* counts : {&open_.totals, &open_.window}) {
    if (counts->size() >= kMaxRuntimes && !counts->contains(note.runtime)) continue;
    RuntimeSamples& of = (*counts)[note.runtime];
    uint64_t& count = !note.why.empty() ? of.unsupported
                      : seen.unnamed    ? of.unnamed
                      : seen.named      ? of.named
                                        : of.none;
    count += samples;
  }
  if (note.why.empty() ||
      (unsupported_.size() >= kMaxRuntimes && !unsupported_.contains(note.file)))
    return;
  const UnsupportedRuntime as_noted{note.runtime, note.file, note.why, 0};
  unsupported_.try_emplace(note.file, as_noted).first->second.samples += samples;
  for (const std::string& policy : entry.decision.policies) policies_[policy][note.file] += samples;
}

void RuntimeCounts::Take(const Slice& slice, const ModuleOf& module_of) {
  stacks_.assign(slice.stacks.size(), {});
  modules_.clear();
  for (const Slice::Row& row : slice.rows) {
    const Slice::ContainerEntry& entry = slice.containers[row.container];
    if (entry.type != FT_TYPE_CPU || row.stack >= slice.stacks.size()) continue;
    const Seen& seen = Look(slice, row.stack, module_of);
    if (seen.note != nullptr) Count(*seen.note, seen, entry, row.amount.count);
  }
}

RuntimeFacts RuntimeCounts::Facts(bool ends_window) {
  if (ends_window) {
    last_ = {};
    last_.window = std::exchange(open_.window, {});
    for (auto& [policy, files] : std::exchange(policies_, {})) {
      const auto most =
          std::ranges::max_element(files, {}, [](const auto& one) { return one.second; });
      UnsupportedRuntime& of = last_.by_policy[policy] = unsupported_[most->first];
      of.samples = most->second;
    }
    for (auto& [file, runtime] : std::exchange(unsupported_, {}))
      last_.unsupported.push_back(std::move(runtime));
    std::ranges::stable_sort(last_.unsupported, std::greater(), &UnsupportedRuntime::samples);
  }
  RuntimeFacts facts = last_;
  facts.totals = open_.totals;
  return facts;
}

}  // namespace firetower::daemon
