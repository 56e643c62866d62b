// SPDX-License-Identifier: Apache-2.0
#include "cli/server_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "cli/cluster/hub.h"
#include "cli/http/direct.h"
#include "query/select/kinds.h"

namespace firetower::cli {
namespace {

constexpr std::string_view kDefaultServer = "http://127.0.0.1:7070";
constexpr std::string_view kHubNamespace = "firetower";
// A server takes no longer ones.
constexpr size_t kMaxTokenBytes = 16 << 10;

Failure Wrong(const Args& args, const std::string& program, std::string why) {
  return UsageFailure(Error(ErrorCode::kInvalid, std::move(why)), program, args.command->name);
}

// The flag that names a cluster to ask, "" without one.
std::string_view ClusterFlag(const Args& args) {
  for (const std::string_view flag : {"context", "kubeconfig", "hub-namespace"}) {
    if (args.Has(flag)) return flag;
  }
  return "";
}

// For `record` and `policies`, the cluster's flags select the cluster of the policies and not the
// server.
bool AsksHub(const Args& args, const std::string& program, const std::string& server) {
  const std::string_view command = args.command->name;
  if (command == "policies" || args.Has("server")) return false;
  if (command == "record") return server.empty();
  if (!ClusterFlag(args).empty()) return true;
  return server.empty() && program.starts_with("kubectl ");
}

// RFC 6750 §2.1 has fewer characters still; these do no harm in a head.
Outcome<std::string> TokenOf(const Args& args, const std::string& program,
                             const Environment& environment) {
  std::string token = args.Has("token") ? args.Get("token") : environment("FIRETOWER_TOKEN");
  const std::string path = environment("FIRETOWER_TOKEN_FILE");
  if (token.empty() && !path.empty()) {
    Result<std::string> read = ReadFile(path, kMaxTokenBytes).Context("FIRETOWER_TOKEN_FILE");
    if (!read) return Wrong(args, program, read.error().message());
    token = *std::move(read);
  }
  while (token.ends_with('\n')) token.pop_back();
  if (std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; }))
    return token;
  return Wrong(args, program,
               fmt::format("{} contains a blank or a character that is not ASCII",
                           args.Has("token")                         ? "--token"
                           : !environment("FIRETOWER_TOKEN").empty() ? "FIRETOWER_TOKEN"
                                                                     : path));
}

}  // namespace

std::string HubNamespace(const Args& args) {
  return args.Has("hub-namespace") ? args.Get("hub-namespace") : std::string(kHubNamespace);
}

Outcome<ServerChoice> ChooseServer(const Args& args, const std::string& program, int64_t timeout_ns,
                                   const Environment& environment) {
  const std::string name_space = args.Get("namespace");
  if (args.Has("namespace") && args.Has("all-namespaces"))
    return Wrong(args, program,
                 "-n selects one namespace and -A selects all: give only one of them");
  for (const std::string_view flag : {"namespace", "hub-namespace"}) {
    if (args.Has(flag) && !query::IsObjectName(args.Get(flag)))
      return Wrong(
          args, program,
          fmt::format(
              "--{} is '{}': a namespace's name has only lower-case letters, digits and '-'", flag,
              args.Get(flag)));
  }
  Outcome<std::string> token = TokenOf(args, program, environment);
  if (!token) return token.failure();
  std::string server = args.Has("server") ? args.Get("server") : environment("FIRETOWER_SERVER");

  ServerChoice choice;
  if (AsksHub(args, program, server)) {
    Outcome<std::shared_ptr<KubeClient>> cluster = OpenCluster(args, timeout_ns, environment);
    if (!cluster) return cluster.failure();
    choice.cluster = *cluster;
    if (!args.Has("all-namespaces")) choice.namespace_name = choice.cluster->namespace_name();
    choice.transport = OpenHub(choice.cluster, HubNamespace(args), *std::move(token), timeout_ns);
    return choice;
  }
  const std::string_view flag = ClusterFlag(args);
  const std::string_view command = args.command->name;
  if (!flag.empty() && command != "record" && command != "policies") {
    return Wrong(
        args, program,
        fmt::format(
            "--server selects a server, and --{} the hub of a cluster: give only one of them",
            flag));
  }
  if (server.empty() || command == "policies") server = kDefaultServer;
  Result<ServerUrl> url = ParseServerUrl(server);
  if (!url) return UsageFailure(url.error(), program, args.command->name);
  choice.namespace_name = name_space;
  Result<std::unique_ptr<HttpTransport>> direct =
      OpenDirect(*std::move(url), {.timeout_ns = timeout_ns,
                                   .bearer_token = *std::move(token),
                                   .ca_file = args.Get("certificate-authority")});
  if (!direct) return UsageFailure(direct.error(), program, args.command->name);
  choice.transport = *std::move(direct);
  return choice;
}

}  // namespace firetower::cli
