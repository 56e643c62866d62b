// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/thread.h"
#include "daemon/export/captures.h"
#include "daemon/export/container_names.h"
#include "daemon/export/frame_namer.h"
#include "daemon/export/named_selves.h"
#include "daemon/export/slice_self.h"
#include "daemon/export/window.h"
#include "daemon/outbox/outbox.h"
#include "daemon/pipeline/slice.h"
#include "daemon/recorder/flight_recorder.h"
#include "store/query.h"

namespace firetower::daemon {

struct ExportOptions {
  WindowOptions window;
  std::string cluster = "standalone";
  // Eight of [0-9a-z], new with each start of the daemon; another one is made of it each time the
  // wall clock is found set back.
  std::string run;
  bool ignore_opt_out = false;
};

// Told of each slice, on the export thread.
class ExportObserver {
 public:
  virtual ~ExportObserver() = default;
  // `containers`: those to be shown whose names are known, with all their time since the first
  // sample; `gone`: whose series end.
  virtual void OnSlice(const Slice& slice, std::span<const ContainerSlice> containers,
                       std::span<const ContainerLabels> gone) = 0;
};

// The `export` thread: names the frames of slices, adds them to the open window, and at its end
// sends the window away as a bundle for each retention class.
//
// A window with a container whose name is awaited is sent when that came, or did not come in time;
// the windows after it wait behind it, kMaxSealed of them and kMaxSealedBytes, then the first goes
// without waiting.
class Exporter {
 public:
  static constexpr size_t kMaxSealed = 64;
  static constexpr size_t kMaxSealedBytes = 64 << 20;

  Exporter(ObjectSink& sink, SymbolLoader& loader, symbolizer::SymbolCache& cache,
           std::string proc_root, ExportObserver& observer, const Clock& clock,
           const ExportOptions& options, PodSource pods = nullptr, PolicyAnswer answer = nullptr);
  ~Exporter();

  void Start(SliceSource& slices);
  // To be called when a slice is ready, and when none comes any more.
  void Notify() { thread_.Notify(); }
  // Waits until the last slice is sent. The source must have finished.
  void Finish();

  // A capture to be made; taken with the next slice. Any thread.
  void Order(CaptureOrder order);
  // The profiles that are in no store yet, copied. Any thread.
  std::vector<store::OpenProfile> OpenProfiles();

  uint64_t symbol_hits() const { return symbol_hits_.load(std::memory_order_relaxed); }
  uint64_t symbol_misses() const { return symbol_misses_.load(std::memory_order_relaxed); }
  // Returns how the frames of the last window got their names; null before the first one ended. Any
  // thread.
  std::shared_ptr<const NameFacts> name_facts() const { return name_facts_.Get(); }
  // Samples of pods in windows that were sent, by how their name came.
  struct PodSamples {
    uint64_t named = 0;
    uint64_t late = 0;
    uint64_t missing = 0;
    uint64_t opted_out = 0;  // left out, as is what no policy takes after all
  };
  PodSamples pod_samples() const;
  // In windows that could not be encoded.
  uint64_t dropped_samples() const { return dropped_samples_.load(std::memory_order_relaxed); }
  // Recorded ones that went before a capture could have them, or did not fit into it.
  uint64_t uncaptured_samples() const {
    return uncaptured_samples_.load(std::memory_order_relaxed);
  }
  // Captures ordered while as many were under way as may be.
  uint64_t refused_captures() const { return refused_captures_.load(std::memory_order_relaxed); }

 private:
  // A window that has ended and was not sent yet.
  struct Sealed {
    uint64_t number = 0;
    int64_t start_s = 0;
    std::string run;
    std::vector<Window::Finished> profiles;
  };

  void Run(std::stop_token stop, WakeFd& wake);
  void TakeSlice(Slice& slice);
  void TakeOrders();
  // Those that are over by then; `last`: all.
  void SendCaptures(int64_t now_ns, bool last);
  Result<Outgoing> EncodeCapture(const Captures::Finished& finished) const;
  void Flush(bool last);
  void Seal();
  // Sends windows as far as their names are settled; `last`: as they are.
  void SendSealed(bool last);
  void SendFirst();  // of those that are sealed
  // Puts names where they came. True when none is awaited any more.
  bool Settle(Sealed& sealed, bool last);
  bool IsFull() const;
  void CountPodSamples(const Sealed& sealed);
  // Key and bytes of the profiles of the bundle's retention class; no bytes if there are none.
  Status Encode(const Sealed& sealed, Outgoing& bundle) const;

  ObjectSink& sink_;
  SymbolLoader& loader_;
  ExportObserver& observer_;
  const Clock& clock_;
  ExportOptions options_;
  SliceSource* slices_ = nullptr;
  FrameNamer namer_;
  SliceSelf self_;
  ContainerNames names_;
  NamedSelves named_selves_{names_};
  // The HTTP threads copy the open window while this thread fills it.
  std::mutex window_mutex_;
  Window window_;
  FlightRecorder recorder_;
  Captures captures_;
  std::mutex orders_mutex_;  // the control thread's side, a few times an hour
  std::vector<CaptureOrder> orders_;
  std::deque<Sealed> sealed_;
  // Profiles of bundles that were sent; gone once the store has them.
  std::vector<std::weak_ptr<const std::vector<store::OpenProfile>>> sent_;
  uint64_t windows_ = 0;
  bool shows_kernel_ = false;           // the open window, somewhere
  uint64_t late_opted_out_ = 0;         // samples of containers whose name came after their window
  int64_t start_s_ = 0;                 // of the last window
  SnapshotCell<NameFacts> name_facts_;  // for the HTTP threads
  std::atomic<uint64_t> symbol_hits_{0};
  std::atomic<uint64_t> symbol_misses_{0};
  std::atomic<uint64_t> dropped_samples_{0};
  std::atomic<uint64_t> uncaptured_samples_{0};
  std::atomic<uint64_t> refused_captures_{0};
  std::atomic<uint64_t> named_samples_{0};
  std::atomic<uint64_t> late_samples_{0};
  std::atomic<uint64_t> missing_samples_{0};
  std::atomic<uint64_t> opted_out_samples_{0};
  NamedThread thread_;
};

}  // namespace firetower::daemon
