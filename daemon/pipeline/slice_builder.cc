// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/slice_builder.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"

namespace firetower::daemon {

uint32_t SliceBuilder::AddStack(std::span<const Frame> frames, uint8_t stop) {
  uint64_t hash = HashWord(kHashSeed, stop);
  for (const Frame& frame : frames) {
    hash = HashWord(HashWord(hash, uint64_t{frame.module} << 32 | frame.pid), frame.offset);
  }
  Slice& slice = *slice_;
  auto equal = [&](uint32_t id) {
    const Slice::Stack& stack = slice.stacks[id];
    return stack.size == frames.size() && stack.stop == stop &&
           std::equal(frames.begin(), frames.end(), slice.frames.begin() + stack.begin);
  };
  bool inserted = false;
  uint32_t& id = FindOrInsert(stack_ids_, hash, equal, &inserted);
  if (inserted) {
    id = static_cast<uint32_t>(slice.stacks.size());
    slice.stacks.push_back(
        {static_cast<uint32_t>(slice.frames.size()), static_cast<uint32_t>(frames.size()), stop});
    slice.frames.insert(slice.frames.end(), frames.begin(), frames.end());
  }
  return id;
}

uint32_t SliceBuilder::AddLabel(const TaskLabel& label) {
  uint64_t words[6];
  std::memcpy(words, label.comm.data(), 16);
  std::memcpy(words + 2, label.thread.data(), 16);
  std::memcpy(words + 4, label.waker.data(), 16);
  uint64_t hash =
      HashWord(kHashSeed, uint64_t{label.state} << 32 | static_cast<uint32_t>(label.cpu));
  for (uint64_t word : words) hash = HashWord(hash, word);
  if (label.is_traced()) {
    for (uint64_t word : label.trace) hash = HashWord(hash, word);
  }
  if (label.futex != FutexUse::kNone) hash = HashWord(hash, label.holder_stack);
  bool inserted = false;
  uint32_t& id = FindOrInsert(
      label_ids_, hash, [&](uint32_t i) { return slice_->labels[i] == label; }, &inserted);
  if (inserted) {
    id = static_cast<uint32_t>(slice_->labels.size());
    slice_->labels.push_back(label);
  }
  return id;
}

uint32_t SliceBuilder::AddSample(uint32_t container, uint32_t stack, uint32_t label,
                                 const Amount& amount) {
  uint64_t hash = HashWord(HashWord(kHashSeed, container), uint64_t{stack} << 32 | label);
  Slice& slice = *slice_;
  auto equal = [&](uint32_t id) {
    const Slice::Row& row = slice.rows[id];
    return row.container == container && row.stack == stack && row.label == label;
  };
  bool inserted = false;
  uint32_t& id = FindOrInsert(row_ids_, hash, equal, &inserted);
  if (inserted) {
    id = static_cast<uint32_t>(slice.rows.size());
    slice.rows.push_back({container, stack, label, {}});
  }
  slice.rows[id].amount += amount;
  return id;
}

std::unique_ptr<Slice> SliceBuilder::Take(std::unique_ptr<Slice> next) {
  if (!next) next = std::make_unique<Slice>();
  std::swap(slice_, next);
  stack_ids_.Clear();
  label_ids_.Clear();
  row_ids_.Clear();
  container_ids_.Clear();
  ++serial_;
  return next;
}

}  // namespace firetower::daemon
