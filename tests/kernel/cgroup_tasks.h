// SPDX-License-Identifier: Apache-2.0
// Real cgroups of a container, in every hierarchy that is mounted, and processes that run in them
// and keep their own account of what they do.
#pragma once

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "daemon/process/cgroup_tree.h"
#include "daemon/trigger/readings/cgroup_roots.h"

namespace firetower::testing {

inline bool WriteKernelFile(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written =
      fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) ::close(fd);
  return written;
}

// The cgroups of one container of a pod of its own; removed with the object.
class RealCgroup {
 public:
  explicit RealCgroup(const daemon::CgroupRoots& roots) : roots_(roots) {
    const std::string pod = fmt::format("pod{:08x}-0000-4000-8000-707269676765", ::getpid());
    container_ = std::make_shared<daemon::Container>();
    container_->root_path = "/kubepods/burstable/" + pod + "/" + std::string(64, 'd');
    container_->path = k8s::ParseCgroupPath(container_->root_path);
    for (const std::string& root : Roots()) {
      for (const std::string& path : Levels()) {
        // Children get these two controllers, where v2 has them; v1 has no such file.
        for (const char* controller : {"+cpu", "+memory"}) {
          WriteKernelFile(root + Parent(path) + "/cgroup.subtree_control", controller);
        }
        ::mkdir((root + path).c_str(), 0755);
      }
    }
  }
  RealCgroup(const RealCgroup&) = delete;
  RealCgroup& operator=(const RealCgroup&) = delete;
  ~RealCgroup() {
    std::vector<std::string> levels = Levels();
    for (const std::string& root : Roots()) {
      for (auto path = levels.rbegin(); path != levels.rend(); ++path) Remove(root + *path);
    }
  }

  // Removes the container alone, as a runtime does when its main process has died.
  void RemoveContainer() const {
    for (const std::string& root : Roots()) Remove(root + container_->root_path);
  }

  // True when the kernel took it, in v1's form or v2's.
  bool LimitCpu(int quota_us, int period_us) const {
    const std::string v1 = roots_.v1_cpu + container_->root_path;
    if (roots_.v1_cpu.empty())
      return WriteKernelFile(roots_.v2 + container_->root_path + "/cpu.max",
                             fmt::format("{} {}", quota_us, period_us));
    return WriteKernelFile(v1 + "/cpu.cfs_period_us", std::to_string(period_us)) &&
           WriteKernelFile(v1 + "/cpu.cfs_quota_us", std::to_string(quota_us));
  }
  bool LimitMemory(int64_t bytes) const {
    const std::string number = std::to_string(bytes);
    const std::string v1 = roots_.v1_memory + container_->root_path;
    const std::string v2 = roots_.v2 + container_->root_path;
    if (!roots_.v1_memory.empty()) return WriteKernelFile(v1 + "/memory.limit_in_bytes", number);
    WriteKernelFile(v2 + "/memory.swap.max", "0");
    return WriteKernelFile(v2 + "/memory.max", number);
  }
  // Moves the calling process into all of them.
  bool Enter() const {
    bool entered = true;
    for (const std::string& root : Roots())
      entered &= WriteKernelFile(root + container_->root_path + "/cgroup.procs", "0");
    return entered;
  }
  const std::shared_ptr<daemon::Container>& container() const { return container_; }

 private:
  std::set<std::string> Roots() const {
    std::set<std::string> roots{roots_.v2, roots_.v1_cpu, roots_.v1_cpuacct, roots_.v1_memory};
    roots.erase("");
    return roots;
  }
  static std::string Parent(const std::string& path) { return path.substr(0, path.rfind('/')); }
  std::vector<std::string> Levels() const {
    const std::string pod = Parent(container_->root_path);
    return {"/kubepods", "/kubepods/burstable", pod, container_->root_path};
  }
  // A cgroup is empty only some time after its last process was reaped.
  static void Remove(const std::string& folder) {
    for (int i = 0; i < 100 && ::rmdir(folder.c_str()) != 0 && errno == EBUSY; ++i)
      ::poll(nullptr, 0, 20);
  }

  const daemon::CgroupRoots roots_;
  std::shared_ptr<daemon::Container> container_;
};

// A process in the container's cgroups. Its body tells of its progress, and may wait for its turn.
class CgroupTask {
 public:
  struct Account {
    std::atomic<int64_t> cpu_ns, user_ns, system_ns;  // the last two as the kernel divides it
  };
  class Body {
   public:
    Body(int out, int in, Account& account) : out_(out), in_(in), account_(account) {}
    // Publishes its CPU time, and tells the parent.
    void Tell() {
      timespec used{};
      ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
      account_.cpu_ns = used.tv_sec * kNsPerSecond + used.tv_nsec;
      rusage usage{};
      ::getrusage(RUSAGE_SELF, &usage);
      account_.user_ns = usage.ru_utime.tv_sec * kNsPerSecond + usage.ru_utime.tv_usec * 1000;
      account_.system_ns = usage.ru_stime.tv_sec * kNsPerSecond + usage.ru_stime.tv_usec * 1000;
      if (::write(out_, "x", 1) != 1) ::_exit(0);
    }
    void WaitTurn() {
      char byte = 0;
      if (::read(in_, &byte, 1) != 1) ::_exit(0);
    }

   private:
    int out_, in_;
    Account& account_;
  };

  // `cpu`: the only one it may run on; -1 for any.
  CgroupTask(const RealCgroup& cgroup, int cpu, const std::function<void(Body&)>& run) {
    shared_ = static_cast<Account*>(::mmap(nullptr, sizeof(*shared_), PROT_READ | PROT_WRITE,
                                           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    int out[2], in[2];
    EXPECT_EQ(::pipe(out), 0);
    EXPECT_EQ(::pipe(in), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (!cgroup.Enter()) ::_exit(3);
      if (cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<size_t>(cpu), &set);
        if (::sched_setaffinity(0, sizeof set, &set) != 0) ::_exit(4);
      }
      ::close(out[0]);
      ::close(in[1]);
      Body body(out[1], in[0], *shared_);
      run(body);
      ::_exit(0);
    }
    ::close(out[1]);
    ::close(in[0]);
    from_.reset(out[0]);
    to_.reset(in[1]);
  }
  CgroupTask(const CgroupTask&) = delete;
  CgroupTask& operator=(const CgroupTask&) = delete;
  ~CgroupTask() {
    End();
    ::munmap(shared_, sizeof(*shared_));
  }

  // False when it ended, or said nothing for a minute.
  bool WaitTold(int times) {
    for (int i = 0; i < times; ++i) {
      pollfd ready{from_.get(), POLLIN, 0};
      char byte = 0;
      if (::poll(&ready, 1, 60'000) != 1 || ::read(from_.get(), &byte, 1) != 1) return false;
    }
    return true;
  }
  void GiveTurn() { EXPECT_EQ(::write(to_.get(), "x", 1), 1); }
  int64_t cpu_ns() const { return shared_->cpu_ns; }
  int64_t user_ns() const { return shared_->user_ns; }
  int64_t system_ns() const { return shared_->system_ns; }
  pid_t pid() const { return pid_; }

  // The wait status: of its own end, or of a kill.
  int End() {
    if (pid_ <= 0) return 0;
    int status = 0;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  int WaitEnd() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  UniqueFd from_, to_;
  Account* shared_ = nullptr;
};

// Burns CPU in user code, with few calls of the kernel, and tells each 20 ms of it.
inline void Burn(CgroupTask::Body& body) {
  for (;;) {
    const clock_t end = ::clock() + CLOCKS_PER_SEC / 50;
    while (::clock() < end) {
      for (int i = 0; i < 200000; ++i) asm volatile("");
    }
    body.Tell();
  }
}

}  // namespace firetower::testing
