// SPDX-License-Identifier: Apache-2.0
// elfutils' debuginfod over a folder, on a free port of the loopback.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"

namespace firetower::testing {

class RealDebuginfod {
 public:
  explicit RealDebuginfod(const std::string& folder) : port_(FreePort()) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, write_end.get(), 1);
    posix_spawn_file_actions_adddup2(&actions, write_end.get(), 2);
    std::string words[] = {"debuginfod",          "-v", "-F",       "-p",
                           std::to_string(port_), "-d", ":memory:", folder};
    char* argv[std::size(words) + 1] = {};
    for (size_t i = 0; i < std::size(words); ++i) argv[i] = words[i].data();
    const bool started = ::posix_spawnp(&pid_, argv[0], &actions, nullptr, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    write_end = UniqueFd();
    if (!started) return;
    // Kept, or its next line would end it.
    output_fd_ = std::move(read_end);
    // It has read every file when it has looked through the folder and then grooms, which it does
    // when asked and, once, at its start, then as likely as not before it has looked.
    if (!ReadUntil("fts traversed source paths") || !ReadUntil(kGroomed)) return;
    output_.clear();
    ready_ = ::kill(pid_, SIGUSR2) == 0 && ReadUntil(kGroomed);
  }
  ~RealDebuginfod() { Stop(); }
  RealDebuginfod(const RealDebuginfod&) = delete;
  RealDebuginfod& operator=(const RealDebuginfod&) = delete;

  void Stop() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  bool ready() const { return ready_; }
  const std::string& output() const { return output_; }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }

 private:
  static constexpr char kGroomed[] = "groomed database";

  // False if it ended the pipe first: it cannot serve.
  bool ReadUntil(std::string_view words) {
    char buffer[4096];
    while (output_.find(words) == std::string::npos) {
      const ssize_t got = ::read(output_fd_.get(), buffer, sizeof buffer);
      if (got <= 0) return false;
      output_.append(buffer, static_cast<size_t>(got));
    }
    return true;
  }

  static int FreePort() {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

  int port_;
  pid_t pid_ = -1;
  bool ready_ = false;
  std::string output_;
  UniqueFd output_fd_;
};

}  // namespace firetower::testing
