// SPDX-License-Identifier: Apache-2.0
// firetowerd: samples stacks, attributes them to containers, names them, writes pprof.
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/thread.h"
#include "daemon/cluster/access.h"
#include "daemon/config/command_line.h"
#include "daemon/control/agent.h"
#include "daemon/health/doctor.h"

namespace firetower::daemon {
namespace {

// A flush that takes longer hangs on something that will not come back; the supervisor's own limit
// is about to be reached.
constexpr unsigned kStopSeconds = 20;
// Each thread would get a heap of its own, with its own free pages; ours allocate little.
constexpr int kHeaps = 2;
// Freed memory returns to the node at once, because tables and windows are large blocks that come
// and go.
constexpr int kKeepFreeBytes = 64 << 10;

int Fail(const Error& error) {
  std::fprintf(stderr, "firetowerd: %s\n", error.message().c_str());
  return error.code() == ErrorCode::kInvalid ? 2 : 1;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Prints the failed checks when the daemon does not start, because `firetower doctor` then has no
// server to ask. Omits warnings, which cannot be the reason.
void TellChecks(const Config& config) {
  const DoctorInput host{.proc_root = config.proc_root,
                         .sys_root = config.sys_root,
                         .sideband_ring_bytes = config.sideband_ring_bytes};
  for (const std::string& line : LinesOfFailed(RunDoctor(host)))
    std::fprintf(stderr, "firetowerd: %s\n", line.c_str());
}

int RunAgent(const Config& config, std::optional<k8s::ClientConfig> access) {
  SetLogLevel(config.log_level);
  SetLogFormat(config.log_format);
  SetThreadName("control");
  ::mallopt(M_ARENA_MAX, kHeaps);
  ::mallopt(M_MMAP_THRESHOLD, kKeepFreeBytes);
  ::mallopt(M_TRIM_THRESHOLD, kKeepFreeBytes);
  Result<UniqueFd> stop_fd = CatchStopSignals();
  if (!stop_fd) return Fail(stop_fd.error());
  bool machine_refused = false;
  Result<std::unique_ptr<Agent>> agent =
      Agent::Start(config, std::move(access), Clock::System(), machine_refused);
  if (!agent) {
    const int exit_code = Fail(agent.error());
    if (machine_refused) TellChecks(config);
    return exit_code;
  }
  (*agent)->Run(stop_fd->get());
  LOG(kInfo, "stopping", {});
  ::alarm(kStopSeconds);
  (*agent)->Stop();
  LOG(kInfo, "stopped", {});
  return 0;
}

int Main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  Result<CommandLine> command_line = ParseCommandLine(arguments, Variable("NODE_NAME"));
  if (!command_line) return Fail(command_line.error());
  switch (command_line->action) {
    case CommandAction::kHelp:
      std::fputs(HelpText().c_str(), stdout);
      return 0;
    case CommandAction::kHelpMarkdown:
      std::fputs(ConfigurationMarkdown().c_str(), stdout);
      return 0;
    case CommandAction::kVersion:
      std::puts("firetowerd " FIRETOWER_VERSION);
      return 0;
    case CommandAction::kRun:
      break;
  }
  Result<std::optional<k8s::ClientConfig>> access =
      ClusterAccessOf(command_line->config, Variable("KUBERNETES_SERVICE_HOST"),
                      Variable("KUBERNETES_SERVICE_PORT"));
  if (!access) return Fail(access.error());
  return RunAgent(command_line->config, *std::move(access));
}

}  // namespace
}  // namespace firetower::daemon

int main(int argc, char** argv) { return firetower::daemon::Main(argc, argv); }
