// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/term/table.h"
#include "diagnosis/report.h"
#include "query/time_range.h"

namespace firetower::cli {
namespace {

using diagnosis::Domain;
using diagnosis::Evidence;
using diagnosis::Finding;
using diagnosis::Report;
using diagnosis::Verdict;

std::string Stack(const std::vector<std::string>& stack) {
  constexpr size_t kShown = 8;
  std::string out = stack.size() > kShown ? "… > " : "";
  for (size_t i = stack.size() > kShown ? stack.size() - kShown : 0; i < stack.size(); ++i)
    out += stack[i] + (i + 1 < stack.size() ? " > " : "");
  return out;
}

// Builds a page of lines; names come from other people's binaries.
class Page {
 public:
  explicit Page(const Terminal& terminal) : terminal_(terminal) {}

  void Line(std::string_view text) { text_ += Printable(text, terminal_.utf8) + "\n"; }
  // `label`, and beside it a text that stands out.
  void Heading(std::string_view label, std::string_view text) {
    text_ += fmt::format("{:<9} ", label) +
             Styled(terminal_, Style::kBold, Printable(text, terminal_.utf8)) + "\n";
  }
  void Add(const std::vector<Evidence>& evidence) {
    for (const Evidence& one : evidence) {
      Line(fmt::format("          {:5.1f} %  {}{}{}", one.percent, one.what,
                       one.stack.empty() ? "" : ": ", Stack(one.stack)));
    }
  }
  std::string Take() { return std::move(text_); }

 private:
  const Terminal& terminal_;
  std::string text_;
};

std::string DomainsText(const Verdict& verdict) {
  std::string out;
  for (size_t i = 0; i < diagnosis::kDomains; ++i)
    out += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ",
                       diagnosis::DomainName(static_cast<Domain>(i)), verdict.percents[i]);
  return out;
}

std::string Text(const Report& report, const Terminal& terminal) {
  const Verdict& verdict = report.verdict;
  Page page(terminal);
  page.Heading("VERDICT",
               fmt::format("{}, {:.1f} %, confidence {:.2f}", diagnosis::DomainName(verdict.domain),
                           verdict.percent, verdict.confidence));
  page.Line("          " + verdict.rule);
  page.Line(fmt::format("          {}; {} samples of {}", DomainsText(verdict), report.samples,
                        report.type));
  page.Heading("HOTTEST", fmt::format("{:.1f} %  {}{}", verdict.function_percent, verdict.function,
                                      verdict.module.empty() ? "" : " of " + verdict.module));
  page.Add(verdict.evidence);
  if (report.findings.empty()) page.Line("No known pathology shows in these stacks.");
  for (const Finding& finding : report.findings) {
    page.Heading("FINDING", fmt::format("{}, {:.1f} %, confidence {:.2f}", finding.signature,
                                        finding.percent, finding.confidence));
    page.Line("          " + finding.cause);
    page.Add(finding.evidence);
    page.Line("          next: " + finding.next);
    if (!finding.confirm.empty()) page.Line("          to confirm: " + finding.confirm);
  }
  return page.Take();
}

// Says what was asked for, as a title.
std::string Title(const net::NamedValues& params) {
  std::string type = "cpu", selector;
  for (const auto& [name, value] : params) {
    if (name == "type") type = value;
    if (name == "q") selector = value;
  }
  return type + selector;
}

// Adds what to compare with, where --against asks for it.
Status AddBase(const Args& args, net::NamedValues& params) {
  const std::string against = args.Get("against");
  if (against.empty()) return OkStatus();
  if (against == "rollout") {
    params.emplace_back("base", against);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const int64_t before_ns, ParseDurationNs(against).Context("--against"));
  std::string from, to;
  for (const auto& [name, value] : params) {
    if (name == "from") from = value;
    if (name == "to") to = value;
  }
  ASSIGN_OR_RETURN(const query::TimeRange range,
                   query::ParseTimeRange(from, to, Clock::System().WallNs()));
  if (before_ns <= 0) return Error(ErrorCode::kInvalid, "--against: must be more than 0");
  params.emplace_back("base-from", query::FormatTimeUtc(range.from_ns - before_ns));
  params.emplace_back("base-to", query::FormatTimeUtc(range.to_ns - before_ns));
  return OkStatus();
}

}  // namespace

Outcome<int> RunDiagnose(const Context& context) {
  Outcome<std::string> selector = PodSelector(context);
  if (!selector) return selector.failure();
  Outcome<net::NamedValues> params = RangeParams(context, "15m");
  if (!params) return params.failure();
  if (!selector->empty()) params->emplace_back("q", *selector);
  if (const Status based = AddBase(context.args, *params); !based)
    return BadFlag(context, based.error());
  Outcome<HttpReply> reply = context.client.Get("/api/v1/diagnose", *params);
  if (!reply) return reply.failure();
  WarnSkipped(context, reply->skipped);
  WarnCoarse(context, reply->max_hidden, "stacks");
  const std::string output = context.args.Get("output");
  if (output == "json") return Emit(reply->body, ExitCode::kOk);
  Result<Report> report = diagnosis::ReportFromJson(reply->body);
  if (!report) return UnreadableAnswer(report.error());
  if (output == "markdown")
    return Emit(diagnosis::ToMarkdown(*report, Title(*params)), ExitCode::kOk);
  return Emit(Text(*report, context.terminal), ExitCode::kOk);
}

}  // namespace firetower::cli
