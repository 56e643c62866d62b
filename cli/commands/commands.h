// SPDX-License-Identifier: Apache-2.0
// The commands. Each writes data to standard output and returns the exit code, or the Failure to
// report.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/args/parse.h"
#include "cli/failure.h"
#include "cli/http/client.h"
#include "cli/term/interrupt.h"
#include "cli/term/terminal.h"

namespace firetower::cli {

class KubeClient;

// The context of every command.
struct LocalContext {
  const Args& args;
  std::string program;
  Terminal terminal;
};

// The context of a command that asks a server.
struct Context : LocalContext {
  HttpClient client;
  InterruptGuard& interrupt;
  int64_t timeout_ns;
  // The namespace of the pods in question; "" for all.
  std::string namespace_name;
  // The cluster whose hub the client asks; null if it asks the server of a URL.
  std::shared_ptr<KubeClient> cluster;
};

Outcome<int> RunTop(const Context& context);
Outcome<int> RunGet(const Context& context);
Outcome<int> RunFlame(const Context& context);
Outcome<int> RunOpen(const Context& context);
Outcome<int> RunPeek(const Context& context);
Outcome<int> RunTree(const Context& context);
Outcome<int> RunHeat(const Context& context);
Outcome<int> RunDiagnose(const Context& context);
Outcome<int> RunDoctor(const Context& context);
Outcome<int> RunMcp(const Context& context);
Outcome<int> RunTypes(const Context& context);
Outcome<int> RunRollouts(const Context& context);
Outcome<int> RunLabels(const Context& context);
Outcome<int> RunSeries(const Context& context);
Outcome<int> RunProfiles(const Context& context);
// These also ask the API server of a cluster.
Outcome<int> RunRecord(const Context& context);
Outcome<int> RunPolicies(const Context& context);
// These read files.
Outcome<int> RunView(const LocalContext& context);
Outcome<int> RunMerge(const LocalContext& context);
Outcome<int> RunDiff(const LocalContext& context);
// Compares when IsAsked holds for a side.
Outcome<int> RunAskedDiff(const Context& context);
Outcome<int> RunConvert(const LocalContext& context);

}  // namespace firetower::cli
