// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/pipeline.h"

#include <algorithm>
#include <limits>

#include "base/log.h"

namespace firetower::daemon {
namespace {

// Rounds come five times a second while there is anything; a slice without one ends this much
// later.
constexpr int64_t kSliceGraceNs = 300 * kNsPerMs;

int64_t NextMultiple(int64_t time_ns, int64_t step_ns) { return (time_ns / step_ns + 1) * step_ns; }

}  // namespace

class Pipeline::Peers : public ResolverPeers {
 public:
  Peers(Pipeline& pipeline, BpfSampler& sampler, SymbolRequests& symbols)
      : pipeline_(pipeline), sampler_(sampler), symbols_(symbols) {}

  void WantSymbols(const std::shared_ptr<const Module>& module, const Process& process,
                   const ProcessMapping& mapping) override {
    symbols_.Want(module, process, mapping);
  }

  void SetGate(uint64_t cgroup_id, const Decisions& decisions, bool is_container,
               bool told) override {
    ft_verdicts verdicts{};
    for (Type type = 0; type < FT_TYPE_COUNT; ++type)
      verdicts.of[type] = VerdictOf(decisions[type], type, is_container);
    Status status = told ? sampler_.ChangeVerdicts(cgroup_id, verdicts)
                         : sampler_.SetVerdicts(cgroup_id, verdicts);
    if (!status && status.error().code() != ErrorCode::kNotFound) {
      // The gate is full: the kernel side uses the ancestor's verdict, and the resolver drops
      // excess samples.
      LOG(kDebug, "no verdict set", {{"error", status.error().message()}});
    }
  }

  void OnOomKill(const std::shared_ptr<const Container>& container, int64_t time_ns) override {
    std::lock_guard lock(pipeline_.figures_mutex_);
    if (pipeline_.oom_kills_.size() < kMaxOomKills) {
      pipeline_.oom_kills_.push_back({container, time_ns});
    }
  }
  void RemoveGate(uint64_t cgroup_id) override { sampler_.RemoveVerdicts(cgroup_id); }
  void SetTasksVersion(uint32_t version) override { sampler_.SetTasksVersion(version); }
  void SetTask(const ft_task& verdict) override { sampler_.SetTask(verdict); }
  void ForgetTask(uint32_t tid) override { sampler_.ForgetTask(tid); }

  uint64_t UnreportedCgroups() override {
    return sampler_.Counters().value[FT_COUNT_CGROUP_RING_FULL];
  }

  void SetFallback(const Selection& selection) {
    base_hz_ = selection.frequency_hz();
    const auto wait_ns = static_cast<__u64>(selection.min_wait_ns().value_or(0));
    ft_verdicts fallback{};
    for (Type type = 0; type < FT_TYPE_COUNT; ++type) {
      const bool sampled = type == FT_TYPE_CPU || selection.Samples(type);
      const __u8 kind = sampled ? FT_VERDICT_PENDING : FT_VERDICT_NO;
      const __u64 value = type == FT_TYPE_CPU ? PeriodNs() : wait_ns;
      fallback.of[type] = {kind, kind, 0, 0, FT_KEEP_ALL, value};
    }
    sampler_.SetFallback(fallback);
  }

 private:
  uint64_t PeriodNs() const { return static_cast<uint64_t>(kNsPerSecond) / base_hz_; }

  // Returns the kernel side's number of a set of CPUs, or 0 (all CPUs) if there are too many sets;
  // then the resolver drops excess samples. A number keeps its meaning forever.
  __u8 NumberOf(const CpuSet& cpus) {
    auto known = std::find(cpu_sets_.begin(), cpu_sets_.end(), cpus);
    const auto number = static_cast<uint32_t>(known - cpu_sets_.begin()) + 1;
    if (number >= FT_CPU_SETS) return 0;
    if (known == cpu_sets_.end()) {
      ft_cpu_set set{};
      for (size_t cpu = 0; cpu < cpus.size(); ++cpu) {
        if (cpus.test(cpu)) set.word[cpu / 64] |= uint64_t{1} << cpu % 64;
      }
      sampler_.SetCpuSet(number, set);
      cpu_sets_.push_back(cpus);
    }
    return static_cast<__u8>(number);
  }

  ft_verdict VerdictOf(const Decision& decision, Type type, bool is_container) {
    ft_verdict verdict{};
    verdict.kind = decision.sampled ? FT_VERDICT_YES : FT_VERDICT_NO;
    verdict.child = is_container ? verdict.kind : static_cast<__u8>(FT_VERDICT_PENDING);
    if (decision.sampled && decision.filter) {
      verdict.tasks = decision.filter->any_tasks() ? 1 : 0;
      if (decision.filter->cpus()) verdict.cpus = NumberOf(*decision.filter->cpus());
    }
    verdict.keep = FT_KEEP_ALL;
    if (type != FT_TYPE_CPU) {
      verdict.value = static_cast<__u64>(decision.min_wait_ns);
      return verdict;
    }
    uint64_t keep = FT_KEEP_ALL;
    if (decision.sampled && decision.frequency_hz < base_hz_) {
      keep = std::max<uint64_t>(uint64_t{FT_KEEP_ALL} * decision.frequency_hz / base_hz_, 1);
    }
    verdict.keep = static_cast<__u32>(keep);
    // Rounded to a nanosecond in 10^7: the sum stays CPU time whatever the share.
    verdict.value = PeriodNs() * FT_KEEP_ALL / keep;
    return verdict;
  }

  Pipeline& pipeline_;
  BpfSampler& sampler_;
  SymbolRequests& symbols_;
  uint32_t base_hz_ = 97;
  std::vector<CpuSet> cpu_sets_;  // number 1 and on
};

Pipeline::Pipeline(BpfSampler& sampler, CgroupTree& cgroups, ProcessTable& processes,
                   ModuleRegistry& modules, SymbolRequests& symbols, TableSource& tables,
                   const Clock& clock, const PipelineOptions& options,
                   std::function<void()> on_slice)
    : sampler_(sampler),
      cgroups_(cgroups),
      processes_(processes),
      modules_(modules),
      clock_(clock),
      options_(options),
      on_slice_(std::move(on_slice)),
      peers_(std::make_unique<Peers>(*this, sampler, symbols)),
      tables_(tables),
      unwinder_(sampler.unwind_memory(), processes, modules, tables, clock, options.unwind),
      resolver_(modules, processes, cgroups, unwinder_, *peers_, clock, options.labels,
                options.stack_words),
      full_(kSlicesInFlight + 1),  // The last slice always finds room.
      free_(kSlicesInFlight) {}

Pipeline::~Pipeline() { Finish(); }

void Pipeline::Start(Capture& capture, const WaitingThreads* waiting) {
  capture_ = &capture;
  waiting_ = waiting;
  sampler_.SetEpoch(epoch_);
  TakeSelection();
  resolver_.SetSliceEnd(OpenSlice());
  thread_ = NamedThread("resolve", [this](std::stop_token stop, WakeFd& wake) { Run(stop, wake); });
}

void Pipeline::SetSelection(std::shared_ptr<const Selection> selection) {
  {
    std::lock_guard lock(selection_mutex_);
    next_selection_ = std::move(selection);
  }
  thread_.Notify();
}

void Pipeline::TakeSelection() {
  std::shared_ptr<const Selection> next;
  {
    std::lock_guard lock(selection_mutex_);
    next = std::exchange(next_selection_, nullptr);
  }
  if (!next) return;
  if (Status status = sampler_.SetFrequency(next->frequency_hz()); !status) {
    LOG(kWarn, "sampling rate not changed", {{"error", status.error().message()}});
    return;
  }
  peers_->SetFallback(*next);
  const std::optional<CpuSet> cpus = next->cpus();
  bool others = false;
  for (Type type = FT_TYPE_CPU + 1; type < FT_TYPE_COUNT; ++type) others |= next->Samples(type);
  resolver_.SetSelection(std::move(next));
  // Verdicts are set first, so that samples from now on are wanted.
  capture_->SetWanted(cpus, others);
}

void Pipeline::Run(std::stop_token, WakeFd& wake) {
  bool last = false;
  while (!last) {
    int64_t until_slice_ms = (slice_end_ns_ + kSliceGraceNs - clock_.MonotonicNs()) / kNsPerMs;
    wake.Wait(static_cast<int>(std::clamp<int64_t>(until_slice_ms + 1, 1, 1000)));
    TakeSelection();
    TakeTables();
    last = TakeRounds();
    if (int64_t now = clock_.MonotonicNs(); now >= next_tick_ns_) {
      next_tick_ns_ = now + kNsPerSecond;
      resolver_.Tick();
      TellFigures();
      TellContainers();
    }
    EndSliceIfDue();
  }
  resolver_.Tick(true);
  TellFigures();
  TakeWaits(clock_.MonotonicNs());
  CloseSlice(clock_.WallNs(), true);
  finished_.store(true, std::memory_order_release);
  on_slice_();
}

void Pipeline::TellFigures() {
  PipelineFigures figures;
  figures.unwind_tables = unwinder_.tables().size();
  figures.unwind_table_bytes = unwinder_.tables().bytes();
  figures.bad_records = resolver_.bad_records();
  figures.refused_stacks = resolver_.stacks().refused();
  figures.refused_cgroups = cgroups_.refused();
  figures.refused_mappings = processes_.refused_mappings();
  figures.refused_modules = modules_.refused();
  figures.refused_functions = resolver_.functions().refused();
  figures.refused_tables = unwinder_.tables().refused();
  figures.refused_spaces = unwinder_.spaces().refused();
  std::lock_guard lock(figures_mutex_);
  figures_ = figures;
}

void Pipeline::TellContainers() {
  if (reported_version_ == cgroups_.version()) return;
  reported_version_ = cgroups_.version();
  auto containers = std::make_shared<Containers>();
  cgroups_.ForEach([&](const CgroupNode& node) {
    if (node.path == node.container->root_path) containers->push_back(node.container);
  });
  std::ranges::sort(*containers, {}, [](const auto& one) { return one->root_path; });
  // A container that was created again in the same place has a new cgroup but is the same
  // container.
  containers->erase(std::unique(containers->begin(), containers->end()), containers->end());
  containers_.Publish(std::move(containers));
}

std::vector<OomKill> Pipeline::TakeOomKills() {
  std::lock_guard lock(figures_mutex_);
  return std::exchange(oom_kills_, {});
}

PipelineFigures Pipeline::figures() {
  std::lock_guard lock(figures_mutex_);
  return figures_;
}

void Pipeline::TakeTables() {
  while (std::optional<LoadedTable> table = tables_.TryPopTable()) {
    resolver_.TakeTable(*std::move(table));
  }
}

bool Pipeline::TakeRounds() {
  while (std::unique_ptr<Round> round = capture_->TryPop()) {
    while (resolver_.Process(*round)) resolver_.SetSliceEnd(EndSlice());
    if (resolver_.stacks().WantsTurn(epoch_)) {
      TurnEpoch();
      early_epoch_ = epoch_;
    }
    bool last = round->horizon_ns == std::numeric_limits<int64_t>::max();
    capture_->Recycle(std::move(round));
    if (last) return true;
  }
  return false;
}

int64_t Pipeline::OpenSlice() {
  int64_t now_wall_ns = clock_.WallNs();
  Slice& slice = resolver_.builder().slice();
  const int64_t now_ns = clock_.MonotonicNs();
  // The first sample of this slice may be older than this moment, which no sample of the last is.
  slice.begin_ns = slice_end_ns_ != 0 ? std::min(slice_end_ns_, now_ns) : now_ns;
  slice.begin_wall_ns = now_wall_ns;
  slice.wall_offset_ns = now_wall_ns - now_ns;
  slice.window_start_ns = now_wall_ns - now_wall_ns % options_.window_ns;
  slice_end_wall_ns_ = NextMultiple(now_wall_ns, options_.slice_ns);
  // The wall clock may be stepped, so each slice computes its end again.
  slice_end_ns_ = now_ns + (slice_end_wall_ns_ - now_wall_ns);
  return slice_end_ns_;
}

void Pipeline::CloseSlice(int64_t end_wall_ns, bool ends_window) {
  Slice& slice = resolver_.builder().slice();
  slice.end_wall_ns = end_wall_ns;
  slice.end_ns = std::min(slice_end_ns_, clock_.MonotonicNs());
  slice.ends_window = ends_window;
  modules_.TakeNew(slice.modules);
  resolver_.TakeFunctions(slice);
  auto next = free_.TryPop();
  std::unique_ptr<Slice> done =
      resolver_.builder().Take(next ? *std::move(next) : std::make_unique<Slice>());
  full_.TryPush(std::move(done));
  on_slice_();
  // Two turns while nothing has come of the first would drop bodies of samples in flight.
  bool turning = epoch_ == early_epoch_ && resolver_.stacks().epoch() != epoch_;
  if (ends_window && !turning) TurnEpoch();
}

void Pipeline::TakeWaits(int64_t until_ns) {
  if (waiting_ != nullptr) resolver_.TakeWaitsThatGoOn(waiting_->WaitsThatGoOn(), until_ns);
}

void Pipeline::TurnEpoch() { sampler_.SetEpoch(++epoch_); }

int64_t Pipeline::EndSlice() {
  if (full_.size() >= kSlicesInFlight) {
    // Export is far behind: the slice continues, and includes the samples of the next one.
    slice_end_wall_ns_ += options_.slice_ns;
    slice_end_ns_ += options_.slice_ns;
    return slice_end_ns_;
  }
  TakeWaits(slice_end_ns_);
  CloseSlice(slice_end_wall_ns_, slice_end_wall_ns_ % options_.window_ns == 0);
  return OpenSlice();
}

void Pipeline::EndSliceIfDue() {
  if (clock_.MonotonicNs() >= slice_end_ns_ + kSliceGraceNs) resolver_.SetSliceEnd(EndSlice());
}

void Pipeline::Finish() { thread_.Join(); }

std::unique_ptr<Slice> Pipeline::TryPop() {
  auto slice = full_.TryPop();
  return slice ? *std::move(slice) : nullptr;
}

void Pipeline::Recycle(std::unique_ptr<Slice> slice) {
  slice->Clear();
  free_.TryPush(std::move(slice));
}

}  // namespace firetower::daemon
