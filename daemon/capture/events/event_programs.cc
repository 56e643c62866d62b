// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/events/event_programs.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/clock.h"
#include "daemon/capture/bpf_log.h"
#include "daemon/capture/families/program_family.h"
#include "daemon/capture/map_array.h"
#include "daemon/capture/perf_event.h"
#include "ft_event.skel.h"

namespace firetower::daemon {
namespace {

struct SkeletonDeleter {
  void operator()(ft_event_bpf* skeleton) const { ft_event_bpf__destroy(skeleton); }
};

// The period of a paced event until its rate is known. Periods are odd: of two threads that take
// turns only one would be seen with another.
constexpr uint64_t kFirstPeriod = 7;
// Its program runs about so many times for each sample, and chooses the moment.
constexpr double kRunsPerSample = 16;

class Programs : public EventPrograms {
 public:
  Programs(EventSource source) : source_(std::move(source)) {}
  ~Programs() override {
    if (own_ != nullptr) ::munmap(own_, sizeof(ft_event_cpu) * cpu_count_);
  }

  Status Open(BpfSampler& sampler, uint32_t slot) {
    BpfLog log;
    object_.reset(ft_event_bpf__open());
    if (!object_) return log.Failure("open the BPF object", errno);
    const ft_event_load_config own{slot, source_.syscall};
    std::memcpy(const_cast<ft_event_load_config*>(&object_->rodata->event_load_config), &own,
                sizeof(own));
    cpu_count_ = sampler.cpu_count();
    bpf_program__set_autoload(object_->progs.ft_sample_event, !IsTracepoint());
    bpf_program__set_autoload(object_->progs.ft_sample_tracepoint, IsTracepoint());
    return LoadFamily(sampler, log, *object_, ft_event_bpf__load, object_->maps.ft_event_cpus,
                      "the programs of an event", own_);
  }

  Status Attach(std::span<const int> cpus, const EventRate& rate, int64_t now_ns) override {
    if (rate != rate_) cpus_.clear();
    rate_ = rate;
    // Behind the memory mapping of the loaded programs' data.
    volatile ft_event_config& config = object_->data->event_config;
    config.period = rate.period;
    config.interval_ns = IsPaced() ? static_cast<uint64_t>(kNsPerSecond) / rate.hertz : 0;
    if (IsTracepoint()) return AttachTracepoint();
    std::erase_if(cpus_, [&](const auto& open) { return !std::ranges::count(cpus, open.first); });
    Status status = OkStatus();
    for (const int cpu : cpus) {
      const auto open = cpus_.find(cpu);
      Status done = open != cpus_.end() ? Adapt(open->second, now_ns) : AttachCpu(cpu, now_ns);
      if (!done && status) status = std::move(done);
    }
    return status;
  }

  void Detach() override {
    cpus_.clear();
    tracepoint_.reset();
  }

  EventCounters Counters() const override {
    EventCounters sum;
    for (const ft_event_cpu& cpu : std::span(own_, cpu_count_)) {
      sum.missed += ReadShared(cpu.missed);
      AddCounters(cpu.counters, sum.counters);
    }
    return sum;
  }

  uint64_t MapBytes() const override {
    return MapMemory({object_->maps.ft_event_cpus, object_->maps.ft_scratch, object_->maps.ft_seen,
                      object_->maps.ft_chain, object_->maps.ft_functions,
                      object_->maps.ft_python_threads});
  }

 private:
  struct CpuEvent {
    Link link;
    int fd = -1;
    uint64_t period = kFirstPeriod;  // of a paced event
    uint64_t count = 0;              // as of since_ns
    int64_t since_ns = 0;
  };

  bool IsTracepoint() const { return !source_.tracepoint.empty(); }

  // We keep the frequency, not the kernel.
  bool IsPaced() const { return rate_.period == 0 && (IsTracepoint() || source_.is_count()); }

  Status AttachCpu(int cpu, int64_t now_ns) {
    CpuEvent opened;
    const EventRate rate = IsPaced() ? EventRate{.hertz = 0, .period = kFirstPeriod} : rate_;
    ASSIGN_OR_RETURN(UniqueFd event, OpenEvent(cpu, source_, rate));
    opened.fd = event.get();
    opened.link.reset(bpf_program__attach_perf_event(object_->progs.ft_sample_event, opened.fd));
    if (!opened.link) return ErrnoError(fmt::format("attach to the event on CPU {}", cpu));
    event.release();  // The link closes it.
    opened.since_ns = now_ns;
    cpus_[cpu] = std::move(opened);
    return OkStatus();
  }

  // Sets the period of a paced event to what its rate since the last time asks for.
  Status Adapt(CpuEvent& open, int64_t now_ns) {
    if (!IsPaced()) return OkStatus();
    const double seconds = static_cast<double>(now_ns - open.since_ns) / kNsPerSecond;
    if (seconds < 1) return OkStatus();
    ASSIGN_OR_RETURN(const uint64_t count, ReadCount(open.fd));
    const double rate = static_cast<double>(count - open.count) / seconds;
    const auto period =
        static_cast<uint64_t>(std::clamp(rate / rate_.hertz / kRunsPerSample, 1.0, 1e6)) | 1;
    open.count = count;
    open.since_ns = now_ns;
    if (period * 2 > open.period && period < open.period * 2) return OkStatus();
    open.period = period;
    return SetPeriod(open.fd, period);
  }

  Status AttachTracepoint() {
    if (tracepoint_) return OkStatus();
    tracepoint_.reset(bpf_program__attach_raw_tracepoint(object_->progs.ft_sample_tracepoint,
                                                         source_.tracepoint.c_str()));
    if (!tracepoint_) return ErrnoError("attach to the tracepoint " + source_.tracepoint);
    return OkStatus();
  }

  const EventSource source_;
  std::unique_ptr<ft_event_bpf, SkeletonDeleter> object_;
  ft_event_cpu* own_ = nullptr;  // by CPU
  size_t cpu_count_ = 0;
  EventRate rate_;
  std::map<int, CpuEvent> cpus_;
  Link tracepoint_;
};

}  // namespace

Result<std::unique_ptr<EventPrograms>> EventPrograms::Load(BpfSampler& sampler, uint32_t slot,
                                                           const EventSource& source) {
  auto programs = std::make_unique<Programs>(source);
  RETURN_IF_ERROR(programs->Open(sampler, slot));
  return std::unique_ptr<EventPrograms>(std::move(programs));
}

}  // namespace firetower::daemon
