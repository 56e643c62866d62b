// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster/installation.h"
#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/server_choice.h"
#include "cli/term/table.h"
#include "query/wire.h"

namespace firetower::cli {
namespace {

Style StyleOf(query::CheckStatus status) {
  switch (status) {
    case query::CheckStatus::kSkip:
      return Style::kDim;
    case query::CheckStatus::kOk:
      return Style::kGood;
    case query::CheckStatus::kWarn:
      return Style::kWarn;
    case query::CheckStatus::kFail:
      return Style::kBad;
  }
  return Style::kBad;
}

// One line a check, and a line under it that says what to do. Never cut: a fix that ends in "…"
// fixes nothing.
std::string Render(const query::DoctorReply& reply, const Terminal& terminal) {
  size_t width = 0;
  for (const query::Check& check : reply.checks) width = std::max(width, check.name.size());
  std::string out;
  for (const query::Check& check : reply.checks) {
    std::string status(query::CheckStatusName(check.status));
    status.resize(4, ' ');
    std::string name = Printable(check.name, terminal.utf8);
    name.resize(std::max(width, name.size()), ' ');
    out += Styled(terminal, StyleOf(check.status), status) + "  " + name + "  " +
           Printable(check.message, terminal.utf8) + "\n";
    if (check.status != query::CheckStatus::kOk && !check.fix.empty()) {
      out += std::string(6, ' ') + "fix: " + Printable(check.fix, terminal.utf8) + "\n";
    }
  }
  return out;
}

// The skipped check for a command that asks no cluster.
query::Check NoCluster() {
  return {"pod-security", query::CheckStatus::kSkip, "no cluster was selected",
          "use --context NAME or --kubeconfig FILE to check one and its hub"};
}

// Runs the cluster's own checks first, because without pods no server can answer.
Outcome<int> AskCluster(const Context& context) {
  Outcome<std::vector<query::Check>> checks =
      CheckInstallation(*context.cluster, HubNamespace(context.args));
  if (!checks) return checks.failure();
  query::DoctorReply all;
  all.checks = *std::move(checks);
  int exit_code = ExitCode::kOk;
  Outcome<HttpReply> reply = context.client.Get("/api/v1/doctor", {});
  if (reply) {
    Result<query::DoctorReply> hub = query::DoctorReplyFromJson(reply->body);
    if (!hub) return UnreadableAnswer(hub.error());
    all.checks.insert(all.checks.end(), hub->checks.begin(), hub->checks.end());
  } else {
    all.checks.push_back(
        JudgeSilentHub(*context.cluster, HubNamespace(context.args), reply.failure()));
    if (all.checks.back().status == query::CheckStatus::kFail)
      exit_code = reply.failure().exit_code;
  }
  for (const query::Check& check : all.checks) all.status = std::max(all.status, check.status);
  if (exit_code == ExitCode::kOk && all.status == query::CheckStatus::kFail)
    exit_code = ExitCode::kFailure;
  const bool json = context.args.Get("output") == "json";
  return Emit(json ? query::ToJson(all) : Render(all, context.terminal), exit_code);
}

}  // namespace

Outcome<int> RunDoctor(const Context& context) {
  if (context.cluster != nullptr) return AskCluster(context);
  Outcome<HttpReply> reply = context.client.Get("/api/v1/doctor", {});
  if (!reply) return reply.failure();
  Result<query::DoctorReply> doctor = query::DoctorReplyFromJson(reply->body);
  if (!doctor) return UnreadableAnswer(doctor.error());
  int exit_code = doctor->status == query::CheckStatus::kFail ? ExitCode::kFailure : ExitCode::kOk;
  // The server's JSON is passed on unchanged.
  if (context.args.Get("output") == "json") return Emit(reply->body, exit_code);
  doctor->checks.push_back(NoCluster());
  return Emit(Render(*doctor, context.terminal), exit_code);
}

}  // namespace firetower::cli
