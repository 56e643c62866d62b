// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/cold_stacks.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace firetower::daemon {

bool ColdStacks::WalkOn(FinishedStack& stack, const ColdStack& cold,
                        std::span<const std::byte> bytes) {
  size_t user_frames = stack.addresses.size() - stack.kernel_frames;
  size_t room = FT_MAX_USER_FRAMES - std::min<size_t>(user_frames, FT_MAX_USER_FRAMES);
  Process* process = processes_.FindAlive(stack.sample.tgid);
  return unwinder_.Finish(cold, bytes, *stack.space, process, room, stack.addresses, &stack.stop) ==
         Unwinder::Walk::kEnded;
}

void ColdStacks::Add(FinishedStack start, const ColdStack& cold, std::span<const std::byte> stack) {
  start.stop = FT_STOP_COLD;
  if (start.space == nullptr || WalkOn(start, cold, stack) ||
      !MakeRoom(stack.size(), start.sample.tgid)) {
    finished_.push_back(std::move(start));
    return;
  }
  Waiting waiting{std::move(start), cold, {stack.begin(), stack.end()}, clock_.MonotonicNs()};
  waiting_.push_back(std::move(waiting));
  waiting_bytes_ += stack.size();
}

// A compiler that starts beside a small program fills all the room while its library of 100 MB is
// read, so whoever holds most of it gives way.
bool ColdStacks::MakeRoom(size_t bytes, uint32_t tgid) {
  while (waiting_bytes_ + bytes > kMaxWaitingBytes) {
    std::unordered_map<uint32_t, size_t> held;
    for (const Waiting& waiting : waiting_) held[waiting.stack.sample.tgid] += waiting.bytes.size();
    const auto most =
        std::ranges::max_element(held, {}, [](const auto& process) { return process.second; });
    if (most == held.end() || held[tgid] + bytes >= most->second) return false;
    const auto oldest = std::ranges::find(
        waiting_, most->first, [](const Waiting& waiting) { return waiting.stack.sample.tgid; });
    waiting_bytes_ -= oldest->bytes.size();
    finished_.push_back(std::move(oldest->stack));
    waiting_.erase(oldest);
  }
  return true;
}

void ColdStacks::Retry(bool last) {
  bool news = std::exchange(tables_seen_, unwinder_.tables_taken()) != unwinder_.tables_taken();
  int64_t expired_ns = clock_.MonotonicNs() - kMaxWaitNs;
  if (!news && !last && (waiting_.empty() || waiting_.front().since_ns > expired_ns)) return;
  std::deque<Waiting> keep;
  for (Waiting& waiting : waiting_) {
    bool ended = WalkOn(waiting.stack, waiting.cold, waiting.bytes);
    if (ended || last || waiting.since_ns <= expired_ns) {
      finished_.push_back(std::move(waiting.stack));
      waiting_bytes_ -= waiting.bytes.size();
    } else {
      keep.push_back(std::move(waiting));
    }
  }
  waiting_ = std::move(keep);
}

}  // namespace firetower::daemon
