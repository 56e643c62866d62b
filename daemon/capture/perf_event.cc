// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/perf_event.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace firetower::daemon {
namespace {

constexpr size_t kLeastSidebandBytes = 32u << 10;

Result<UniqueFd> Open(perf_event_attr& attr, int cpu, const char* what) {
  attr.size = sizeof(attr);
  long fd = ::syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return ErrnoError(fmt::format("perf_event_open ({}, CPU {})", what, cpu));
  return UniqueFd(static_cast<int>(fd));
}

perf_event_attr SidebandAttr(size_t ring_bytes) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TIME;
  attr.sample_id_all = 1;
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = static_cast<uint32_t>(ring_bytes / 4);
  attr.build_id = 1;
  return attr;
}

}  // namespace

Result<UniqueFd> OpenCpuClock(int cpu, uint64_t period_ns) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = period_ns;
  attr.exclude_idle = 1;
  attr.disabled = 1;
  return Open(attr, cpu, "cpu-clock");
}

Result<UniqueFd> OpenEvent(int cpu, const EventSource& source, const EventRate& rate) {
  perf_event_attr attr{};
  attr.type = source.type;
  attr.config = source.config;
  attr.config1 = source.config1;
  attr.config2 = source.config2;
  attr.exclude_user = source.exclude_user ? 1 : 0;
  attr.exclude_kernel = source.exclude_kernel ? 1 : 0;
  attr.disabled = 1;
  if (rate.period > 0) {
    attr.sample_period = rate.period;
  } else {
    attr.freq = 1;
    attr.sample_freq = rate.hertz;
  }
  return Open(attr, cpu, "event");
}

Result<uint64_t> ReadCount(int event_fd) {
  uint64_t count = 0;
  if (::read(event_fd, &count, sizeof(count)) != sizeof(count)) return ErrnoError("read an event");
  return count;
}

Status SetPeriod(int event_fd, uint64_t period) {
  if (::ioctl(event_fd, PERF_EVENT_IOC_PERIOD, &period) != 0) {
    return ErrnoError("PERF_EVENT_IOC_PERIOD");
  }
  return OkStatus();
}

Result<SidebandRing> OpenSideband(int cpu, size_t ring_bytes) {
  for (;;) {
    perf_event_attr attr = SidebandAttr(ring_bytes);
    bool build_ids = true;
    Result<UniqueFd> event = Open(attr, cpu, "sideband");
    if (!event && event.error().sys_errno() == EINVAL) {
      attr.build_id = 0;
      build_ids = false;
      event = Open(attr, cpu, "sideband");
    }
    if (!event) return std::move(event).error();
    Result<PerfRing> ring = PerfRing::Map(*std::move(event), ring_bytes);
    if (ring) return SidebandRing{*std::move(ring), build_ids};
    if (ring.error().sys_errno() != EPERM || ring_bytes <= kLeastSidebandBytes) {
      return std::move(std::move(ring).Context(fmt::format("CPU {}", cpu))).error();
    }
    ring_bytes /= 2;
  }
}

}  // namespace firetower::daemon
