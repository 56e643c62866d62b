// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/stack_store.h"

#include <algorithm>
#include <cstring>

#include "bpf/abi/unwind.h"

namespace firetower::daemon {
namespace {
constexpr size_t kHeadWords = sizeof(ft_stack) / sizeof(uint64_t);
}

size_t StackStore::WordsFor(size_t cpus) {
  return std::clamp(cpus * kWordsPerCpu, kLeastWords, kMaxWords);
}

bool StackStore::WantsTurn(uint32_t epoch) const {
  const Generation& newest = generations_[newest_];
  return newest.epoch == epoch &&
         (newest.words.size() >= max_words_ / 2 || newest.bodies.size() >= max_bodies_ / 2);
}

StackStore::Generation* StackStore::GenerationOf(uint32_t epoch) {
  for (Generation& generation : generations_) {
    if (generation.epoch == epoch) return &generation;
  }
  if (epoch < generations_[newest_].epoch) return nullptr;
  newest_ = 1 - newest_;
  Generation& fresh = generations_[newest_];
  fresh.epoch = epoch;
  fresh.words.clear();
  fresh.bodies.Clear();
  return &fresh;
}

void StackStore::Add(const Round& round) {
  for (uint32_t begin : round.body_begins) {
    ft_stack head;
    std::memcpy(&head, round.bodies.data() + begin, sizeof(head));
    Generation* of_epoch = GenerationOf(head.epoch);
    if (of_epoch == nullptr) {
      ++refused_;
      continue;
    }
    Generation& generation = *of_epoch;
    // Two CPUs, or a collision in the kernel's table, sent it again.
    if (generation.bodies.Find(head.stack_hash) != nullptr) continue;
    size_t frames = size_t{head.kernel_frames} + head.user_frames;
    Body* inserted = Insert(generation, head.stack_hash, frames);
    if (inserted == nullptr) continue;
    Body& body = *inserted;
    body.user_frames = head.user_frames;
    body.kernel_frames = head.kernel_frames;
    body.stop = head.stop;
    body.pid = head.tgid;
    body.identity = ft_identity(head.start_ns, head.exec_id);
    auto first = round.bodies.begin() + begin + kHeadWords;
    generation.words.insert(generation.words.end(), first, first + static_cast<ptrdiff_t>(frames));
  }
}

StackStore::Body* StackStore::Insert(Generation& generation, uint64_t hash, size_t frames) {
  if (generation.words.size() + frames > max_words_ || generation.bodies.size() >= max_bodies_) {
    ++refused_;
    return nullptr;
  }
  bool inserted = false;
  Body& body = generation.bodies.Insert(hash, &inserted);
  body.begin = static_cast<uint32_t>(generation.words.size());
  body.generation = static_cast<uint8_t>(&generation - generations_);
  return &body;
}

void StackStore::Keep(uint64_t hash) {
  Generation& newest = generations_[newest_];
  if (newest.bodies.Find(hash) != nullptr) return;
  const Body* old = generations_[1 - newest_].bodies.Find(hash);
  if (old == nullptr) return;
  const std::span<const uint64_t> addresses = Addresses(*old);
  Body* kept = Insert(newest, hash, addresses.size());
  if (kept == nullptr) return;
  const Body place = *kept;
  *kept = *old;
  kept->begin = place.begin;
  kept->generation = place.generation;
  newest.words.insert(newest.words.end(), addresses.begin(), addresses.end());
}

StackStore::Body* StackStore::Find(uint64_t hash) {
  if (Body* body = generations_[newest_].bodies.Find(hash)) return body;
  return generations_[1 - newest_].bodies.Find(hash);
}

std::span<const uint64_t> StackStore::Addresses(const Body& body) const {
  const std::vector<uint64_t>& words = generations_[body.generation].words;
  return {words.data() + body.begin, size_t{body.kernel_frames} + body.user_frames};
}

size_t StackStore::bytes() const {
  size_t words = 0;
  for (const Generation& generation : generations_) words += generation.words.capacity();
  return words * sizeof(uint64_t);
}

}  // namespace firetower::daemon
