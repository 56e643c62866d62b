// SPDX-License-Identifier: Apache-2.0
#include "daemon/outbox/outbox.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kDueEveryNs = 60 * kNsPerSecond;

// Errors of the disk are not permanent.
bool IsForGood(const Error& error) {
  if (error.sys_errno() != 0) return false;
  return error.code() == ErrorCode::kInvalid || error.code() == ErrorCode::kUnsupported;
}

}  // namespace

void Outbox::Start() {
  thread_ = NamedThread("outbox", [this](std::stop_token stop, WakeFd& wake) { Run(stop, wake); });
}

void Outbox::Finish() {
  thread_.RequestStop();
  thread_.Join();
}

void Outbox::Run(std::stop_token stop, WakeFd& wake) {
  for (;;) {
    const bool last = stop.stop_requested();
    StoreAll();
    RunMaintenance();
    if (last) break;
    wake.Wait(WaitMs());
  }
  Objects left;
  {
    std::lock_guard lock(mutex_);
    for (const bool captures : {false, true}) TakeOldest(captures, 0, left);
  }
  Drop(left, "the daemon ends and the store does not take it");
}

int Outbox::WaitMs() const {
  const int64_t due_ms = (next_due_ns_ - clock_.MonotonicNs()) / kNsPerMs + 1;
  const int wait_ms = static_cast<int>(std::max<int64_t>(due_ms, 1));
  std::lock_guard lock(mutex_);
  return queue_.empty() ? wait_ms : std::min(wait_ms, kRetryMs);
}

void Outbox::Send(Outgoing object) {
  Objects dropped;
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::make_shared<const Outgoing>(std::move(object)));
    TakeOldest(false, kMaxWindows, dropped);
    TakeOldest(true, kMaxCaptures, dropped);
  }
  Drop(dropped, "the store does not take it");
  thread_.Notify();
}

std::shared_ptr<const Outgoing> Outbox::Begin() {
  std::lock_guard lock(mutex_);
  if (queue_.empty()) return nullptr;
  storing_ = true;
  return queue_.front();
}

void Outbox::End(bool done) {
  std::lock_guard lock(mutex_);
  storing_ = false;
  if (done) queue_.pop_front();
}

void Outbox::StoreAll() {
  if (!StoreQueued()) return;
  // A window's memory peaks while it is encoded and until it is stored; most nodes need that room
  // elsewhere for a minute.
  ::malloc_trim(0);
}

bool Outbox::StoreQueued() {
  bool any = false;
  while (const std::shared_ptr<const Outgoing> object = Begin()) {
    const int64_t begin_ns = clock_.MonotonicNs();
    const Status status = store_.Put(object->key, object->bytes);
    observer_.OnStoreOperation(operation_, status, clock_.MonotonicNs() - begin_ns);
    const bool never = !status && IsForGood(status.error());
    End(status.has_value() || never);
    if (never) {
      Drop({object}, status.error().message());
      continue;
    }
    if (!status) {
      TellRefused(*object, status.error());
      return any;
    }
    if (const std::optional<uint64_t> refused = refusals_.OnTaken())
      LOG(kInfo, "stored again", {{"store", store_.Describe()}, {"refused", *refused}});
    any = true;
  }
  return any;
}

void Outbox::TellRefused(const Outgoing& object, const Error& error) {
  const std::optional<uint64_t> tries = refusals_.OnRefused(error);
  if (!tries) return;
  LOG(kError, "not stored, kept for the next try",
      {{"key", object.key},
       {"store", store_.Describe()},
       {"tries", *tries},
       {"error", error.message()}});
}

void Outbox::TakeOldest(bool captures, size_t most, Objects& dropped) {
  const auto is_one = [&](const auto& object) { return object->IsCapture() == captures; };
  auto beyond = std::ranges::count_if(queue_, is_one) - static_cast<ptrdiff_t>(most);
  auto at = queue_.begin() + (storing_ ? 1 : 0);
  while (beyond > 0 && at != queue_.end()) {
    if (!is_one(*at)) {
      ++at;
      continue;
    }
    dropped.push_back(std::move(*at));
    at = queue_.erase(at);
    --beyond;
  }
}

void Outbox::Drop(const Objects& dropped, std::string_view why) {
  for (const std::shared_ptr<const Outgoing>& object : dropped) {
    LOG(kError, object->IsCapture() ? "capture dropped" : "window dropped",
        {{"key", object->key}, {"why", why}});
    dropped_samples_.fetch_add(object->samples, std::memory_order_relaxed);
  }
}

void Outbox::RunMaintenance() {
  const int64_t now_ns = clock_.MonotonicNs();
  if (now_ns < next_due_ns_) return;
  next_due_ns_ = now_ns + kDueEveryNs;
  every_minute_();
}

}  // namespace firetower::daemon
