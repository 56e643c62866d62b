// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/thread.h"
#include "daemon/export/captures.h"
#include "daemon/export/container_names.h"
#include "daemon/export/frame_namer.h"
#include "daemon/export/hotspots/named_selves.h"
#include "daemon/export/hotspots/slice_self.h"
#include "daemon/export/runtimes/runtime_counts.h"
#include "daemon/export/window.h"
#include "daemon/outbox/outbox.h"
#include "daemon/pipeline/slice.h"
#include "daemon/recorder/flight_recorder.h"
#include "store/query.h"

namespace firetower::daemon {

struct ExportOptions {
  WindowOptions window;
  std::string cluster = "standalone";
  // Eight characters of [0-9a-z], new at each start of the daemon. A new one is derived from it
  // each time the wall clock is found set back.
  std::string run;
  bool ignore_opt_out = false;
};

// Observer of slices, called on the export thread.
class ExportObserver {
 public:
  virtual ~ExportObserver() = default;
  // `containers` are those to show whose names are known, with all their time since the first
  // sample. `gone` are those whose series end.
  virtual void OnSlice(const Slice& slice, std::span<const ContainerSlice> containers,
                       std::span<const ContainerLabels> gone) = 0;
};

// The `export` thread: names the frames of slices, adds the slices to the open window, and at the
// end of the window sends it as one bundle for each retention class.
//
// A window with a container whose name is awaited is sent when the name arrives or the wait ends.
// Later windows wait behind it. Beyond kMaxSealed windows or kMaxSealedBytes the first window is
// sent without its names.
class Exporter {
 public:
  static constexpr size_t kMaxSealed = 64;
  static constexpr size_t kMaxSealedBytes = 64 << 20;

  Exporter(ObjectSink& sink, SymbolLoader& loader, symbolizer::SymbolCache& cache,
           std::string proc_root, ExportObserver& observer, const Clock& clock,
           const ExportOptions& options, PodSource pods = nullptr, PolicyAnswer answer = nullptr,
           const RuntimeNotes* runtimes = nullptr);
  ~Exporter();

  void Start(SliceSource& slices);
  // Must be called when a slice is ready, and after the last one.
  void Notify() { thread_.Notify(); }
  // Waits until the last slice is sent. The source must have finished.
  void Finish();

  // Orders a capture, which starts with the next slice. Any thread.
  void Order(CaptureOrder order);
  // Forgets what a process had in use at a time (monotonic). Any thread.
  void EndHeap(uint32_t pid, int64_t time_ns);
  // Returns copies of the profiles that no store has yet. Any thread.
  std::vector<store::OpenProfile> OpenProfiles();

  uint64_t symbol_hits() const { return symbol_hits_.load(std::memory_order_relaxed); }
  uint64_t symbol_misses() const { return symbol_misses_.load(std::memory_order_relaxed); }
  // Returns counts of how frames of the last window got their names; null before the first one
  // ended. Any thread.
  std::shared_ptr<const NameFacts> name_facts() const { return name_facts_.Get(); }
  // Returns what is known of interpreters' samples; null before the first slice. Any thread.
  std::shared_ptr<const RuntimeFacts> runtime_facts() const { return runtime_facts_.Get(); }
  // The samples of pods in sent windows, by the way in which their names came.
  struct PodSamples {
    uint64_t named = 0;
    uint64_t late = 0;
    uint64_t missing = 0;
    uint64_t opted_out = 0;  // left out, as is what no policy takes after all
  };
  PodSamples pod_samples() const;
  // The number of samples in windows that could not be encoded.
  uint64_t dropped_samples() const { return dropped_samples_.load(std::memory_order_relaxed); }
  // The number of recorded samples that were gone before a capture could take them, or did not fit
  // into it.
  uint64_t uncaptured_samples() const {
    return uncaptured_samples_.load(std::memory_order_relaxed);
  }
  // The number of captures that were refused because too many were under way.
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
  void CountRuntimes(const Slice& slice);
  void TakeOrders();
  void AddToWindow(const Slice& slice);
  // Sends captures that have ended by then; with `last`, all captures.
  void SendCaptures(int64_t now_ns, bool last);
  Result<Outgoing> EncodeCapture(const Captures::Finished& finished) const;
  void Flush(bool last);
  void Seal();
  // Sends windows whose names are settled; with `last`, all windows as they are.
  void SendSealed(bool last);
  void SendFirst();  // of those that are sealed
  // Adds the names that have come. Returns true if no name is awaited any more.
  bool Settle(Sealed& sealed, bool last);
  bool IsFull() const;
  void CountPodSamples(const Sealed& sealed);
  // Encodes the profiles of the bundle's retention class, with its key. Leaves the bytes empty if
  // there are none.
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
  std::optional<RuntimeCounts> runtimes_;
  // Guards the open window: HTTP threads copy it while this thread fills it.
  std::mutex window_mutex_;
  Window window_;
  FlightRecorder recorder_;
  Captures captures_;
  std::mutex orders_mutex_;  // the control thread's side, a few times an hour
  std::vector<CaptureOrder> orders_;
  std::vector<std::pair<uint32_t, int64_t>> ended_heaps_;  // pids and times
  std::deque<Sealed> sealed_;
  // Profiles of bundles that were sent; gone once the store has them.
  std::vector<std::weak_ptr<const std::vector<store::OpenProfile>>> sent_;
  uint64_t windows_ = 0;
  bool shows_kernel_ = false;           // the open window, somewhere
  uint64_t late_opted_out_ = 0;         // samples of containers whose name came after their window
  int64_t start_s_ = 0;                 // of the last window
  SnapshotCell<NameFacts> name_facts_;  // for the HTTP threads
  SnapshotCell<RuntimeFacts> runtime_facts_;
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
