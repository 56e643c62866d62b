// SPDX-License-Identifier: Apache-2.0
// firetower-hub: what policies do on all nodes, in their status; questions about profiles.
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/thread.h"
#include "hub/config.h"
#include "hub/hub.h"
#include "hub/profiles/lifecycle_rules.h"

namespace firetower::hub {
namespace {

// Longer than a request may take; the supervisor's own limit is 30 s.
constexpr unsigned kStopSeconds = 20;

int Fail(const Error& error) {
  std::fprintf(stderr, "firetower-hub: %s\n", error.message().c_str());
  return error.code() == ErrorCode::kInvalid ? 2 : 1;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// In a pod the host's name is the pod's name. The suffix distinguishes this process from an earlier
// one.
std::string NewIdentity() {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  std::random_device random;
  std::string identity = std::string(host) + "_";
  for (int i = 0; i < 8; ++i) identity += "0123456789abcdefghijklmnopqrstuvwxyz"[random() % 36];
  return identity;
}

Result<k8s::ClientConfig> AccessOf(const Config& config) {
  if (config.kubeconfig_path.empty()) {
    Result<k8s::ClientConfig> access = k8s::InClusterConfig(Variable("KUBERNETES_SERVICE_HOST"),
                                                            Variable("KUBERNETES_SERVICE_PORT"));
    if (access) return access;
    return Error(ErrorCode::kInvalid,
                 "no API server is configured: " + access.error().message() + "; set --kubeconfig");
  }
  Result<k8s::ClientConfig> access = k8s::LoadKubeconfig(config.kubeconfig_path);
  if (access) return access;
  return Error(ErrorCode::kInvalid, "--kubeconfig: " + access.error().message());
}

int RunHub(Config config) {
  SetLogLevel(config.log_level);
  SetLogFormat(config.log_format);
  Result<k8s::ClientConfig> access = AccessOf(config);
  if (!access) return Fail(access.error());
  if (config.identity.empty()) config.identity = NewIdentity();
  if (config.lease_namespace.empty()) config.lease_namespace = access->default_namespace;
  if (config.lease_namespace.empty()) config.lease_namespace = "default";
  SetThreadName("control");
  Result<UniqueFd> stop_fd = CatchStopSignals();
  if (!stop_fd) return Fail(stop_fd.error());
  Result<std::unique_ptr<Hub>> hub = Hub::Start(config, *std::move(access), Clock::System());
  if (!hub) return Fail(hub.error());
  LOG(kInfo, "running", {{"as", config.identity}, {"listen", (*hub)->url()}});
  signalfd_siginfo signal_info;
  while (::read(stop_fd->get(), &signal_info, sizeof(signal_info)) < 0 && errno == EINTR) {
  }
  LOG(kInfo, "stopping", {});
  ::alarm(kStopSeconds);
  (*hub)->Stop();
  LOG(kInfo, "stopped", {});
  return 0;
}

int PrintLifecycleRules(const Config& config) {
  const Result<std::string> rules = LifecycleRules(config);
  if (!rules) return Fail(rules.error());
  std::fputs(rules->c_str(), stdout);
  return 0;
}

int Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  Result<CommandLine> line = ParseCommandLine(arguments);
  if (!line) return Fail(line.error());
  switch (line->action) {
    case CommandAction::kHelp:
      std::fputs(HelpText().c_str(), stdout);
      return 0;
    case CommandAction::kVersion:
      std::puts("firetower-hub " FIRETOWER_VERSION);
      return 0;
    case CommandAction::kPrintLifecycleRules:
      return PrintLifecycleRules(line->config);
    case CommandAction::kRun:
      break;
  }
  return RunHub(std::move(line->config));
}

}  // namespace
}  // namespace firetower::hub

int main(int argc, char** argv) { return firetower::hub::Main(argc, argv); }
