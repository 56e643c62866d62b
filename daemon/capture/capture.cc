// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/capture.h"

#include <sys/epoll.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <set>

#include "base/file.h"
#include "base/log.h"
#include "daemon/capture/perf_event.h"
#include "daemon/capture/rounds/round_builder.h"
#include "daemon/capture/rounds/round_pace.h"

namespace firetower::daemon {
namespace {

constexpr size_t kRounds = 8;
// A record is stamped before it is written: one in the making is at most this old.
constexpr int kSettleMs = 2;
// CPUs come and go by hand or by a hypervisor: once a second is soon enough.
constexpr int64_t kCpuCheckNs = kNsPerSecond;

class CaptureImpl : public Capture {
 public:
  CaptureImpl(BpfSampler& sampler, const CaptureOptions& options, const Clock& clock,
              std::function<void()> on_round)
      : sampler_(sampler),
        options_(options),
        clock_(clock),
        on_round_(std::move(on_round)),
        full_(kRounds),
        free_(kRounds),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        pace_(options.pressed_round_ms) {
    for (size_t i = 0; i < kRounds; ++i) free_.TryPush(std::make_unique<Round>());
  }

  ~CaptureImpl() override { Stop(); }

  Status OpenSideband() override {
    ASSIGN_OR_RETURN(std::vector<int> cpus, OnlineCpus());
    for (int cpu : cpus) RETURN_IF_ERROR(AddSideband(cpu));
    return OkStatus();
  }

  void SetWanted(std::optional<CpuSet> cpus, bool others) override {
    {
      std::lock_guard lock(wanted_mutex_);
      wanted_ = cpus;
      others_wanted_ = others;
    }
    wanted_changed_.store(true, std::memory_order_release);
    thread_.Notify();
  }

  Status Start() override {
    Watch(sampler_.ring_fd());
    for (auto& [cpu, ring] : sideband_) {
      if (!Wanted(cpu)) continue;
      RETURN_IF_ERROR(sampler_.AttachCpu(cpu));
      sampled_.insert(cpu);
    }
    started_ = true;
    thread_ = NamedThread("capture", [this](std::stop_token stop, WakeFd& wake) {
      Watch(wake.fd());
      while (!stop.stop_requested()) {
        epoll_event events[8];
        const bool pressed = ::epoll_wait(epoll_.get(), events, 8, options_.round_ms) > 0;
        // A round that came at once would leave what asked for it to the next one.
        if (pressed) wake.Wait(kSettleMs + 1);
        const bool taken = TakeRound(clock_.MonotonicNs() - kSettleMs * kNsPerMs);
        CheckCpus();
        const int pause_ms = pressed ? pace_.WaitMs(clock_.MonotonicNs()) : 0;
        if (pause_ms > 0 || !taken) wake.Wait(taken ? pause_ms : options_.pressed_round_ms);
      }
      for (int cpu : sampled_) sampler_.DetachCpu(cpu);
      // The reader is still draining: the last round needs a free one sooner or later.
      while (!TakeRound(std::numeric_limits<int64_t>::max())) wake.Wait(1);
    });
    return OkStatus();
  }

  void Stop() override {
    if (stopped_) return;
    stopped_ = true;
    thread_.RequestStop();
    thread_.Join();
    // The reader waits for a last round, also when sampling never began.
    if (!started_) TakeRound(std::numeric_limits<int64_t>::max());
  }

  std::unique_ptr<Round> TryPop() override {
    auto round = full_.TryPop();
    return round ? *std::move(round) : nullptr;
  }

  void Recycle(std::unique_ptr<Round> round) override {
    round->Clear();
    free_.TryPush(std::move(round));
  }

  uint64_t stalls() const override { return stalls_.load(std::memory_order_relaxed); }
  uint64_t lost_sideband() const override { return lost_sideband_.load(std::memory_order_relaxed); }
  bool build_ids() const override { return build_ids_; }

 private:
  Result<std::vector<int>> OnlineCpus() const {
    std::string path = options_.sys_root + "/devices/system/cpu/online";
    ASSIGN_OR_RETURN(std::string text, ReadFile(path));
    return ParseCpuList(text).Context(path);
  }

  void Watch(int fd) {
    epoll_event event{};
    // By edges: only what asks for the reader wakes it, not that something waits.
    event.events = EPOLLIN | EPOLLET;
    event.data.fd = fd;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  Status AddSideband(int cpu) {
    ASSIGN_OR_RETURN(SidebandRing opened, daemon::OpenSideband(cpu, options_.sideband_ring_bytes));
    if (opened.ring.data_bytes() < options_.sideband_ring_bytes) {
      LOG(kInfo, "sideband ring made smaller to fit the memory lock budget",
          {{"cpu", cpu}, {"bytes", opened.ring.data_bytes()}});
    }
    build_ids_ = opened.build_ids;
    Watch(opened.ring.fd());
    sideband_.emplace(cpu, std::move(opened.ring));
    return OkStatus();
  }

  // False if no round was free; nothing was drained then.
  bool TakeRound(int64_t horizon_ns) {
    if (!spare_) {
      auto free = free_.TryPop();
      if (!free) {
        stalls_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
      spare_ = *std::move(free);
    }
    builder_.Begin(*spare_);
    spare_->reopened = std::exchange(reopened_, false);
    sampler_.Drain(builder_);
    for (auto& [cpu, ring] : sideband_) {
      ring.Drain([&](std::span<const std::byte> record) { builder_.OnSideband(record); });
    }
    lost_sideband_.fetch_add(spare_->lost_sideband, std::memory_order_relaxed);
    builder_.Finish(horizon_ns);
    bool last = horizon_ns == std::numeric_limits<int64_t>::max();
    if (RoundBuilder::IsEmpty(*spare_) && !last) return true;  // Kept for the next turn.
    full_.TryPush(std::move(spare_));
    on_round_();
    return true;
  }

  bool Wanted(int cpu) {
    std::lock_guard lock(wanted_mutex_);
    return !wanted_ || wanted_->test(static_cast<size_t>(cpu));
  }

  bool AnyWanted() {
    std::lock_guard lock(wanted_mutex_);
    return others_wanted_ || !wanted_ || wanted_->any();
  }

  void CheckCpus() {
    int64_t now = clock_.MonotonicNs();
    if (!wanted_changed_.exchange(false, std::memory_order_acquire) && now < next_cpu_check_ns_) {
      return;
    }
    next_cpu_check_ns_ = now + kCpuCheckNs;
    Result<std::vector<int>> online = OnlineCpus();
    if (!online) return;
    if (!AnyWanted()) online->clear();
    for (auto it = sideband_.begin(); it != sideband_.end();) {
      const int cpu = it->first;
      if (std::binary_search(online->begin(), online->end(), cpu)) {
        ++it;
        continue;
      }
      StopSampling(cpu);
      it = sideband_.erase(it);
    }
    for (int cpu : *online) Follow(cpu);
  }

  void StopSampling(int cpu) {
    if (sampled_.erase(cpu) > 0) sampler_.DetachCpu(cpu);
  }

  // An online CPU as it is wanted. What fails is tried again with the next look.
  void Follow(int cpu) {
    const bool first = sideband_.empty();
    Status status = OkStatus();
    if (sideband_.count(cpu) == 0) {
      status = AddSideband(cpu);
      if (status && first) reopened_ = true;
    }
    if (!Wanted(cpu)) {
      StopSampling(cpu);
    } else if (status && sampled_.count(cpu) == 0) {
      status = sampler_.AttachCpu(cpu);
      if (status) sampled_.insert(cpu);
    }
    if (status) {
      failing_.erase(cpu);
    } else if (failing_.insert(cpu).second) {
      LOG(kWarn, "a CPU cannot be sampled", {{"cpu", cpu}, {"error", status.error().message()}});
    }
  }

  BpfSampler& sampler_;
  CaptureOptions options_;
  const Clock& clock_;
  std::function<void()> on_round_;
  SpscQueue<std::unique_ptr<Round>> full_;
  SpscQueue<std::unique_ptr<Round>> free_;
  std::unique_ptr<Round> spare_;  // The reader produces into free_, so an unused round stays here.
  UniqueFd epoll_;
  std::map<int, PerfRing> sideband_;  // of every online CPU, or of none
  std::set<int> sampled_;             // CPUs the sampler is attached to
  std::set<int> failing_;             // CPUs that it cannot be attached to, which was said
  bool reopened_ = false;             // since the last round there was no sideband for a time
  // Told by another thread, a few times an hour.
  std::mutex wanted_mutex_;
  std::optional<CpuSet> wanted_;
  bool others_wanted_ = false;
  std::atomic<bool> wanted_changed_{false};
  RoundBuilder builder_;
  RoundPace pace_;
  bool build_ids_ = false;
  bool started_ = false;
  bool stopped_ = false;
  int64_t next_cpu_check_ns_ = 0;
  std::atomic<uint64_t> stalls_{0};
  std::atomic<uint64_t> lost_sideband_{0};
  NamedThread thread_;
};

}  // namespace

Result<std::unique_ptr<Capture>> Capture::Create(BpfSampler& sampler, const CaptureOptions& options,
                                                 const Clock& clock,
                                                 std::function<void()> on_round) {
  return std::unique_ptr<Capture>(
      std::make_unique<CaptureImpl>(sampler, options, clock, std::move(on_round)));
}

}  // namespace firetower::daemon
