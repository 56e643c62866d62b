// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/term/table.h"
#include "query/wire.h"

namespace firetower::cli {
namespace {

Style StyleOf(query::CheckStatus status) {
  switch (status) {
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

}  // namespace

Outcome<int> RunDoctor(const Context& context) {
  Outcome<HttpReply> reply = context.client.Get("/api/v1/doctor", {});
  if (!reply) return reply.failure();
  Result<query::DoctorReply> doctor = query::DoctorReplyFromJson(reply->body);
  if (!doctor) return UnreadableAnswer(doctor.error());
  int exit_code = doctor->status == query::CheckStatus::kFail ? ExitCode::kFailure : ExitCode::kOk;
  bool json = context.args.Get("output") == "json";
  return Emit(json ? reply->body : Render(*doctor, context.terminal), exit_code);
}

}  // namespace firetower::cli
