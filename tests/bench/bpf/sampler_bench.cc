// SPDX-License-Identifier: Apache-2.0
// sampler_bench TOY_DEEP TOY_DEEP_BARE [PAIRS [SECONDS [KIB]]]: nanoseconds of BPF a sample, as the
// kernel counts them, beside floor-ring's in the same run. The load is two threads, each 19 frames
// deep and with KIB of data; cold (99 Hz) and warm (997 Hz). With frame pointers in each kind of
// cgroup hierarchy that is mounted here; without, by unwind tables, where floor-ring sees one
// frame; and what each further frame costs, where floor-ring walks those of the load with frame
// pointers.
#include <bpf/bpf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
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

constexpr uint32_t kFrames = 19;
constexpr uint32_t kDeepFrames = 63;
constexpr uint32_t kColdHz = 99, kWarmHz = 997;
// Times floor-ring, by frame pointers and by tables.
constexpr double kMostByFramePointers = 1.5;
constexpr double kMostByTablesCold = 2.0, kMostByTablesWarm = 2.5;
// A frame by tables, times a frame of the kernel's own frame-pointer walk.
constexpr double kMostSlope = 3.0;
constexpr useconds_t kDrainEveryUs = 50'000;  // as the daemon does
// A whole stack in fewer of the load's samples is a walk that misses frames. The others are ticks
// in a function's first or last instructions, where a frame has no frame pointer.
constexpr double kLeastWhole = 0.95;
// The least share of samples that must be the load's. Below it the figures describe other stacks.
constexpr double kLeastOfLoad = 0.9;

struct Arguments {
  std::string toy;
  std::string bare_toy;
  int pairs = Pick(5, 1);
  double seconds = Pick(4.0, 0.3);
  std::string kib = "4096";
};

int Skip(const std::string& why) {
  fmt::print("SKIP bench.sampler: {}\n", why);
  return 77;
}

class LoadProcess {
 public:
  LoadProcess(std::string toy, uint32_t deep, const Arguments& arguments) {
    std::string threads = std::to_string(2), frames = std::to_string(deep), seconds = "3600";
    std::string kib = arguments.kib;
    char* argv[] = {toy.data(), seconds.data(), threads.data(), frames.data(), kib.data(), nullptr};
    pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ != 0) return;
    // However this bench ends, its load ends with it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    int quiet = ::open("/dev/null", O_WRONLY);
    ::dup2(quiet, STDOUT_FILENO);
    ::close_range(3, ~0u, 0);
    ::execv(toy.c_str(), argv);
    ::_exit(127);
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
                     double seconds) {
  Seen seen_before = contender.seen();
  RunTime before = contender.run_time();
  RETURN_IF_ERROR(contender.Attach(cpus, frequency_hz));
  const auto length_ns = static_cast<int64_t>(seconds * static_cast<double>(kNsPerSecond));
  int64_t end_ns = Clock::System().MonotonicNs() + length_ns;
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
  // A walk that never gets to the end does not work, in the short form neither.
  const bool works = sum.of_load_at_depth > 0;
  fmt::print("{} samples {}, of the load {:.4f} >={:g}, of these whole {:.4f} >={:g} {}\n", who,
             sum.samples, of_load, kLeastOfLoad, whole, kLeastWhole,
             works ? Verdict(holds) : "FAIL");
  return works && Passes(holds);
}

// One comparison: a load, and the way in which its stacks are walked.
struct Case {
  std::string name;
  std::string toy;
  uint32_t frames = kFrames;
  WalkBy walk_by = WalkBy::kFramePointers;
  double most_cold = kMostByFramePointers;
  double most_warm = kMostByFramePointers;
};

Result<daemon::ChosenHierarchy> Choose(const std::string& name) {
  ASSIGN_OR_RETURN(std::string mounts, ReadFile("/proc/self/mountinfo"));
  ASSIGN_OR_RETURN(std::string self, ReadFile("/proc/self/cgroup"));
  return daemon::ChooseHierarchy(name, mounts, self, "/sys/fs/cgroup");
}

Result<bool> Bench(const Arguments& arguments, const Case& of, const std::vector<int>& cpus,
                   const daemon::ChosenHierarchy& hierarchy) {
  LoadProcess load(of.toy, of.frames, arguments);
  if (load.pid() < 0) return Error(ErrorCode::kNotFound, "cannot start " + of.toy);
  Load stacks{static_cast<uint32_t>(load.pid()), of.frames};
  ASSIGN_OR_RETURN(std::unique_ptr<Contender> ours, LoadSampler(stacks, hierarchy, of.walk_by));
  ASSIGN_OR_RETURN(std::unique_ptr<Contender> floor, LoadFloorRing(stacks));
  bool holds = true;
  for (uint32_t hz : {kColdHz, kWarmHz}) {
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
    std::string name = fmt::format("sampler_{}_{}_{}hz", of.name, hierarchy.Name(), hz);
    holds &= pairs.Print(name + "_ns", "floor_ring", hz == kColdHz ? of.most_cold : of.most_warm);
    holds &= PrintSeen(name, seen_ours);
    // Without frame pointers floor-ring sees one frame, and is the cheaper for it.
    if (of.walk_by == WalkBy::kFramePointers) holds &= PrintSeen("floor_ring", seen_floor);
  }
  return holds;
}

// Nanoseconds a sample of one contender on one load, warm.
Result<double> WarmCost(const Arguments& arguments, const std::string& toy, uint32_t frames,
                        const std::vector<int>& cpus, const daemon::ChosenHierarchy* hierarchy) {
  LoadProcess load(toy, frames, arguments);
  if (load.pid() < 0) return Error(ErrorCode::kNotFound, "cannot start " + toy);
  Load stacks{static_cast<uint32_t>(load.pid()), frames};
  std::unique_ptr<Contender> contender;
  if (hierarchy != nullptr) {
    ASSIGN_OR_RETURN(contender, LoadSampler(stacks, *hierarchy, WalkBy::kTables));
  } else {
    ASSIGN_OR_RETURN(contender, LoadFloorRing(stacks));
  }
  ASSIGN_OR_RETURN(Cost cost, Measure(*contender, cpus, kWarmHz, arguments.seconds));
  return cost.ns_per_sample;
}

Result<bool> BenchSlope(const Arguments& arguments, const std::vector<int>& cpus,
                        const daemon::ChosenHierarchy& hierarchy) {
  Pairs pairs;
  constexpr double kMore = kDeepFrames - kFrames;
  for (int pair = 0; pair < arguments.pairs; ++pair) {
    const std::string& bare = arguments.bare_toy;
    ASSIGN_OR_RETURN(double ours, WarmCost(arguments, bare, kFrames, cpus, &hierarchy));
    ASSIGN_OR_RETURN(double deep, WarmCost(arguments, bare, kDeepFrames, cpus, &hierarchy));
    ASSIGN_OR_RETURN(double floor, WarmCost(arguments, arguments.toy, kFrames, cpus, nullptr));
    ASSIGN_OR_RETURN(double below, WarmCost(arguments, arguments.toy, kDeepFrames, cpus, nullptr));
    pairs.Add((deep - ours) / kMore, (below - floor) / kMore);
  }
  return pairs.Print("sampler_ns_a_frame_by_tables", "kernel_frame_pointer_walk", kMostSlope);
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
  auto take = [&](const Result<bool>& one) {
    if (!one) fmt::print("FAIL {}\n", one.error().message());
    holds &= one && *one;
  };
  const Case by_frame_pointers{"fp", arguments.toy};
  const Case by_tables{"tables",        arguments.bare_toy, kFrames,
                       WalkBy::kTables, kMostByTablesCold,  kMostByTablesWarm};
  bool first = true;
  for (const std::string& name : Hierarchies()) {
    Result<daemon::ChosenHierarchy> hierarchy = Choose(name);
    if (!hierarchy) continue;
    take(Bench(arguments, by_frame_pointers, *cpus, *hierarchy));
    if (!std::exchange(first, false)) continue;
    take(Bench(arguments, by_tables, *cpus, *hierarchy));
    take(BenchSlope(arguments, *cpus, *hierarchy));
  }
  return holds ? 0 : 1;
}

}  // namespace firetower::bench

int main(int argc, char** argv) {
  firetower::bench::Arguments arguments;
  if (argc < 3) return 2;
  arguments.toy = argv[1];
  arguments.bare_toy = argv[2];
  if (argc > 3) arguments.pairs = std::atoi(argv[3]);
  if (argc > 4) arguments.seconds = std::atof(argv[4]);
  if (argc > 5) arguments.kib = argv[5];
  return firetower::bench::Main(arguments);
}
