// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/thread.h"
#include "daemon/outbox/refusal_log.h"
#include "k8s/policy/policy.h"
#include "store/store.h"

namespace firetower::store {
struct OpenProfile;
}

namespace firetower::daemon {

// An object on its way to the store, held until the store has it or it is dropped.
struct Outgoing {
  uint64_t window = 0;  // number of the one it was made of; 0: a capture
  k8s::RetentionClass retention = k8s::RetentionClass::kStandard;
  uint64_t samples = 0;
  std::string key;
  std::string bytes;
  // The profiles in it. Readers see them for as long as somebody holds them.
  std::shared_ptr<const std::vector<store::OpenProfile>> profiles = nullptr;

  bool IsCapture() const { return window == 0; }
};

// Receiver of finished objects. Send never waits for a store.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  virtual void Send(Outgoing object) = 0;
};

// Observer of each operation on the store, called on the thread that does it.
class StoreObserver {
 public:
  virtual ~StoreObserver() = default;
  virtual void OnStoreOperation(std::string_view operation, const Status& result,
                                int64_t duration_ns) = 0;
};

// The `outbox` thread: passes objects to the store one after another, the oldest first, so that a
// hanging disk blocks neither metrics nor the next window. Once a minute it also does the store's
// maintenance.
//
// A refused object is tried again with the next object and every kRetryMs. If it can never be
// stored (kInvalid, kUnsupported), it is dropped and counted at once. Beyond kMaxWindows bundles
// and kMaxCaptures captures the oldest objects are dropped and counted, and so are those that the
// store has not taken at the end.
class Outbox : public ObjectSink {
 public:
  static constexpr size_t kMaxWindows = 8;
  static constexpr size_t kMaxCaptures = 128;
  static constexpr int kRetryMs = 10'000;

  // All references must outlive this. `operation` is the name of a put for the observer, a string
  // literal. `every_minute` runs on this thread.
  Outbox(store::ObjectStore& store, std::string_view operation, StoreObserver& observer,
         const Clock& clock, std::function<void()> every_minute)
      : store_(store),
        operation_(operation),
        observer_(observer),
        clock_(clock),
        every_minute_(std::move(every_minute)) {}
  ~Outbox() override { Finish(); }

  void Start();
  // Waits until the store has taken or refused all objects. Nothing may be sent any more.
  void Finish();

  // Any thread.
  void Send(Outgoing object) override;
  // The samples in objects that the store never took. Any thread.
  uint64_t dropped_samples() const { return dropped_samples_.load(std::memory_order_relaxed); }

 private:
  using Objects = std::vector<std::shared_ptr<const Outgoing>>;

  void Run(std::stop_token stop, WakeFd& wake);
  void StoreAll();
  bool StoreQueued();  // whether anything was stored
  std::shared_ptr<const Outgoing> Begin();
  // Removes the current object from the queue if it is `done`.
  void End(bool done);
  void TellRefused(const Outgoing& object, const Error& error);
  // Takes out the oldest objects of a kind beyond `most`, except the one that is being stored. The
  // caller holds mutex_.
  void TakeOldest(bool captures, size_t most, Objects& dropped);
  void Drop(const Objects& dropped, std::string_view why);
  void RunMaintenance();
  int WaitMs() const;

  store::ObjectStore& store_;
  const std::string_view operation_;
  StoreObserver& observer_;
  const Clock& clock_;
  const std::function<void()> every_minute_;
  mutable std::mutex mutex_;  // the export thread's side: a few objects a window
  std::deque<std::shared_ptr<const Outgoing>> queue_;
  bool storing_ = false;  // the first of the queue
  int64_t next_due_ns_ = 0;
  RefusalLog refusals_{clock_};
  std::atomic<uint64_t> dropped_samples_{0};
  NamedThread thread_;
};

}  // namespace firetower::daemon
