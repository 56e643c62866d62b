// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/clock.h"
#include "base/file.h"
#include "base/unique_fd.h"

namespace firetower::cli {
namespace {

constexpr int64_t kDeadlineNs = 20 * kNsPerSecond;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

struct Child {
  pid_t pid = -1;
  UniqueFd out;
  UniqueFd err;
};

Child Start(const std::vector<std::string>& arguments, const RunOptions& options) {
  std::vector<std::string> argv{options.argv0};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const char* path = std::getenv("PATH");
  std::vector<std::string> environment{std::string("PATH=") + (path == nullptr ? "" : path),
                                       "LANG=C.UTF-8", "TZ=UTC", "TERM=xterm"};
  // Before the rest: of two with one name the first counts.
  environment.insert(environment.begin(), options.environment.begin(), options.environment.end());
  std::vector<char*> argv_pointers = Pointers(argv);
  std::vector<char*> environment_pointers = Pointers(environment);
  const char* binary = FIRETOWER_BINARY_DIR "/bin/firetower";

  Child child;
  int master = -1;
  int out[2] = {-1, -1};
  int err[2] = {-1, -1};
  if (options.terminal_columns > 0) {
    winsize size{};
    size.ws_col = options.terminal_columns;
    size.ws_row = 40;
    child.pid = ::forkpty(&master, nullptr, nullptr, &size);
    child.out = UniqueFd(master);
  } else {
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) return child;
    child.pid = ::fork();
  }
  if (child.pid == 0) {
    if (!options.stdin_file.empty()) {
      ::dup2(::open(options.stdin_file.c_str(), O_RDONLY), STDIN_FILENO);
    }
    if (options.terminal_columns == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
    }
    ::execve(binary, argv_pointers.data(), environment_pointers.data());
    ::_exit(127);
  }
  if (options.terminal_columns == 0) {
    ::close(out[1]);
    ::close(err[1]);
    child.out = UniqueFd(out[0]);
    child.err = UniqueFd(err[0]);
  }
  return child;
}

// False at the end of the stream.
bool ReadSome(const UniqueFd& fd, std::string& out) {
  char buffer[4096];
  ssize_t n = ::read(fd.get(), buffer, sizeof(buffer));
  if (n > 0) out.append(buffer, static_cast<size_t>(n));
  return n > 0;
}

}  // namespace

Ran RunFiretower(const std::vector<std::string>& arguments, const RunOptions& options) {
  Child child = Start(arguments, options);
  Ran ran;
  bool interrupted = false;
  int64_t end_ns = Clock::System().MonotonicNs() + kDeadlineNs;
  bool out_open = true;
  bool err_open = static_cast<bool>(child.err);
  while ((out_open || err_open) && Clock::System().MonotonicNs() < end_ns) {
    pollfd ready[] = {{out_open ? child.out.get() : -1, POLLIN, 0},
                      {err_open ? child.err.get() : -1, POLLIN, 0}};
    (void)::poll(ready, 2, 100);
    if (ready[0].revents != 0) out_open = ReadSome(child.out, ran.out);
    if (ready[1].revents != 0) err_open = ReadSome(child.err, ran.err);
    size_t line_end = ran.out.find('\n');
    if (!interrupted && options.when_out_has_line && line_end != std::string::npos) {
      interrupted = true;
      options.when_out_has_line(ran.out.substr(0, line_end));
      ::kill(child.pid, options.signal);
    }
    if (!interrupted && !options.interrupt_at.empty() &&
        ran.out.find(options.interrupt_at) != std::string::npos) {
      interrupted = true;
      ::kill(child.pid, options.signal);
    }
  }
  if (out_open || err_open) ::kill(child.pid, SIGKILL);
  int status = 0;
  ::waitpid(child.pid, &status, 0);
  if (WIFEXITED(status)) ran.exit_code = WEXITSTATUS(status);
  return ran;
}

void ExpectGolden(const std::string& name, const std::string& text) {
  std::string path = FIRETOWER_SOURCE_DIR "/tests/unit/cli/testdata/" + name;
  if (std::getenv("FIRETOWER_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomic(path, text));
    return;
  }
  auto golden = ReadFile(path);
  ASSERT_TRUE(golden) << golden.error().message();
  EXPECT_EQ(text, *golden) << "if this is meant, run the test with FIRETOWER_UPDATE_GOLDEN=1";
}

}  // namespace firetower::cli
