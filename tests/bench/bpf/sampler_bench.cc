// SPDX-License-Identifier: Apache-2.0
// sampler_bench TOY_DEEP [PAIRS [SECONDS [KIB]]]: nanoseconds of BPF a sample, as the kernel counts
// them, beside floor-ring's in the same run. The load is two threads, each 19 frame-pointer frames
// deep and with KIB of data; cold (99 Hz) and warm (997 Hz), in each kind of cgroup hierarchy that
// is mounted here.
#include <bpf/bpf.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "daemon/capture/cpu_list.h"
#include "tests/bench/bpf/contender.h"
#include "tests/bench/pairs.h"

namespace firetower::bench {
namespace {

constexpr double kMostTimesFloor = 1.5;
constexpr uint32_t kFrames = 19;
constexpr uint32_t kRates[] = {99, 997};
constexpr useconds_t kDrainEveryUs = 50'000;  // as the daemon does
// A whole stack in fewer of the load's samples is a walk that misses frames. The others are ticks
// in a function's first or last instructions, where a frame has no frame pointer.
constexpr double kLeastWhole = 0.95;
// Of the samples: below this the figures are of somebody else's stacks.
constexpr double kLeastOfLoad = 0.9;

struct Arguments {
  std::string toy;
  int pairs = 5;
  int seconds = 4;
  std::string kib = "4096";
};

int Skip(const std::string& why) {
  fmt::print("SKIP bench.sampler: {}\n", why);
  return 77;
}

class LoadProcess {
 public:
  explicit LoadProcess(const Arguments& arguments) {
    std::string threads = std::to_string(2), frames = std::to_string(kFrames), seconds = "3600";
    std::string toy = arguments.toy, kib = arguments.kib;
    char* argv[] = {toy.data(), seconds.data(), threads.data(), frames.data(), kib.data(), nullptr};
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", 1 /* O_WRONLY */, 0);
    if (posix_spawn(&pid_, toy.c_str(), &quiet, nullptr, argv, environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&quiet);
  }
  ~LoadProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  LoadProcess(const LoadProcess&) = delete;
  LoadProcess& operator=(const LoadProcess&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

struct Cost {
  double ns_per_sample = 0;
  Seen seen;
};

Result<Cost> Measure(Contender& contender, const std::vector<int>& cpus, uint32_t frequency_hz,
                     int seconds) {
  Seen seen_before = contender.seen();
  RunTime before = contender.run_time();
  RETURN_IF_ERROR(contender.Attach(cpus, frequency_hz));
  int64_t end_ns = Clock::System().MonotonicNs() + seconds * kNsPerSecond;
  while (Clock::System().MonotonicNs() < end_ns) {
    ::usleep(kDrainEveryUs);
    contender.Drain();
  }
  contender.Detach(cpus);
  contender.Drain();
  RunTime after = contender.run_time();
  Seen seen = contender.seen();
  if (after.runs == before.runs) return Error(ErrorCode::kUnavailable, "the program never ran");
  Cost cost;
  cost.ns_per_sample =
      static_cast<double>(after.ns - before.ns) / static_cast<double>(after.runs - before.runs);
  cost.seen = {seen.samples - seen_before.samples, seen.of_load - seen_before.of_load,
               seen.of_load_at_depth - seen_before.of_load_at_depth};
  return cost;
}

// Whether what was timed was the load, and with its whole stack.
bool PrintSeen(const std::string& who, const std::vector<Seen>& all) {
  Seen sum;
  for (const Seen& one : all) {
    sum.samples += one.samples;
    sum.of_load += one.of_load;
    sum.of_load_at_depth += one.of_load_at_depth;
  }
  double of_load = static_cast<double>(sum.of_load) / static_cast<double>(sum.samples);
  double whole = static_cast<double>(sum.of_load_at_depth) / static_cast<double>(sum.of_load);
  bool holds = of_load >= kLeastOfLoad && whole >= kLeastWhole;
  fmt::print("{} samples {}, of the load {:.4f} >={:g}, of these whole {:.4f} >={:g} {}\n", who,
             sum.samples, of_load, kLeastOfLoad, whole, kLeastWhole, holds ? "ok" : "FAIL");
  return holds;
}

Result<bool> Bench(const Arguments& arguments, const std::vector<int>& cpus,
                   const std::string& hierarchy_name) {
  LoadProcess load(arguments);
  if (load.pid() < 0) return Error(ErrorCode::kNotFound, "cannot start " + arguments.toy);
  Load stacks{static_cast<uint32_t>(load.pid()), kFrames};
  ASSIGN_OR_RETURN(std::string mounts, ReadFile("/proc/self/mountinfo"));
  ASSIGN_OR_RETURN(std::string self, ReadFile("/proc/self/cgroup"));
  ASSIGN_OR_RETURN(daemon::ChosenHierarchy hierarchy,
                   daemon::ChooseHierarchy(hierarchy_name, mounts, self, "/sys/fs/cgroup"));
  ASSIGN_OR_RETURN(std::unique_ptr<Contender> ours, LoadSampler(stacks, hierarchy));
  ASSIGN_OR_RETURN(std::unique_ptr<Contender> floor, LoadFloorRing(stacks));
  bool holds = true;
  for (uint32_t hz : kRates) {
    Pairs pairs;
    std::vector<Seen> seen_ours, seen_floor;
    for (int pair = 0; pair < arguments.pairs; ++pair) {
      // Either goes first in turn: what drifts during a pair favours neither.
      Contender* order[] = {ours.get(), floor.get()};
      if (pair % 2 == 1) std::swap(order[0], order[1]);
      ASSIGN_OR_RETURN(Cost first, Measure(*order[0], cpus, hz, arguments.seconds));
      ASSIGN_OR_RETURN(Cost second, Measure(*order[1], cpus, hz, arguments.seconds));
      const Cost& our_cost = pair % 2 == 0 ? first : second;
      const Cost& floor_cost = pair % 2 == 0 ? second : first;
      pairs.Add(our_cost.ns_per_sample, floor_cost.ns_per_sample);
      seen_ours.push_back(our_cost.seen);
      seen_floor.push_back(floor_cost.seen);
    }
    std::string name = fmt::format("sampler_{}_{}hz", hierarchy.Name(), hz);
    holds &= pairs.Print(name + "_ns", "floor_ring", kMostTimesFloor);
    holds &= PrintSeen(name, seen_ours);
    holds &= PrintSeen("floor_ring", seen_floor);
  }
  return holds;
}

// v2 and the first v1 controller that containers have, as far as they are mounted.
std::vector<std::string> Hierarchies() {
  std::string mounts = ReadFile("/proc/self/mountinfo").value_or("");
  std::string self = ReadFile("/proc/self/cgroup").value_or("");
  std::vector<std::string> found;
  for (const char* name : {"v2", "v1:memory", "v1:pids", "v1:cpu"}) {
    if (found.size() == 2 || (!found.empty() && found[0] != "v2")) break;
    if (daemon::ChooseHierarchy(name, mounts, self, "/sys/fs/cgroup")) found.emplace_back(name);
  }
  return found;
}

}  // namespace

int Main(const Arguments& arguments) {
  if (::geteuid() != 0) return Skip("needs root");
  UniqueFd statistics(bpf_enable_stats(BPF_STATS_RUN_TIME));
  if (!statistics) return Skip("the kernel refuses BPF statistics");
  Result<std::string> online = ReadFile("/sys/devices/system/cpu/online");
  if (!online) return Skip(online.error().message());
  Result<std::vector<int>> cpus = daemon::ParseCpuList(*online);
  bool holds = cpus.has_value();
  for (const std::string& hierarchy : Hierarchies()) {
    Result<bool> one = Bench(arguments, *cpus, hierarchy);
    if (!one) fmt::print("FAIL {}: {}\n", hierarchy, one.error().message());
    holds &= one && *one;
  }
  return holds ? 0 : 1;
}

}  // namespace firetower::bench

int main(int argc, char** argv) {
  firetower::bench::Arguments arguments;
  if (argc < 2) return 2;
  arguments.toy = argv[1];
  if (argc > 2) arguments.pairs = std::atoi(argv[2]);
  if (argc > 3) arguments.seconds = std::atoi(argv[3]);
  if (argc > 4) arguments.kib = argv[4];
  return firetower::bench::Main(arguments);
}
