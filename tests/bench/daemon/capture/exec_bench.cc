// SPDX-License-Identifier: Apache-2.0
// exec_bench EXEC_STORM PROGRAM [ROUNDS [EXECS]]: CPU of one fork, exec, exit and wait of a small
// static program while the daemon's capture thread reads the task and mapping stream, and while the
// kernel writes that stream and nobody reads it, both over the same without any listener. The three
// take turns every EXECS programs, some 30 ms, so that what the machine does beside is in all of
// them; the storm has a CPU to itself, the reader runs on the others.
#include <fmt/core.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
constexpr int kMostTimesRounds = 4;
constexpr int64_t kWarmUpExecs = 10;  // After each change: caches and branch predictors settle.

// Returns for how many blocks the reader's own CPU is taken: about two seconds.
int ReaderBlocks() { return Pick(60, 2); }

struct Arguments {
  std::string storm, program;
  int rounds = Pick(400, 1);
  int64_t execs = 100;
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
  void SetFallback(const ft_verdicts&) override {}
  Status SetVerdicts(uint64_t, const ft_verdicts&) override { return OkStatus(); }
  Status ChangeVerdicts(uint64_t, const ft_verdicts&) override { return OkStatus(); }
  void RemoveVerdicts(uint64_t) override {}
  void SetTasksVersion(uint32_t) override {}
  void SetTask(const ft_task&) override {}
  void ForgetTask(uint32_t) override {}
  void SetCpuSet(uint32_t, const ft_cpu_set&) override {}
  ft_counters Counters() const override { return {}; }
  Counted CountedTime() const override { return {}; }
  daemon::UnwindMemory& unwind_memory() override { std::abort(); }
  ft_load_config load_config() const override { return {}; }
  size_t cpu_count() const override { return 1; }
  int SharedMap(std::string_view) const override { return -1; }
  uint64_t MapBytes() const override { return 0; }
  uint32_t VerifiedInstructions() const override { return 0; }

 private:
  UniqueFd never_{::eventfd(0, EFD_CLOEXEC)};
};

// The storm's process, alone on the first CPU that this one may use.
class Storm {
 public:
  static Result<Storm> Start(const Arguments& arguments) {
    cpu_set_t all, first;
    CPU_ZERO(&first);
    if (::sched_getaffinity(0, sizeof(all), &all) != 0) return ErrnoError("sched_getaffinity");
    for (int cpu = 0; CPU_COUNT(&first) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &first);
    }
    int in[2], out[2];
    if (::pipe(in) != 0 || ::pipe(out) != 0) return ErrnoError("pipe");
    pid_t pid = ::fork();
    if (pid < 0) return ErrnoError("fork");
    if (pid == 0) {
      ::sched_setaffinity(0, sizeof(first), &first);
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      for (int fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
      ::execl(arguments.storm.c_str(), arguments.storm.c_str(), arguments.program.c_str(), "0",
              nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    // Threads made from here on inherit it.
    if (CPU_COUNT(&all) > 1) {
      CPU_XOR(&all, &all, &first);
      ::sched_setaffinity(0, sizeof(all), &all);
    }
    return Storm(UniqueFd(in[1]), UniqueFd(out[0]));
  }

  // CPU ns an exec, over `execs` of them.
  Result<double> Run(int64_t execs) {
    int64_t used_ns = -1;
    if (::write(ask_.get(), &execs, sizeof(execs)) != sizeof(execs) ||
        ::read(answer_.get(), &used_ns, sizeof(used_ns)) != sizeof(used_ns) || used_ns <= 0) {
      return Error(ErrorCode::kUnavailable, "the storm did not start its programs");
    }
    return static_cast<double>(used_ns) / static_cast<double>(execs);
  }

 private:
  Storm(UniqueFd ask, UniqueFd answer) : ask_(std::move(ask)), answer_(std::move(answer)) {}

  UniqueFd ask_;  // The storm ends when it is closed.
  UniqueFd answer_;
};

enum class Listener { kNone, kRing, kReader };

// The events in the rings, or those that the capture thread passed on.
struct Heard {
  uint64_t events = 0;
  uint64_t lost = 0;
};

// The stream as the daemon has it, from construction until Stop.
class Listening {
 public:
  static Result<std::unique_ptr<Listening>> Begin(Listener listener) {
    auto listening = std::make_unique<Listening>();
    ASSIGN_OR_RETURN(listening->capture_,
                     daemon::Capture::Create(listening->no_samples_, daemon::CaptureOptions{},
                                             Clock::System(), [] {}));
    RETURN_IF_ERROR(listening->capture_->OpenSideband());
    if (listener == Listener::kReader) RETURN_IF_ERROR(listening->capture_->Start());
    return listening;
  }

  // To be called until the last round was taken.
  bool TakeRounds() {
    bool last = false;
    while (std::unique_ptr<daemon::Round> round = capture_->TryPop()) {
      heard_.events += round->sideband.size();
      last = round->horizon_ns == std::numeric_limits<int64_t>::max();
      capture_->Recycle(std::move(round));
    }
    return last;
  }

  Heard Stop() {
    capture_->Stop();
    while (!TakeRounds()) ::usleep(100);
    heard_.lost = capture_->lost_sideband();
    return heard_;
  }

 private:
  NoSamples no_samples_;
  std::unique_ptr<daemon::Capture> capture_;
  Heard heard_;
};

class Bench {
 public:
  Bench(const Arguments& arguments, Storm storm)
      : arguments_(arguments), storm_(std::move(storm)) {}

  Result<bool> Run() {
    Pairs read, written;
    int rounds = arguments_.rounds;
    for (int round = 0; round < rounds; ++round) {
      // There and back: what drifts during two rounds favours none.
      std::vector<Listener> order{Listener::kNone, Listener::kRing, Listener::kReader};
      if (round % 2 == 1) std::reverse(order.begin(), order.end());
      double ns[3] = {};
      for (Listener listener : order) {
        ASSIGN_OR_RETURN(ns[static_cast<int>(listener)], Block(listener));
      }
      written.Add(ns[1], ns[0]);
      read.Add(ns[2], ns[0]);
      // Near the limit it takes more of them to tell the side.
      bool more = round + 1 == rounds && rounds < kMostTimesRounds * arguments_.rounds;
      if (!ShortForm() && more && !read.Decided(kMostTimesWithout)) rounds += arguments_.rounds;
    }
    RETURN_IF_ERROR(TakeReader());
    bool holds = read.PrintInterval("exec_with_sideband_ns", "without", kMostTimesWithout);
    written.PrintInterval("exec_with_unread_rings_ns", "without", kMostTimesWithout);
    fmt::print("exec_rounds {} - -\n", rounds);
    fmt::print("exec_reader_ns {:.0f} - -\n", reader_ns_);
    // Fork, comm, mapping and exit at least: a stream that nobody wrote costs nothing.
    double records = static_cast<double>(heard_.events) / static_cast<double>(heard_execs_);
    fmt::print("exec_records_an_exec {:.2f} >=4 {}\n", records, records >= 4 ? "ok" : "FAIL");
    fmt::print("exec_records_lost {} <=0 {}\n", heard_.lost, Verdict(heard_.lost == 0));
    return holds && records >= 4 && Passes(heard_.lost == 0);
  }

 private:
  Result<double> Block(Listener listener) {
    std::unique_ptr<Listening> listening;
    if (listener != Listener::kNone) {
      ASSIGN_OR_RETURN(listening, Listening::Begin(listener));
    }
    Result<double> ns = storm_.Run(kWarmUpExecs);
    if (ns) ns = storm_.Run(arguments_.execs);
    if (listening) Account(listening->Stop(), kWarmUpExecs + arguments_.execs);
    return ns;
  }

  // The reader's own CPU, in one stretch: opening and closing the rings is not its work.
  Status TakeReader() {
    ASSIGN_OR_RETURN(std::unique_ptr<Listening> listening, Listening::Begin(Listener::kReader));
    int64_t before_ns = OwnCpuNs();
    for (int block = 0; block < ReaderBlocks(); ++block) {
      RETURN_IF_ERROR(storm_.Run(arguments_.execs));
      listening->TakeRounds();
    }
    const int64_t execs = ReaderBlocks() * arguments_.execs;
    reader_ns_ = static_cast<double>(OwnCpuNs() - before_ns) / static_cast<double>(execs);
    Account(listening->Stop(), execs);
    return OkStatus();
  }

  void Account(Heard heard, int64_t execs) {
    heard_.events += heard.events;
    heard_.lost += heard.lost;
    heard_execs_ += execs;
  }

  static int64_t OwnCpuNs() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    auto ns = [](const timeval& time) { return time.tv_sec * kNsPerSecond + time.tv_usec * 1000; };
    return ns(used.ru_utime) + ns(used.ru_stime);
  }

  Arguments arguments_;
  Storm storm_;
  Heard heard_;
  int64_t heard_execs_ = 0;
  double reader_ns_ = 0;
};

}  // namespace

int Main(const Arguments& arguments) {
  if (::geteuid() != 0) {
    fmt::print("SKIP bench.exec: needs root\n");
    return 77;
  }
  Result<Storm> storm = Storm::Start(arguments);
  Result<bool> held = storm ? Bench(arguments, *std::move(storm)).Run() : storm.error();
  if (!held) fmt::print("FAIL bench.exec: {}\n", held.error().message());
  return held && *held ? 0 : 1;
}

}  // namespace firetower::bench

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  firetower::bench::Arguments arguments;
  arguments.storm = argv[1];
  arguments.program = argv[2];
  if (argc > 3) arguments.rounds = std::atoi(argv[3]);
  if (argc > 4) arguments.execs = std::atoi(argv[4]);
  return firetower::bench::Main(arguments);
}
