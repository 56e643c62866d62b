// SPDX-License-Identifier: Apache-2.0
// The answer to "why": a verdict on whose code the time is, and the known pathologies that stacks
// show. Deterministic; every part names the rule and the evidence.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diagnosis/domain.h"
#include "profile/profile.h"

namespace firetower::diagnosis {

// The version of the JSON form, raised by each change that breaks readers.
inline constexpr int kReportVersion = 1;

// A part of the profile that shows something.
struct Evidence {
  std::string what;                     // "the heaviest stack", "called by serve"
  std::vector<std::string> stack = {};  // outermost first; may be empty
  int64_t value = 0;
  double percent = 0;  // of the total
};

struct Finding {
  std::string signature;
  std::string function = {};  // the one that it is about; empty: it is about no single one
  std::string cause;
  double confidence = 0;  // 0 to 1
  double percent = 0;     // of the total that shows it
  std::vector<Evidence> evidence = {};
  std::string next;
  std::string confirm;
};

struct Verdict {
  Domain domain = Domain::kUnknown;  // that of most of the time
  double percent = 0;
  std::array<double, kDomains> percents = {};  // of all domains
  std::string rule;                            // which one fired, for people
  double confidence = 0;
  std::string function;  // the hottest one by self
  std::string module;
  double function_percent = 0;
  std::vector<Evidence> evidence = {};
};

struct Report {
  std::string type;  // "cpu"
  std::string unit;
  int64_t total = 0;
  int64_t samples = 0;
  Verdict verdict;
  std::vector<Finding> findings = {};  // the most likely first
};

// Returns how much less certain everything is by what the profile lacks: 1, or less below
// kFewSamples samples or above kMuchUnknown per cent of unknown code.
inline constexpr int64_t kFewSamples = 100;
inline constexpr double kMuchUnknown = 20;
double Certainty(int64_t samples, double unknown_percent);

// Sorts findings by confidence, then by their part.
void SortFindings(std::vector<Finding>& findings);

std::string ToJson(const Report& report);
Result<Report> ReportFromJson(std::string_view json);
// Returns a line for the verdict, and one for each of the first `most` findings, as comments of the
// profile that was judged.
std::vector<std::string> ReportLines(const Report& report, size_t most);
// A page for a ticket. `title` says what it is about.
std::string ToMarkdown(const Report& report, std::string_view title);

}  // namespace firetower::diagnosis
