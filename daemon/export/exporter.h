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
#include "daemon/export/frame_namer.h"
#include "daemon/export/slice_self.h"
#include "daemon/export/window.h"
#include "daemon/pipeline/slice.h"
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
};

// Told of each slice and each store operation, on the export thread.
class ExportObserver {
 public:
  virtual ~ExportObserver() = default;
  virtual void OnSlice(const Slice& slice, std::span<const ContainerSlice> containers) = 0;
  virtual void OnStoreOperation(std::string_view operation, bool ok, int64_t duration_ns) = 0;
};

// The `export` thread: names the frames of slices, adds them to the open window, and at its end
// writes the window as one bundle into the store.
//
// A bundle the store refuses is kept and tried again with the next window, kMaxUnsent of them; the
// oldest beyond that are dropped and counted. What waits so is neither open nor stored: queries
// miss it.
class Exporter {
 public:
  static constexpr size_t kMaxUnsent = 8;

  Exporter(store::ObjectStore& store, SymbolLoader& loader, symbolizer::SymbolCache& cache,
           std::string proc_root, ExportObserver& observer, const Clock& clock,
           const ExportOptions& options);
  ~Exporter();

  void Start(SliceSource& slices);
  // To be called when a slice is ready, and when none comes any more.
  void Notify() { thread_.Notify(); }
  // Waits until the last slice is written. The source must have finished.
  void Finish();

  // The open window's profiles, copied. Any thread.
  std::vector<store::OpenProfile> OpenProfiles();

  uint64_t symbol_hits() const { return symbol_hits_.load(std::memory_order_relaxed); }
  uint64_t symbol_misses() const { return symbol_misses_.load(std::memory_order_relaxed); }
  // In windows that the store never took.
  uint64_t dropped_samples() const { return dropped_samples_.load(std::memory_order_relaxed); }

 private:
  struct Bundle {
    uint64_t window = 0;  // number of the Flush that made it
    k8s::RetentionClass retention = k8s::RetentionClass::kStandard;
    uint64_t samples = 0;
    std::string key;
    std::string bytes;
  };

  void Run(std::stop_token stop, WakeFd& wake);
  void TakeSlice(Slice& slice);
  void Flush();
  // Key and bytes of the profiles of the bundle's retention class; no bytes if there are none.
  Status Encode(const std::vector<Window::Finished>& profiles, Bundle& bundle) const;
  void Send();
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
  // The HTTP threads copy the open window while this thread fills it.
  std::mutex window_mutex_;
  Window window_;
  std::vector<Window::Finished> sealed_;  // the part of a window still on its way into the store
  std::deque<Bundle> unsent_;
  uint64_t windows_ = 0;
  int64_t start_s_ = 0;  // of the last window
  int64_t next_retention_ns_ = 0;
  std::atomic<uint64_t> symbol_hits_{0};
  std::atomic<uint64_t> symbol_misses_{0};
  std::atomic<uint64_t> dropped_samples_{0};
  NamedThread thread_;
};

}  // namespace firetower::daemon
