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
    WriteStat(pid, comm, parent, threads, 0);
    SetMaps(pid, maps);
  }
  void SetMaps(uint32_t pid, const std::string& maps) const { WriteText(Of(pid) + "/maps", maps); }
  void SetThread(uint32_t pid, uint32_t tid, const std::string& comm) const {
    WriteText(Of(pid) + "/task/" + std::to_string(tid) + "/comm", comm + "\n");
  }
  // The command may hold anything.
  void SetStat(uint32_t pid, uint64_t start_ticks) const {
    WriteStat(pid, "a) b (c)", 1, 17, start_ticks);
  }
  void End(uint32_t pid) const { std::filesystem::remove_all(Of(pid)); }

 private:
  // proc_pid_stat(5): the parent is field 4, num_threads 20, the start time 22.
  void WriteStat(uint32_t pid, const std::string& comm, uint32_t parent, uint32_t threads,
                 uint64_t start_ticks) const {
    WriteText(Of(pid) + "/stat",
              std::to_string(pid) + " (" + comm + ") S " + std::to_string(parent) +
                  " 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 " + std::to_string(threads) + " 18 " +
                  std::to_string(start_ticks) + " 0 0 18446744073709551615\n");
  }

  ScratchFolder folder_;
};

}  // namespace firetower::testing
