// SPDX-License-Identifier: Apache-2.0
#include "cli/args/help.h"

#include <fmt/core.h>

#include <algorithm>

namespace firetower::cli {
namespace {

// "-q, --query SELECTOR"
std::string FlagHead(const FlagSpec& flag) {
  std::string out = flag.letter == 0 ? "    " : fmt::format("-{}, ", flag.letter);
  out += fmt::format("--{}", flag.name);
  if (!flag.value.empty()) out += fmt::format(" {}", flag.value);
  return out;
}

size_t WidestFlag(const CommandSpec* command) {
  size_t widest = 0;
  auto take = [&](const FlagSpec& flag) { widest = std::max(widest, FlagHead(flag).size()); };
  if (command != nullptr) {
    for (const FlagGroup& group : command->groups) {
      std::for_each(group.flags.begin(), group.flags.end(), take);
    }
  }
  std::for_each(GlobalFlags().begin(), GlobalFlags().end(), take);
  return widest;
}

void AppendFlags(std::string_view title, std::span<const FlagSpec> flags, size_t width,
                 std::string& out) {
  out += fmt::format("\n{}:\n", title);
  for (const FlagSpec& flag : flags) {
    out += fmt::format("  {:<{}}  {}\n", FlagHead(flag), width, flag.help);
  }
}

std::string UsageLine(std::string_view program, const CommandSpec& command) {
  std::string out = fmt::format("{} {}", program, command.name);
  if (!command.positional.empty()) out += fmt::format(" {}", command.positional);
  return out + " [flags]";
}

void AppendExamples(std::string_view program, const CommandSpec& command, std::string_view indent,
                    std::string& out) {
  for (const Example& example : command.examples) {
    if (!example.comment.empty()) out += fmt::format("{}# {}\n", indent, example.comment);
    out += fmt::format("{}{} {}\n", indent, program, example.arguments);
  }
}

void AppendMarkdownFlags(std::string_view title, std::span<const FlagSpec> flags,
                         std::string& out) {
  out += fmt::format("\n| {} | |\n|---|---|\n", title);
  for (const FlagSpec& flag : flags) {
    std::string head = FlagHead(flag);
    head.erase(0, head.find('-'));
    out += fmt::format("| `{}` | {} |\n", head, flag.help);
  }
}

constexpr std::string_view kWhatASelectorIs =
    "SELECTOR is KIND/NAME, as in kubectl (deploy/checkout, sts/db, pod/web-0, node/worker-1,\n"
    "ns/shop), or PromQL label matchers ('{pod=~\"web.*\",container=\"web\"}').";

constexpr std::string_view kIntroduction = R"md(# firetower

<!-- Written by `firetower help --markdown`; a test keeps the two equal. -->

Data goes to standard output, everything else to standard error. An operation that takes longer than
a second shows its progress there: on a terminal in one line that is overwritten, else every 5 s.
Tables show times in the local zone (`$TZ`) with its offset; JSON, keys and messages show them in
UTC. `--from` and `--to` accept both. An empty argument, such as `"$UNSET"` in a script, is refused,
because it would select everything.

## Which server it asks

`firetower` asks the daemon of this machine, or the server of `--server` or `$FIRETOWER_SERVER`.
With `--context`, `--kubeconfig` or `--hub-namespace` it asks a cluster's hub. Installed as
`kubectl-firetower`, a kubectl plugin, it does so unless a server is given. Flags take precedence
over the environment, and the environment over the program's name. (`record` asks the hub unless a
server is given; for `record` and `policies` the other flags select the cluster of the policies.)

A server is `http://HOST[:PORT][/PREFIX]` (port 7070 unless named) or `https://…` (port 443), whose
certificate the system's authorities have to vouch for, or those of `--certificate-authority` alone.
Servers and clusters are reached through the proxy of `https_proxy` or `HTTPS_PROXY` and of
`http_proxy`, but for what `no_proxy` or `NO_PROXY` lists and for this machine; a cluster through the
`proxy-url` of its kubeconfig, if it has one.

The connection to the hub is that of `kubectl port-forward`: through the API server, to a pod in
`--hub-namespace` with the label `app.kubernetes.io/name=firetower-hub`, preferably a ready one. It
needs these rights:

| Right | In namespace | For |
|---|---|---|
| `list` `pods` | the hub's | to find it |
| `get` and `create` `pods/portforward` | the hub's | to reach it |
| `get` `profilingpolicies/profiles` of `firetower.dev` | the pods', or all | to read profiles |
| `get` `clusterprofilingpolicies/profiles` of `firetower.dev` | none | to read profiles of hosts |

The hub checks the last two rights for the token that it receives. This is the bearer token of the
kubeconfig's user, from the file itself, a token file or a credential plugin. It is sent to the
hub's pod, so anybody who may create pods with that label in that namespace can read it. A user with
a client certificate has no token: the certificate proves the user's identity to the API server
only. Such a user can send the token of a service account:

```
kubectl create serviceaccount reader -n shop
kubectl create role profiles -n shop --verb=get --resource=profilingpolicies.firetower.dev/profiles
kubectl create rolebinding profiles -n shop --role=profiles --serviceaccount=shop:reader
export FIRETOWER_TOKEN="$(kubectl create token reader -n shop)"
kubectl firetower top -n shop
```

`--token` does the same, but other users of the machine can read arguments; `$FIRETOWER_TOKEN_FILE`
names a file that holds one. With `--server` only a token from one of these is sent, never the
kubeconfig's. An agent of a cluster asks for a token as the hub does. In a shell of its pod
(`kubectl exec`) both variables that this takes are set: whoever may read the pod's own token may
read what is profiled on its node.

For a cluster, queries are about the namespace of `-n`, else the context's, else `default`, as in
kubectl; `-A` selects all namespaces and the hosts. A selector with `namespace` is used unchanged,
unless `-n` is given too. For a server, `-n NS` adds the matcher `namespace="NS"`.

## Selectors

A SELECTOR is one word: PromQL label matchers in braces, such as
`'{namespace="shop",pod=~"web.*"}'`, or KIND/NAME, as in kubectl. KIND may be singular, plural or
short, and may have its group (`deploy`, `deployments`, `deployment.apps`). A profile has the names
of its namespace, pod, container, node and workload, so KIND/NAME is translated into these labels:

| KIND | selects the profiles with |
|---|---|
| `deployment`, `deploy` | `workload="NAME"` |
| `statefulset`, `sts` | `workload="NAME"` |
| `daemonset`, `ds` | `workload="NAME"` |
| `cronjob`, `cj` | `workload="NAME"` |
| `replicationcontroller`, `rc` | `workload="NAME"` |
| `replicaset`, `rs` | `pod=~"NAME-[a-z0-9]{5}"`: the names that it gives its pods |
| `job` | `workload="NAME"` and `pod=~"NAME-([0-9]{1,7}-)?[a-z0-9]{5}"`, with its index if it has one; for a NAME of a CronJob's Job, such as `report-29384760`, `workload` is that or `report` |
| `pod`, `po` | `pod="NAME"` |
| `node`, `no` | `node="NAME"`, of every namespace and the host, unless `-n` is given |
| `namespace`, `ns` | `namespace="NAME"` |

A profile has the name of its workload, but not the workload's kind. If a Deployment and a
StatefulSet in one namespace have the same name, either KIND selects both, and
`{workload="NAME",pod=~"…"}` tells them apart. A daemon without an API server knows no workloads.
`-c NAME` selects one container. Profiles do not have the labels of pods; only `record` accepts
them.
)md";

}  // namespace

std::string ProgramName(std::string_view argv0) {
  std::string_view name = argv0.substr(argv0.rfind('/') + 1);
  constexpr std::string_view kPlugin = "kubectl-";
  if (name.starts_with(kPlugin)) return fmt::format("kubectl {}", name.substr(kPlugin.size()));
  return "firetower";
}

std::string HelpText(std::string_view program) {
  std::string out = fmt::format(
      "Ask a Firetower daemon, or a cluster's hub, what containers spend their time on.\n\n"
      "Examples:\n"
      "  # The containers that use most CPU, live\n  {0} top --watch\n"
      "  # A profile for go tool pprof\n  {0} get '{{container=\"web\"}}' -f web.pb.gz\n"
      "  # What works on this node and what does not\n  {0} doctor\n\n"
      "Usage:\n  {0} COMMAND [flags]\n\nCommands:\n",
      program);
  for (const CommandSpec& command : Commands()) {
    out += fmt::format("  {:<11} {}\n", command.name, command.summary);
  }
  AppendFlags("Global", GlobalFlags(), WidestFlag(nullptr), out);
  out += "\nExit codes:\n";
  for (const ExitCodeSpec& exit : ExitCodes()) {
    out += fmt::format("  {:<4} {}\n", exit.code, exit.meaning);
  }
  return out + fmt::format("\n'{} COMMAND --help' shows more.\n", program);
}

std::string HelpText(std::string_view program, const CommandSpec& command) {
  std::string out = fmt::format("{}.\n\nExamples:\n", command.summary);
  AppendExamples(program, command, "  ", out);
  out += fmt::format("\nUsage:\n  {}\n", UsageLine(program, command));
  if (!command.description.empty()) out += fmt::format("\n{}\n", command.description);
  if (command.takes_selector()) out += fmt::format("\n{}\n", kWhatASelectorIs);
  size_t width = WidestFlag(&command);
  for (const FlagGroup& group : command.groups) AppendFlags(group.title, group.flags, width, out);
  AppendFlags("Global", GlobalFlags(), width, out);
  return out;
}

std::string HelpMarkdown() {
  std::string out(kIntroduction);
  for (const CommandSpec& command : Commands()) {
    out += fmt::format("\n## firetower {}\n\n{}.\n\n```\n", command.name, command.summary);
    AppendExamples("firetower", command, "", out);
    out += fmt::format("```\n\nUsage: `{}`\n", UsageLine("firetower", command));
    if (!command.description.empty()) out += fmt::format("\n{}\n", command.description);
    for (const FlagGroup& group : command.groups) {
      AppendMarkdownFlags(group.title, group.flags, out);
    }
  }
  out += "\n## Global flags\n";
  AppendMarkdownFlags("Global", GlobalFlags(), out);
  out += "\n## Exit codes\n\n| Code | Meaning |\n|---|---|\n";
  for (const ExitCodeSpec& exit : ExitCodes()) {
    out += fmt::format("| {} | {} |\n", exit.code, exit.meaning);
  }
  return out;
}

}  // namespace firetower::cli
