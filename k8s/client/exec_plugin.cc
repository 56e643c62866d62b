// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/exec_plugin.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/unique_fd.h"
#include "k8s/client/exec_info.h"

namespace firetower::k8s {
namespace {

constexpr size_t kMaxErrorBytes = 1024;

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Result<Pipe> CreatePipe() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) return ErrnoError("pipe");
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Ours, with the plugin's own variables and KUBERNETES_EXEC_INFO in the place of older ones.
std::vector<std::string> Environment(const ClientConfig& config) {
  std::vector<std::string> ours;
  for (const auto& [name, value] : config.exec->environment)
    ours.push_back(fmt::format("{}={}", name, value));
  ours.push_back("KUBERNETES_EXEC_INFO=" + ExecInfoJson(config));
  std::vector<std::string> all = ours;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& own : ours) replaced |= own.starts_with(name);
    if (!replaced) all.emplace_back(text);
  }
  return all;
}

Result<pid_t> Spawn(const ClientConfig& config, int out_fd, int error_fd) {
  const ExecPlugin& plugin = *config.exec;
  std::vector<std::string> arguments = {plugin.command};
  arguments.insert(arguments.end(), plugin.arguments.begin(), plugin.arguments.end());
  std::vector<std::string> environment = Environment(config);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, error_fd, STDERR_FILENO);
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, plugin.command.c_str(), &actions, nullptr,
                                    Pointers(arguments).data(), Pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return pid;
  Error error = ErrnoError("credential plugin " + plugin.command, failed);
  if (plugin.install_hint.empty()) return error;
  return Error(error.code(), error.message() + "; " + plugin.install_hint, failed);
}

// Appends the bytes that can be read. Returns false at the end of the stream, or if `out` would
// exceed `max_bytes`.
bool Drain(int fd, std::string& out, size_t max_bytes) {
  std::array<char, 4096> buffer;
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  if (n <= 0) return n < 0 && errno == EINTR;
  const size_t room = max_bytes - std::min(max_bytes, out.size());
  out.append(buffer.data(), std::min(static_cast<size_t>(n), room));
  return true;
}

struct Output {
  std::string out;
  std::string error;
};

// Both streams until the first ends. What ends the wait before that, or "".
std::string Collect(int out_fd, int error_fd, int cancel_fd, int64_t timeout_ns, Output& output) {
  const int64_t end_ns = Clock::System().MonotonicNs() + timeout_ns;
  std::array<pollfd, 3> fds = {pollfd{out_fd, POLLIN, 0}, pollfd{error_fd, POLLIN, 0},
                               pollfd{cancel_fd, POLLIN, 0}};
  for (;;) {
    const int64_t left_ns = end_ns - Clock::System().MonotonicNs();
    if (left_ns <= 0) return fmt::format("did not end within {} s", timeout_ns / kNsPerSecond);
    ::poll(fds.data(), fds.size(), static_cast<int>(left_ns / kNsPerMs + 1));
    if (fds[2].revents != 0) return "was cancelled";
    // A closed stream polls as ready for ever: it is looked at no more.
    if (fds[1].revents != 0 && !Drain(error_fd, output.error, kMaxErrorBytes)) fds[1].fd = -1;
    if (fds[0].revents != 0 && !Drain(out_fd, output.out, kMaxCredentialBytes + 1)) return "";
    if (output.out.size() > kMaxCredentialBytes) return "printed more than 1 MiB";
  }
}

}  // namespace

Result<ExecCredential> RunExecPlugin(const ClientConfig& config, int cancel_fd,
                                     int64_t timeout_ns) {
  const std::string who = "credential plugin " + config.exec->command;
  ASSIGN_OR_RETURN(Pipe out, CreatePipe());
  ASSIGN_OR_RETURN(Pipe error, CreatePipe());
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(config, out.write_end.get(), error.write_end.get()));
  out.write_end.reset();
  error.write_end.reset();

  Output output;
  const std::string why =
      Collect(out.read_end.get(), error.read_end.get(), cancel_fd, timeout_ns, output);
  // It has closed its standard output, so nothing more is wanted of it; its status is.
  if (!why.empty()) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (why.empty() && status != 0) {
    // Written before it ended: there now, or never.
    ::fcntl(error.read_end.get(), F_SETFL, O_NONBLOCK);
    while (output.error.size() < kMaxErrorBytes &&
           Drain(error.read_end.get(), output.error, kMaxErrorBytes)) {
    }
  }
  if (!why.empty()) return Error(ErrorCode::kUnavailable, who + " " + why);
  if (status != 0) {
    const std::string how = WIFEXITED(status) ? fmt::format("exit status {}", WEXITSTATUS(status))
                                              : fmt::format("signal {}", WTERMSIG(status));
    return Error(ErrorCode::kUnavailable,
                 fmt::format("{} failed ({}): {}", who, how, ToValidUtf8(output.error)));
  }
  return ParseExecCredential(output.out).Context(who);
}

}  // namespace firetower::k8s
