// SPDX-License-Identifier: Apache-2.0
// exec_bench TOY_STORM TOY_SHORT [PAIRS [SECONDS]]: CPU of one fork, exec, exit and wait of a small
// static program while the daemon's capture thread reads the task and mapping stream, over the same
// without anybody listening. What the reader itself spends is beside it.
#include <fmt/core.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "daemon/capture/capture.h"
#include "tests/bench/pairs.h"

namespace firetower::bench {
namespace {

constexpr double kMostTimesWithout = 1.08;
constexpr uint64_t kLeastExecs = 500;  // in one measure, or the figure is noise

struct Arguments {
  std::string storm, program;
  int pairs = 25;
  int seconds = 1;
};

// A kernel side without samples: what is left of Capture is the sideband.
class NoSamples : public daemon::BpfSampler {
 public:
  Status AttachCgroups() override { return OkStatus(); }
  Status AttachCpu(int) override { return OkStatus(); }
  void DetachCpu(int) override {}
  Status SetFrequency(uint32_t) override { return OkStatus(); }
  int ring_fd() const override { return never_.get(); }
  void Drain(Sink&) override {}
  void SetEpoch(uint32_t) override {}
  void SetFallback(const ft_verdict&) override {}
  Status SetVerdict(uint64_t, const ft_verdict&) override { return OkStatus(); }
  Status ChangeVerdict(uint64_t, const ft_verdict&) override { return OkStatus(); }
  void RemoveVerdict(uint64_t) override {}
  ft_counters Counters() const override { return {}; }
  uint64_t CountedNs() const override { return 0; }
  daemon::UnwindMemory& unwind_memory() override { std::abort(); }
  uint64_t MapBytes() const override { return 0; }
  uint32_t VerifiedInstructions() const override { return 0; }

 private:
  UniqueFd never_{::eventfd(0, EFD_CLOEXEC)};
};

struct Storm {
  double ns_per_exec = 0;
  uint64_t execs = 0;
};

int64_t CpuNs(int who) {
  rusage used{};
  getrusage(who, &used);
  auto ns = [](const timeval& time) { return time.tv_sec * kNsPerSecond + time.tv_usec * 1000; };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

// CPU of the storm and all its children over the number of programs it started.
Result<Storm> RunStorm(const Arguments& arguments) {
  std::string command =
      fmt::format("exec {} {} 1 0 {} 0", arguments.storm, arguments.seconds, arguments.program);
  int64_t before = CpuNs(RUSAGE_CHILDREN);
  std::FILE* told = ::popen(command.c_str(), "r");
  if (told == nullptr) return ErrnoError("start " + command);
  Storm storm;
  int fields = std::fscanf(told, "%lu", &storm.execs);
  if (::pclose(told) != 0 || fields != 1 || storm.execs < kLeastExecs) {
    return Error(ErrorCode::kUnavailable, command + " started too few programs");
  }
  storm.ns_per_exec =
      static_cast<double>(CpuNs(RUSAGE_CHILDREN) - before) / static_cast<double>(storm.execs);
  return storm;
}

// What the capture thread handed on.
struct Heard {
  uint64_t events = 0;
  uint64_t lost = 0;
  double reader_ns_per_exec = 0;
};

Result<Storm> RunHeard(const Arguments& arguments, Heard& heard) {
  NoSamples no_samples;
  ASSIGN_OR_RETURN(
      std::unique_ptr<daemon::Capture> capture,
      daemon::Capture::Create(no_samples, daemon::CaptureOptions{}, Clock::System(), [] {}));
  RETURN_IF_ERROR(capture->OpenSideband());
  RETURN_IF_ERROR(capture->Start());
  uint64_t events = 0;
  std::thread reader([&] {
    for (bool last = false; !last; ::usleep(20'000)) {
      while (std::unique_ptr<daemon::Round> round = capture->TryPop()) {
        events += round->sideband.size();
        last = round->horizon_ns == std::numeric_limits<int64_t>::max();
        capture->Recycle(std::move(round));
      }
    }
  });
  int64_t before = CpuNs(RUSAGE_SELF);
  Result<Storm> storm = RunStorm(arguments);
  int64_t own_ns = CpuNs(RUSAGE_SELF) - before;
  capture->Stop();
  reader.join();
  if (!storm) return storm;
  heard.events += events;
  heard.lost += capture->lost_sideband();
  heard.reader_ns_per_exec = static_cast<double>(own_ns) / static_cast<double>(storm->execs);
  return storm;
}

Result<bool> Bench(const Arguments& arguments) {
  Pairs pairs;
  Heard heard;
  uint64_t execs = 0;
  std::vector<double> reader_ns;
  for (int pair = 0; pair < arguments.pairs; ++pair) {
    // Either goes first in turn: what drifts during a pair favours neither.
    Result<Storm> alone = pair % 2 == 0 ? RunStorm(arguments) : Storm{};
    ASSIGN_OR_RETURN(Storm with, RunHeard(arguments, heard));
    if (pair % 2 == 1) alone = RunStorm(arguments);
    if (!alone) return alone.error();
    pairs.Add(with.ns_per_exec, alone->ns_per_exec);
    reader_ns.push_back(heard.reader_ns_per_exec);
    execs += with.execs;
  }
  bool holds = pairs.Print("exec_with_sideband_ns", "without", kMostTimesWithout);
  fmt::print("exec_reader_ns {:.0f} - -\n", Median(reader_ns));
  // Fork, comm, mapping and exit at least: a stream that nobody wrote costs nothing.
  double records = static_cast<double>(heard.events) / static_cast<double>(execs);
  fmt::print("exec_records_an_exec {:.2f} >=4 {}\n", records, records >= 4 ? "ok" : "FAIL");
  fmt::print("exec_records_lost {} <=0 {}\n", heard.lost, heard.lost == 0 ? "ok" : "FAIL");
  return holds && records >= 4 && heard.lost == 0;
}

}  // namespace

int Main(const Arguments& arguments) {
  if (::geteuid() != 0) {
    fmt::print("SKIP bench.exec: needs root\n");
    return 77;
  }
  Result<bool> held = Bench(arguments);
  if (!held) fmt::print("FAIL bench.exec: {}\n", held.error().message());
  return held && *held ? 0 : 1;
}

}  // namespace firetower::bench

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  firetower::bench::Arguments arguments;
  arguments.storm = argv[1];
  arguments.program = argv[2];
  if (argc > 3) arguments.pairs = std::atoi(argv[3]);
  if (argc > 4) arguments.seconds = std::atoi(argv[4]);
  return firetower::bench::Main(arguments);
}
