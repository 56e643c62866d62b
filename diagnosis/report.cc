// SPDX-License-Identifier: Apache-2.0
// The forms of a report. The JSON library throws on a wrong type, which ends here.
#include "diagnosis/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

namespace firetower::diagnosis {
namespace {

using Json = nlohmann::ordered_json;

double Rounded(double value) { return std::round(value * 100) / 100; }

Json ToJson(const std::vector<Evidence>& evidence) {
  Json rows = Json::array();
  for (const Evidence& one : evidence) {
    Json row = {{"what", one.what}, {"value", one.value}, {"percent", Rounded(one.percent)}};
    if (!one.stack.empty()) row["stack"] = one.stack;
    rows.push_back(std::move(row));
  }
  return rows;
}

void FromJson(const Json& json, std::vector<Evidence>& evidence) {
  for (const Json& row : json) {
    Evidence one;
    row.at("what").get_to(one.what);
    row.at("value").get_to(one.value);
    row.at("percent").get_to(one.percent);
    if (row.contains("stack")) row["stack"].get_to(one.stack);
    evidence.push_back(std::move(one));
  }
}

Json ToJson(const Verdict& verdict) {
  Json domains = Json::object();
  for (size_t i = 0; i < kDomains; ++i)
    domains[std::string(DomainName(static_cast<Domain>(i)))] = Rounded(verdict.percents[i]);
  return {{"domain", DomainName(verdict.domain)},
          {"percent", Rounded(verdict.percent)},
          {"rule", verdict.rule},
          {"confidence", Rounded(verdict.confidence)},
          {"domains", std::move(domains)},
          {"hottest",
           {{"function", verdict.function},
            {"module", verdict.module},
            {"percent", Rounded(verdict.function_percent)}}},
          {"evidence", ToJson(verdict.evidence)}};
}

void FromJson(const Json& json, Verdict& verdict) {
  const auto name = json.at("domain").get<std::string>();
  for (size_t i = 0; i < kDomains; ++i) {
    const std::string_view domain = DomainName(static_cast<Domain>(i));
    if (domain == name) verdict.domain = static_cast<Domain>(i);
    json.at("domains").at(std::string(domain)).get_to(verdict.percents[i]);
  }
  json.at("percent").get_to(verdict.percent);
  json.at("rule").get_to(verdict.rule);
  json.at("confidence").get_to(verdict.confidence);
  const Json& hottest = json.at("hottest");
  hottest.at("function").get_to(verdict.function);
  hottest.at("module").get_to(verdict.module);
  hottest.at("percent").get_to(verdict.function_percent);
  FromJson(json.at("evidence"), verdict.evidence);
}

void FromJson(const Json& json, Finding& finding) {
  json.at("signature").get_to(finding.signature);
  json.at("cause").get_to(finding.cause);
  json.at("confidence").get_to(finding.confidence);
  json.at("percent").get_to(finding.percent);
  FromJson(json.at("evidence"), finding.evidence);
  json.at("next").get_to(finding.next);
  if (json.contains("function")) json["function"].get_to(finding.function);
  if (json.contains("confirm")) json["confirm"].get_to(finding.confirm);
}

// Names come from other people's binaries: a line of Markdown takes no line breaks and no markup.
std::string Quoted(std::string_view text) {
  std::string out = "`";
  for (const char c : text) out += c == '`' || static_cast<unsigned char>(c) < 0x20 ? '\'' : c;
  return out + "`";
}

std::string StackText(const std::vector<std::string>& stack) {
  constexpr size_t kShown = 12;
  std::string text = stack.size() > kShown ? "… > " : "";
  for (size_t i = stack.size() > kShown ? stack.size() - kShown : 0; i < stack.size(); ++i)
    text += Quoted(stack[i]) + (i + 1 < stack.size() ? " > " : "");
  return text;
}

std::string EvidenceText(const std::vector<Evidence>& evidence) {
  std::string text;
  for (const Evidence& one : evidence) {
    text += fmt::format("- {:.1f} %: {}", one.percent, one.what);
    if (!one.stack.empty()) text += ": " + StackText(one.stack);
    text += "\n";
  }
  return text;
}

}  // namespace

double Certainty(int64_t samples, double unknown_percent) {
  double certainty = 1;
  if (samples < kFewSamples)
    certainty *= std::sqrt(static_cast<double>(std::max<int64_t>(samples, 0)) / kFewSamples);
  if (unknown_percent > kMuchUnknown) certainty *= 1 - unknown_percent / 100;
  return certainty;
}

void SortFindings(std::vector<Finding>& findings) {
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    return std::tie(b.confidence, b.percent, a.signature) <
           std::tie(a.confidence, a.percent, b.signature);
  });
}

std::string ToJson(const Report& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    Json row = {{"signature", finding.signature},
                {"cause", finding.cause},
                {"confidence", Rounded(finding.confidence)},
                {"percent", Rounded(finding.percent)},
                {"evidence", ToJson(finding.evidence)},
                {"next", finding.next}};
    if (!finding.function.empty()) row["function"] = finding.function;
    if (!finding.confirm.empty()) row["confirm"] = finding.confirm;
    findings.push_back(std::move(row));
  }
  const Json json = {{"version", kReportVersion}, {"type", report.type},
                     {"unit", report.unit},       {"total", report.total},
                     {"samples", report.samples}, {"verdict", ToJson(report.verdict)},
                     {"findings", findings}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Report> ReportFromJson(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    Report report;
    json.at("type").get_to(report.type);
    json.at("unit").get_to(report.unit);
    json.at("total").get_to(report.total);
    json.at("samples").get_to(report.samples);
    FromJson(json.at("verdict"), report.verdict);
    for (const Json& row : json.at("findings")) FromJson(row, report.findings.emplace_back());
    return report;
  } catch (const std::exception& e) {
    return Error(ErrorCode::kCorrupt, fmt::format("the report is not as expected: {}", e.what()));
  }
}

namespace {

// A name of a program may hold line feeds.
std::string OneLine(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return text;
}

}  // namespace

std::vector<std::string> ReportLines(const Report& report, size_t most) {
  const Verdict& verdict = report.verdict;
  std::vector<std::string> lines = {fmt::format(
      "diagnosis: {}, {:.1f} %, confidence {:.2f}; hottest {}{} {:.1f} %",
      DomainName(verdict.domain), verdict.percent, verdict.confidence, OneLine(verdict.function),
      verdict.module.empty() ? "" : " of " + OneLine(verdict.module), verdict.function_percent)};
  for (size_t i = 0; i < std::min(most, report.findings.size()); ++i) {
    const Finding& one = report.findings[i];
    lines.push_back(fmt::format("diagnosis: {}, {:.1f} %, confidence {:.2f}: {}; next: {}",
                                one.signature, one.percent, one.confidence, one.cause, one.next));
  }
  return lines;
}

std::string ToMarkdown(const Report& report, std::string_view title) {
  const Verdict& verdict = report.verdict;
  std::string text = fmt::format("# {}\n\n", Quoted(title));
  text +=
      fmt::format("{} samples of type {}.\n\n**Verdict: {}**, {:.1f} %, confidence {:.2f}: {}.\n\n",
                  report.samples, report.type, DomainName(verdict.domain), verdict.percent,
                  verdict.confidence, verdict.rule);
  for (size_t i = 0; i < kDomains; ++i)
    text += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", DomainName(static_cast<Domain>(i)),
                        verdict.percents[i]);
  text += fmt::format(".\n\nHottest function: {}{} {:.1f} %.\n", Quoted(verdict.function),
                      verdict.module.empty() ? "" : " of " + Quoted(verdict.module),
                      verdict.function_percent);
  text += EvidenceText(verdict.evidence);
  if (report.findings.empty()) text += "\nNo known pathology shows in these stacks.\n";
  for (size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& finding = report.findings[i];
    text += fmt::format("\n## {}. {} ({:.1f} %, confidence {:.2f})\n\n{}\n\n", i + 1,
                        finding.signature, finding.percent, finding.confidence, finding.cause);
    text += EvidenceText(finding.evidence);
    text += fmt::format("\nNext: {}.\n", finding.next);
    if (!finding.confirm.empty()) text += fmt::format("\nTo confirm: {}.\n", finding.confirm);
  }
  return text;
}

}  // namespace firetower::diagnosis
