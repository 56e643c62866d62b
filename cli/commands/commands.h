// SPDX-License-Identifier: Apache-2.0
// The commands. Each writes data to standard output and returns the exit code, or the Failure to
// tell.
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

// What every command has.
struct LocalContext {
  const Args& args;
  std::string program;
  Terminal terminal;
};

// Of a command that asks a server.
struct Context : LocalContext {
  HttpClient client;
  InterruptGuard& interrupt;
  int64_t timeout_ns;
  // Whose pods it is asked about; "" for all.
  std::string namespace_name;
  // The cluster whose hub the client asks; null where it asks the server of a URL.
  std::shared_ptr<KubeClient> cluster;
};

Outcome<int> RunTop(const Context& context);
Outcome<int> RunGet(const Context& context);
Outcome<int> RunFlame(const Context& context);
Outcome<int> RunDoctor(const Context& context);
Outcome<int> RunTypes(const Context& context);
Outcome<int> RunLabels(const Context& context);
Outcome<int> RunSeries(const Context& context);
Outcome<int> RunProfiles(const Context& context);
// These ask the API server of a cluster too.
Outcome<int> RunRecord(const Context& context);
Outcome<int> RunPolicies(const Context& context);
// These read files.
Outcome<int> RunView(const LocalContext& context);
Outcome<int> RunMerge(const LocalContext& context);
Outcome<int> RunDiff(const LocalContext& context);
// The same where IsAsked holds for a side.
Outcome<int> RunAskedDiff(const Context& context);
Outcome<int> RunConvert(const LocalContext& context);

}  // namespace firetower::cli
