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
#include "daemon/pipeline/slice.h"
#include "daemon/recorder/flight_recorder.h"
#include "store/retention.h"
#include "store/store.h"

namespace firetower::daemon {

struct ExportOptions {
  WindowOptions window;
  std::string cluster = "standalone";
  // Eight of [0-9a-z], new with each start of the daemon; another one is made of it each time the
  // wall clock is found set back.
  std::string run;
  store::RetentionPolicy retention;
  bool ignore_opt_out = false;
};

// Told of each slice and each store operation, on the export thread.
class ExportObserver {
 public:
  virtual ~ExportObserver() = default;
  // `containers`: those to be shown whose names are known, with all their time since the first
  // sample; `gone`: whose series end.
  virtual void OnSlice(const Slice& slice, std::span<const ContainerSlice> containers,
                       std::span<const ContainerLabels> gone) = 0;
  virtual void OnStoreOperation(std::string_view operation, bool ok, int64_t duration_ns) = 0;
};

// The `export` thread: names the frames of slices, adds them to the open window, and at its end
// writes the window as one bundle into the store.
//
// A bundle the store refuses is kept and tried again with the next window, kMaxUnsent of them; the
// oldest beyond that are dropped and counted; likewise kMaxUnsentCaptures captures. What waits so
// is neither open nor stored: queries miss it.
//
// A window with a container whose name is awaited is written when that came, or did not come in
// time; the windows after it wait behind it, kMaxSealed of them and kMaxSealedBytes, then the first
// goes without waiting.
class Exporter {
 public:
  static constexpr size_t kMaxUnsent = 8;
  static constexpr size_t kMaxUnsentCaptures = 128;
  static constexpr size_t kMaxSealed = 64;
  static constexpr size_t kMaxSealedBytes = 64 << 20;

  Exporter(store::ObjectStore& store, SymbolLoader& loader, symbolizer::SymbolCache& cache,
           std::string proc_root, ExportObserver& observer, const Clock& clock,
           const ExportOptions& options, PodSource pods = nullptr, PolicyAnswer answer = nullptr);
  ~Exporter();

  void Start(SliceSource& slices);
  // To be called when a slice is ready, and when none comes any more.
  void Notify() { thread_.Notify(); }
  // Waits until the last slice is written. The source must have finished.
  void Finish();

  // A capture to be made; taken with the next slice. Any thread.
  void Order(CaptureOrder order);
  // The open window's profiles, copied. Any thread.
  std::vector<store::OpenProfile> OpenProfiles();

  uint64_t symbol_hits() const { return symbol_hits_.load(std::memory_order_relaxed); }
  uint64_t symbol_misses() const { return symbol_misses_.load(std::memory_order_relaxed); }
  // Samples of pods in windows that were handed to the store, by how their name came.
  struct PodSamples {
    uint64_t named = 0;
    uint64_t late = 0;
    uint64_t missing = 0;
    uint64_t opted_out = 0;  // left out, as is what no policy takes after all
  };
  PodSamples pod_samples() const;
  // In windows that the store never took.
  uint64_t dropped_samples() const { return dropped_samples_.load(std::memory_order_relaxed); }
  // Recorded ones that went before a capture could have them, or did not fit into it.
  uint64_t uncaptured_samples() const {
    return uncaptured_samples_.load(std::memory_order_relaxed);
  }
  // Captures ordered while as many were under way as may be.
  uint64_t refused_captures() const { return refused_captures_.load(std::memory_order_relaxed); }

 private:
  // An object on its way to the store.
  struct Bundle {
    uint64_t window = 0;  // number of the one it was made of; 0: a capture
    k8s::RetentionClass retention = k8s::RetentionClass::kStandard;
    uint64_t samples = 0;
    std::string key;
    std::string bytes;
  };

  // A window that has ended and is not in the store yet.
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
  Result<Bundle> EncodeCapture(const Captures::Finished& finished) const;
  void Flush(bool last);
  void Seal();
  // Hands windows to the store as far as their names are settled; `last`: as they are. Whether it
  // sent any.
  bool SendSealed(bool last);
  // Puts names where they came. True when none is awaited any more.
  bool Settle(Sealed& sealed, bool last);
  bool IsFull() const;
  void CountPodSamples(const Sealed& sealed);
  // Key and bytes of the profiles of the bundle's retention class; no bytes if there are none.
  Status Encode(const Sealed& sealed, Bundle& bundle) const;
  void Send();
  // Makes room: the oldest windows, or captures, beyond `most`.
  void DropUnsent(bool captures, size_t most);
  // Readers find it in the store from now on.
  void Unseal(const Bundle& bundle);
  void Retain();

  store::ObjectStore& store_;
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
  std::deque<Sealed> sealed_;  // of the first maybe only what is not in the store yet
  std::deque<Bundle> unsent_;
  uint64_t windows_ = 0;
  uint64_t late_opted_out_ = 0;  // samples of containers whose name came after their window
  int64_t start_s_ = 0;          // of the last window
  int64_t next_retention_ns_ = 0;
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
