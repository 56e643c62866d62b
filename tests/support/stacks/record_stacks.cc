// SPDX-License-Identifier: Apache-2.0
// record_stacks FOLDER NAME COUNT PROGRAM [ARGUMENT…]: stops a program COUNT times wherever it just
// is, and writes its main thread's stack to FOLDER/NAME-<n>, with the frames that elfutils' libdwfl
// saw. Stacks that libdwfl could not walk to the end, or with more than kMostBytes of stack, are
// left out. Needs nothing but the right to trace its own child.
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "daemon/unwind/load_table.h"
#include "symbolizer/random_access.h"
#include "tests/support/stacks/recorded_stack.h"

namespace firetower::testing {
namespace {

constexpr size_t kMostBytes = 8 << 10;
constexpr auto kRunBetween = std::chrono::milliseconds(7);

struct DwflDeleter {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

// Field 28 of /proc/<pid>/stat, behind the name, which may hold blanks.
uint64_t StackStart(pid_t pid) {
  std::string stat = ReadFile(fmt::format("/proc/{}/stat", pid)).value();
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string field;
  for (int i = 3; i <= 28; ++i) fields >> field;
  return std::strtoull(field.c_str(), nullptr, 10);
}

int KeepFrame(Dwfl_Frame* frame, void* to) {
  auto& frames = *static_cast<std::vector<uint64_t>*>(to);
  Dwarf_Addr pc = 0;
  bool activation = false;
  if (!dwfl_frame_pc(frame, &pc, &activation)) return DWARF_CB_ABORT;
  // In a record an interrupted frame's address is one more, for it made no call; but the leaf's.
  frames.push_back(frames.empty() || !activation ? pc : pc + 1);
  return DWARF_CB_OK;
}

bool FramesOf(pid_t pid, std::vector<uint64_t>& frames) {
  static const Dwfl_Callbacks kCallbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo,
                                            nullptr, nullptr};
  std::unique_ptr<Dwfl, DwflDeleter> dwfl(dwfl_begin(&kCallbacks));
  if (dwfl_linux_proc_report(dwfl.get(), pid) != 0) return false;
  if (dwfl_report_end(dwfl.get(), nullptr, nullptr) != 0) return false;
  if (dwfl_linux_proc_attach(dwfl.get(), pid, true) != 0) return false;
  return dwfl_getthread_frames(dwfl.get(), pid, KeepFrame, &frames) == 0;
}

void ReadMappings(pid_t pid, RecordedStack& stack) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::map<std::string, size_t> modules;
  std::map<size_t, std::vector<uint64_t>> offsets;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream in(line);
    std::string range, rights, offset, device, inode, path;
    in >> range >> rights >> offset >> device >> inode >> path;
    if (rights.size() < 3 || rights[2] != 'x') continue;
    RecordedStack::Mapping mapping;
    mapping.start = std::strtoull(range.c_str(), nullptr, 16);
    mapping.end = std::strtoull(range.c_str() + range.find('-') + 1, nullptr, 16);
    mapping.file_offset = std::strtoull(offset.c_str(), nullptr, 16);
    if (path.starts_with('/') || path == "[vdso]") {
      mapping.module = modules.try_emplace(path, modules.size()).first->second;
      for (uint64_t frame : stack.frames) {
        for (uint64_t pc : {frame, frame - 1}) {
          if (pc < mapping.start || pc >= mapping.end) continue;
          offsets[*mapping.module].push_back(pc - mapping.start + mapping.file_offset);
        }
      }
    }
    stack.mappings.push_back(mapping);
  }
  stack.tables.resize(modules.size());
  for (const auto& [path, module] : modules) {
    if (path == "[vdso]") {
      stack.tables[module] = CutTable(daemon::LoadVdsoTable().value(), offsets[module]);
      continue;
    }
    auto source = symbolizer::FileSource::Open(path);
    if (!source) continue;
    auto table = daemon::LoadUnwindTable(*source);
    if (table) stack.tables[module] = CutTable(*table, offsets[module]);
  }
}

std::optional<RecordedStack> Record(pid_t pid) {
  user_regs_struct regs{};
  if (::ptrace(PTRACE_GETREGS, pid, nullptr, &regs) != 0) return std::nullopt;
  RecordedStack stack;
  stack.ip = regs.rip;
  stack.sp = regs.rsp;
  stack.bp = regs.rbp;
  stack.registers = {regs.r15, regs.r14, regs.r13, regs.r12, regs.rbp, regs.rbx, regs.r11, regs.r10,
                     regs.r9,  regs.r8,  regs.rax, regs.rcx, regs.rdx, regs.rsi, regs.rdi};
  stack.stack_start = StackStart(pid);
  if (stack.stack_start < regs.rsp || stack.stack_start - regs.rsp > kMostBytes)
    return std::nullopt;
  stack.memory_begin = regs.rsp - FT_RED_ZONE_BYTES;
  stack.memory.resize(stack.stack_start - stack.memory_begin + 64);
  iovec local{stack.memory.data(), stack.memory.size()};
  iovec remote{reinterpret_cast<void*>(stack.memory_begin), stack.memory.size()};
  if (::process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0) return std::nullopt;
  if (!FramesOf(pid, stack.frames) || stack.frames.size() < 3) return std::nullopt;
  ReadMappings(pid, stack);
  return stack;
}

int Run(const std::string& folder, const std::string& name, int count, char** command) {
  pid_t pid = fork();
  if (pid == 0) {
    int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 1);
    ::execvp(command[0], command);
    _exit(127);
  }
  std::this_thread::sleep_for(kRunBetween * 10);
  if (::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) != 0) return 1;
  int status = 0;
  for (int written = 0, tries = 0; written < count && tries < count * 50; ++tries) {
    ::ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr);
    if (::waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) return 1;
    if (std::optional<RecordedStack> stack = Record(pid)) {
      stack->about =
          fmt::format("{}: frames by libdwfl of elfutils {}", name, dwfl_version(nullptr));
      std::ofstream(fmt::format("{}/{}-{}", folder, name, written++)) << WriteRecordedStack(*stack);
    }
    int number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    ::ptrace(PTRACE_CONT, pid, nullptr, number);
    std::this_thread::sleep_for(kRunBetween);
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, &status, 0);
  return 0;
}

}  // namespace
}  // namespace firetower::testing

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: record_stacks FOLDER NAME COUNT PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  return firetower::testing::Run(argv[1], argv[2], std::atoi(argv[3]), argv + 4);
}
