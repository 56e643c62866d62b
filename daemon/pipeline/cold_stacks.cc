// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/cold_stacks.h"

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
      waiting_bytes_ + stack.size() > kMaxWaitingBytes) {
    finished_.push_back(std::move(start));
    return;
  }
  Waiting waiting{std::move(start), cold, {stack.begin(), stack.end()}, clock_.MonotonicNs()};
  waiting_.push_back(std::move(waiting));
  waiting_bytes_ += stack.size();
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
