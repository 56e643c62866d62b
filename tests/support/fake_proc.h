// SPDX-License-Identifier: Apache-2.0
// A folder with the shape of /proc, as far as the daemon reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/command.h"

namespace firetower::testing {

inline void WriteText(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::trunc) << text;
}

class FakeProc {
 public:
  const std::string& root() const { return folder_.path(); }
  std::string Of(uint32_t pid) const { return root() + "/" + std::to_string(pid); }

  void SetProcess(uint32_t pid, const std::string& comm, uint32_t parent, uint32_t threads,
                  const std::string& maps) const {
    WriteText(Of(pid) + "/comm", comm + "\n");
    WriteText(Of(pid) + "/status", "Name:\t" + comm + "\nUmask:\t0022\nPid:\t" +
                                       std::to_string(pid) + "\nPPid:\t" + std::to_string(parent) +
                                       "\nThreads:\t" + std::to_string(threads) + "\n");
    SetMaps(pid, maps);
  }
  void SetMaps(uint32_t pid, const std::string& maps) const { WriteText(Of(pid) + "/maps", maps); }
  void SetThread(uint32_t pid, uint32_t tid, const std::string& comm) const {
    WriteText(Of(pid) + "/task/" + std::to_string(tid) + "/comm", comm + "\n");
  }
  // As proc_pid_stat(5) has it: the command may hold anything, the start time is field 22.
  void SetStat(uint32_t pid, uint64_t start_ticks) const {
    WriteText(Of(pid) + "/stat", std::to_string(pid) +
                                     " (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 " +
                                     std::to_string(start_ticks) + " 0 0 18446744073709551615\n");
  }
  void End(uint32_t pid) const { std::filesystem::remove_all(Of(pid)); }

 private:
  ScratchFolder folder_;
};

}  // namespace firetower::testing
