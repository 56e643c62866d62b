// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/exporter.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "daemon/export/late_names.h"
#include "daemon/export/store_class.h"
#include "profile/pprof.h"
#include "profile/times/timed_profile.h"
#include "store/bundle.h"
#include "store/capture.h"
#include "store/key.h"

namespace firetower::daemon {
namespace {

// A slice whose modules are still being read waits this long for their names, for the metrics: in
// the window's profiles they may come later. The window's end waits for as long as a large
// executable takes to be read on a busy machine.
constexpr int kSymbolWaitMs = 200;
constexpr int kWindowSymbolWaitMs = 2000;
// The kernel's are read once, and a window without them names nothing inside the kernel: its end
// waits longer for them, where a starting machine has no CPU for it.
constexpr int kKernelSymbolWaitMs = 8000;

// Another run's name, made from this one's.
std::string RunAfter(std::string_view run) {
  uint64_t hash = HashText(run);
  std::string next;
  for (; next.size() < run.size(); hash /= 36) {
    next += "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
  }
  return next;
}

bool ShowsKernel(const Slice& slice) {
  return std::any_of(slice.frames.begin(), slice.frames.end(),
                     [](const Frame& frame) { return frame.module == ModuleRegistry::kKernel; });
}

}  // namespace

Exporter::Exporter(ObjectSink& sink, SymbolLoader& loader, symbolizer::SymbolCache& cache,
                   std::string proc_root, ExportObserver& observer, const Clock& clock,
                   const ExportOptions& options, PodSource pods, PolicyAnswer answer,
                   const RuntimeNotes* runtimes)
    : sink_(sink),
      loader_(loader),
      observer_(observer),
      clock_(clock),
      options_(options),
      namer_(loader, cache, std::move(proc_root)),
      self_(namer_),
      names_(std::move(pods), clock, options_.ignore_opt_out, std::move(answer)),
      window_(options_.window, namer_, names_),
      captures_(options_.window.node, options_.window.labels, namer_, names_) {
  if (runtimes != nullptr) runtimes_.emplace(*runtimes);
}

Exporter::~Exporter() { Finish(); }

void Exporter::Start(SliceSource& slices) {
  slices_ = &slices;
  thread_ = NamedThread("export", [this](std::stop_token stop, WakeFd& wake) { Run(stop, wake); });
}

void Exporter::Finish() { thread_.Join(); }

void Exporter::Run(std::stop_token, WakeFd& wake) {
  for (;;) {
    bool last = slices_->finished();
    while (std::unique_ptr<Slice> slice = slices_->TryPop()) {
      TakeSlice(*slice);
      slices_->Recycle(std::move(slice));
    }
    if (last) break;
    wake.Wait(-1);
  }
  Flush(true);
}

void Exporter::TakeSlice(Slice& slice) {
  namer_.LearnModules(slice);
  // Its own can wait for the window's end: a machine that computes, and nothing else, is spared.
  const bool reads_kernel = slice.kernel_code && loader_.WantKernel();
  shows_kernel_ = shows_kernel_ || ShowsKernel(slice);
  loader_.WaitIdle(reads_kernel ? kWindowSymbolWaitMs : kSymbolWaitMs);
  namer_.BeginSlice();
  names_.Refresh();
  for (const Slice::ContainerEntry& entry : slice.containers)
    names_.Note(entry.container, entry.decision);
  if (!window_.empty() && slice.window_start_ns != window_.start_ns()) Flush(false);
  AddToWindow(slice);
  TakeOrders();
  captures_.Take(slice);
  recorder_.Take(slice);
  named_selves_.Take(slice, self_.Compute(slice));
  observer_.OnSlice(slice, named_selves_.containers(), named_selves_.gone());
  CountRuntimes(slice);
  // After the metrics: names that it waits for push tables out that they want.
  SendCaptures(slice.end_ns, false);
  uncaptured_samples_.store(recorder_.dropped_samples() + captures_.dropped_samples(),
                            std::memory_order_relaxed);
  refused_captures_.store(captures_.refused(), std::memory_order_relaxed);
  symbol_hits_.store(namer_.hits(), std::memory_order_relaxed);
  symbol_misses_.store(namer_.misses(), std::memory_order_relaxed);
  if (slice.ends_window) {
    name_facts_.Publish(std::make_shared<const NameFacts>(namer_.TakeFacts()));
    Flush(false);
  } else {
    SendSealed(false);
  }
}

void Exporter::EndHeap(uint32_t pid, int64_t time_ns) {
  std::lock_guard lock(orders_mutex_);
  ended_heaps_.emplace_back(pid, time_ns);
}

void Exporter::AddToWindow(const Slice& slice) {
  std::vector<std::pair<uint32_t, int64_t>> ended;
  {
    std::lock_guard lock(orders_mutex_);
    ended.swap(ended_heaps_);
  }
  std::lock_guard lock(window_mutex_);
  for (const auto& [pid, time_ns] : ended) window_.EndHeap(pid, time_ns);
  window_.Add(slice);
}

void Exporter::CountRuntimes(const Slice& slice) {
  if (!runtimes_) return;
  runtimes_->Take(slice, [this](uint32_t module) -> const Module& {
    return namer_.ModuleOf({.module = module});
  });
  runtime_facts_.Publish(std::make_shared<const RuntimeFacts>(runtimes_->Facts(slice.ends_window)));
}

void Exporter::Order(CaptureOrder order) {
  std::lock_guard lock(orders_mutex_);
  orders_.push_back(std::move(order));
}

void Exporter::TakeOrders() {
  std::vector<CaptureOrder> orders;
  {
    std::lock_guard lock(orders_mutex_);
    orders.swap(orders_);
  }
  for (CaptureOrder& order : orders) {
    const std::string id = order.id;
    if (captures_.Begin(std::move(order), recorder_)) continue;
    LOG(kError, "no capture: too many are under way", {{"capture", id}});
  }
}

Result<Outgoing> Exporter::EncodeCapture(const Captures::Finished& finished) const {
  const store::CatalogRow& row = finished.row;
  const store::CaptureKey key =
      CaptureKeyOf(row, finished.retention, store::ToKeyComponent(options_.cluster));
  Outgoing capture;
  capture.samples = static_cast<uint64_t>(row.samples);
  ASSIGN_OR_RETURN(capture.key, store::BuildKey(key));
  ASSIGN_OR_RETURN(capture.bytes,
                   store::EncodeCapture(row, profile::EncodePprof(finished.profile)));
  return capture;
}

void Exporter::SendCaptures(int64_t now_ns, bool last) {
  std::vector<Captures::Finished> captures = captures_.TakeFinished(now_ns, last);
  for (const Captures::Finished& finished : captures) {
    Result<Outgoing> capture = EncodeCapture(finished);
    if (capture) {
      LOG(kInfo, "capture", {{"key", capture->key}, {"samples", capture->samples}});
      sink_.Send(*std::move(capture));
    } else {
      dropped_samples_.fetch_add(static_cast<uint64_t>(finished.row.samples),
                                 std::memory_order_relaxed);
      LOG(kError, "capture not encoded", {{"error", capture.error().message()}});
    }
  }
}

Status Exporter::Encode(const Sealed& sealed, Outgoing& bundle) const {
  store::BundleKey key;
  key.retention = StoreClass(bundle.retention);
  key.cluster = store::ToKeyComponent(options_.cluster);
  key.start_s = sealed.start_s;
  key.seconds = options_.window.window_ns / kNsPerSecond;
  key.node = store::ToKeyComponent(options_.window.node);
  key.run = sealed.run;
  store::BundleWriter writer(sealed.start_s * kNsPerSecond);
  for (const Window::Finished& finished : sealed.profiles) {
    if (finished.retention != bundle.retention) continue;
    bundle.samples += static_cast<uint64_t>(finished.open.row.samples);
    const store::OpenProfile& open = finished.open;
    profile::TimedFiles files = profile::EncodeTimed(*open.profile, open.times.get());
    RETURN_IF_ERROR(writer.Add(open.row, std::move(files.pprof_gz), std::move(files.times_gz)));
  }
  if (writer.entries() == 0) return OkStatus();
  ASSIGN_OR_RETURN(bundle.key, store::BuildKey(key));
  ASSIGN_OR_RETURN(bundle.bytes, std::move(writer).Finish());
  return OkStatus();
}

void Exporter::Flush(bool last) {
  names_.Refresh();
  if (last) {
    TakeOrders();
    SendCaptures(clock_.MonotonicNs(), true);
  }
  if (!window_.empty()) Seal();
  SendSealed(last);
}

void Exporter::Seal() {
  const int64_t last_s = std::exchange(start_s_, window_.start_ns() / kNsPerSecond);
  // The wall clock was set back: names under another run never meet those written before, and
  // each window still stands under its own time, where queries look for it.
  if (start_s_ <= last_s) options_.run = RunAfter(options_.run);
  if (std::exchange(shows_kernel_, false)) loader_.WantKernel();
  if (window_.waits_for_names()) {
    loader_.WaitKernel(kKernelSymbolWaitMs);
    loader_.WaitIdle(kWindowSymbolWaitMs);
    namer_.BeginSlice();
    NameLate(namer_, window_.LateProfiles(), Clock::System().MonotonicNs() + kLateNamesNs,
             &window_mutex_);
  }
  // Readers see a sealed window until it is in the store.
  std::lock_guard lock(window_mutex_);
  sealed_.push_back({++windows_, start_s_, options_.run, window_.Take()});
}

bool Exporter::IsFull() const {
  size_t bytes = 0;
  for (const Sealed& sealed : sealed_) {
    for (const Window::Finished& finished : sealed.profiles)
      bytes +=
          finished.open.profile->bytes() + (finished.open.times ? finished.open.times->bytes() : 0);
  }
  return sealed_.size() > kMaxSealed || bytes > kMaxSealedBytes;
}

bool Exporter::Settle(Sealed& sealed, bool last) {
  bool settled = true;
  // This changes only profiles without a name, which readers do not see.
  std::lock_guard lock(window_mutex_);
  std::erase_if(sealed.profiles, [&](Window::Finished& finished) {
    if (last) names_.GiveUp(finished.container);
    const NamedContainer& named = names_.NameOf(finished.container);
    if (finished.unnamed && named.name) {
      const auto samples = static_cast<uint64_t>(finished.open.row.samples);
      if (named.name->LeftOut()) late_opted_out_ += samples;
      if (!named.name->Stored()) return true;
      window_.PutName(*named.name, finished);
    }
    settled &= finished.unnamed == nullptr;
    return false;
  });
  return settled;
}

void Exporter::SendSealed(bool last) {
  while (!sealed_.empty() && Settle(sealed_.front(), last || IsFull())) {
    CountPodSamples(sealed_.front());
    SendFirst();
  }
  opted_out_samples_.store(window_.opted_out_samples() + late_opted_out_,
                           std::memory_order_relaxed);
}

void Exporter::SendFirst() {
  Sealed& sealed = sealed_.front();
  std::vector<Outgoing> bundles;
  for (k8s::RetentionClass retention :
       {k8s::RetentionClass::kShort, k8s::RetentionClass::kStandard, k8s::RetentionClass::kLong}) {
    Outgoing bundle{sealed.number, retention, 0, "", ""};
    if (Status encoded = Encode(sealed, bundle); !encoded) {
      dropped_samples_.fetch_add(bundle.samples, std::memory_order_relaxed);
      LOG(kError, "window not encoded", {{"error", encoded.error().message()}});
    } else if (!bundle.bytes.empty()) {
      bundles.push_back(std::move(bundle));
    }
  }
  {
    // From here on readers find its profiles among what was sent.
    std::lock_guard lock(window_mutex_);
    std::erase_if(sent_, [](const auto& profiles) { return profiles.expired(); });
    for (Outgoing& bundle : bundles) {
      auto profiles = std::make_shared<std::vector<store::OpenProfile>>();
      for (Window::Finished& finished : sealed.profiles) {
        if (finished.retention == bundle.retention && !finished.unnamed)
          profiles->push_back(std::move(finished.open));
      }
      sent_.push_back(profiles);
      bundle.profiles = std::move(profiles);
    }
    sealed_.pop_front();
  }
  for (Outgoing& bundle : bundles) sink_.Send(std::move(bundle));
}

void Exporter::CountPodSamples(const Sealed& sealed) {
  for (const Window::Finished& finished : sealed.profiles) {
    if (finished.container->path.pod_uid.empty()) continue;
    const NamedContainer& named = names_.NameOf(finished.container);
    auto& count = named.state == NameState::kMissing ? missing_samples_
                  : named.late                       ? late_samples_
                                                     : named_samples_;
    count.fetch_add(static_cast<uint64_t>(finished.open.row.samples), std::memory_order_relaxed);
  }
}

Exporter::PodSamples Exporter::pod_samples() const {
  PodSamples samples;
  samples.named = named_samples_.load(std::memory_order_relaxed);
  samples.late = late_samples_.load(std::memory_order_relaxed);
  samples.missing = missing_samples_.load(std::memory_order_relaxed);
  samples.opted_out = opted_out_samples_.load(std::memory_order_relaxed);
  return samples;
}

std::vector<store::OpenProfile> Exporter::OpenProfiles() {
  std::lock_guard lock(window_mutex_);
  std::vector<store::OpenProfile> open = window_.Snapshot();
  for (const auto& sent : sent_) {
    if (const auto profiles = sent.lock())
      open.insert(open.end(), profiles->begin(), profiles->end());
  }
  for (const Sealed& sealed : sealed_) {
    for (const Window::Finished& finished : sealed.profiles) {
      if (!finished.unnamed) open.push_back(finished.open);
    }
  }
  return open;
}

}  // namespace firetower::daemon
