// SPDX-License-Identifier: Apache-2.0
#include "profile/diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/output.h"
#include "cli/files/asked_side.h"
#include "cli/files/compared_side.h"
#include "cli/files/input.h"
#include "cli/term/table.h"
#include "diagnosis/change.h"

namespace firetower::cli {
namespace {

constexpr double kDefaultThreshold = 0.5;  // per cent

// Reads a flag with a percentage: "5%", "0.5%" or the bare number.
Outcome<double> Percent(const LocalContext& context, std::string_view flag, double otherwise) {
  if (!context.args.Has(flag)) return otherwise;
  const std::string text = context.args.Get(flag);
  std::string_view number = text;
  if (number.ends_with('%')) number.remove_suffix(1);
  double percent = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (error == std::errc() && end == number.data() + number.size() && std::isfinite(percent) &&
      percent >= 0) {
    return percent;
  }
  return BadFlag(
      context,
      Error(ErrorCode::kInvalid,
            fmt::format("--{} is '{}': it must be a percentage, such as 5% or 0.5%", flag, text)));
}

// Makes a profile of a side as it was given.
using ReadSide = std::function<Outcome<ComparedSide>(const std::string& side)>;

Outcome<ComparedSide> ReadSideFile(const LocalContext& context, const std::string& file) {
  Outcome<profile::Profile> profile = ReadProfileFile(context, file);
  if (!profile) return profile.failure();
  DropFrames(context, file, &*profile);
  const int64_t duration_ns = profile->meta().duration_nanos;
  return ComparedSide{.profile = *std::move(profile),
                      .covered_ns = std::max<int64_t>(0, duration_ns)};
}

std::string Signed(double value, std::string_view unit) {
  return (value > 0 ? "+" : "") + FormatValue(value, unit);
}

std::string RenderTable(const LocalContext& context, const profile::DiffTable& table,
                        double threshold, bool wide, const std::string& head) {
  Table out({{.header = "BEFORE", .right = true},
             {.header = "AFTER", .right = true},
             {.header = "DELTA", .right = true},
             {.header = "SHARE", .right = true},
             {.header = "FUNCTION", .flexible = true},
             {.header = "BINARY", .flexible = true}});
  const std::string& unit = table.value_type.unit;
  auto add = [&](int64_t before, int64_t after, double share, const std::string& function,
                 const std::string& mapping) {
    const double delta = static_cast<double>(after) - static_cast<double>(before);
    const Style style = delta > 0 ? Style::kBad : delta < 0 ? Style::kGood : Style::kPlain;
    out.AddRow({FormatValue(static_cast<double>(before), unit),
                FormatValue(static_cast<double>(after), unit),
                {Signed(delta, unit), style},
                {fmt::format("{:+.2f}%", share), style},
                function,
                mapping});
  };
  const double whole = static_cast<double>(table.before != 0 ? table.before : table.after);
  const double grown = static_cast<double>(table.after) - static_cast<double>(table.before);
  add(table.before, table.after, whole != 0 ? 100.0 * grown / whole : 0, "(all)", "");
  for (const profile::DiffRow& row : table.rows) {
    if (row.self_delta() == 0 || std::fabs(row.share) < threshold) continue;
    add(row.before_self, row.after_self, row.share, row.function, row.mapping);
  }
  const bool to_file = context.args.Has("file") && context.args.Get("file") != "-";
  const bool headers = !context.args.Has("no-headers");
  return (headers ? head : "") +
         out.Render(to_file ? Terminal{.utf8 = true} : context.terminal, headers, wide);
}

// Everything, whatever the threshold: docs/profile-json.md has the members.
std::string RenderJson(const profile::DiffTable& table, const ComparedSide& before,
                       const ComparedSide& after) {
  // null: not known, or nothing was asked.
  const auto seconds = [](int64_t ns) {
    return ns == 0 ? "null" : fmt::format("{:.3f}", static_cast<double>(ns) / kNsPerSecond);
  };
  std::string rows;
  for (const profile::DiffRow& row : table.rows) {
    rows += fmt::format(
        "{}{{\"function\":\"{}\",\"mapping\":\"{}\",\"before_self\":{},\"after_self\":{},"
        "\"before_total\":{},\"after_total\":{},\"share\":{}}}",
        rows.empty() ? "" : ",", JsonEscape(row.function), JsonEscape(row.mapping), row.before_self,
        row.after_self, row.before_total, row.after_total, row.share);
  }
  return fmt::format(
      "{{\"version\":1,\"value_type\":{{\"type\":\"{}\",\"unit\":\"{}\"}},\"before\":{},"
      "\"after\":{},\"before_covered_seconds\":{},\"before_asked_seconds\":{},"
      "\"after_covered_seconds\":{},\"after_asked_seconds\":{},\"rows\":[{}]}}\n",
      JsonEscape(table.value_type.type), JsonEscape(table.value_type.unit), table.before,
      table.after, seconds(before.covered_ns), seconds(before.asked_ns), seconds(after.covered_ns),
      seconds(after.asked_ns), rows);
}

using Names = std::set<diagnosis::FunctionName>;

// Implements --false-alarms: returns the functions whose share of the samples grew beyond chance;
// nothing where that was not asked for.
Outcome<std::optional<Names>> GrownBeyondChance(const LocalContext& context,
                                                const profile::Profile& before,
                                                const profile::Profile& after) {
  if (!context.args.Has("false-alarms")) return std::optional<Names>();
  if (!context.args.Has("fail-over"))
    return BadFlag(context, Error(ErrorCode::kInvalid, "--false-alarms needs --fail-over"));
  Outcome<double> percent = Percent(context, "false-alarms", 0);
  if (!percent) return percent.failure();
  if (*percent <= 0 || *percent >= 100)
    return BadFlag(context,
                   Error(ErrorCode::kInvalid, "--false-alarms is more than 0% and below 100%"));
  const profile::ValueType counted{"samples", "count"};
  for (const profile::Profile* side : {&before, &after}) {
    if (side->sample_types().front() == counted) continue;
    return Failure{ExitCode::kFailure, "chance cannot be judged",
                   "the first value of both profiles must be the number of samples, samples/count",
                   "leave --false-alarms out, or compare CPU profiles"};
  }
  diagnosis::SideSamples sides[2];
  sides[0].parts.push_back(diagnosis::CountSamples(before));
  sides[1].parts.push_back(diagnosis::CountSamples(after));
  Names names;
  for (const diagnosis::Change& one :
       diagnosis::FindChanges(sides[0], sides[1], *percent / 100).rows) {
    if (one.z > 0) names.emplace(one.function, one.module);
  }
  return std::optional(std::move(names));
}

// Implements --fail-over: finds functions that grew by more than the limit, among `names` if they
// are given. B's values are multiplied by `scale`.
std::optional<Failure> GrownOver(const profile::DiffTable& table, double limit, double scale,
                                 const std::optional<Names>& names) {
  const profile::DiffRow* most = nullptr;
  double most_grown = limit;
  size_t count = 0;
  const double whole = table.before != 0 ? static_cast<double>(table.before)
                                         : scale * static_cast<double>(table.after);
  for (const profile::DiffRow& row : table.rows) {
    const double delta =
        scale * static_cast<double>(row.after_self) - static_cast<double>(row.before_self);
    const double grown = scale == 1 || whole == 0 ? row.share : 100 * delta / whole;
    if (grown <= limit || (names && !names->contains({row.function, row.mapping}))) continue;
    ++count;
    if (grown <= most_grown) continue;
    most = &row;
    most_grown = grown;
  }
  if (most == nullptr) return std::nullopt;
  return Failure{
      ExitCode::kThreshold,
      fmt::format("{} grew by {:.2f}% of the total of A{}", Printable(most->function, false),
                  most_grown, scale == 1 ? "" : ", per second that is covered"),
      fmt::format("functions that grew by more than the {}% of --fail-over: {}", limit, count), ""};
}

// Tells whether GrownOver compares values without scaling B: totals that were made equal, and
// values of one moment, which do not grow with time.
bool IsComparedAsItIs(const LocalContext& context, const profile::ValueType& type) {
  return context.args.Has("normalize") || type.type.starts_with("inuse");
}
double ScaleOf(const LocalContext& context, const profile::ValueType& type,
               const ComparedSide& before, const ComparedSide& after) {
  return IsComparedAsItIs(context, type) ? 1 : SecondsScale(before, after);
}

void WarnOfTimes(const LocalContext& context, const profile::ValueType& type,
                 const ComparedSide& before, const ComparedSide& after) {
  if (IsComparedAsItIs(context, type) || !CoverDifferentTimes(before, after)) return;
  std::fprintf(stderr,
               "%s: warning: A covers %s and B %s, so that equal load looks changed; give ranges "
               "that begin and end with windows, longer ones, or --normalize\n",
               context.program.c_str(), CoveredText(before).c_str(), CoveredText(after).c_str());
}

struct Sides {
  std::string before;
  std::string after;
};

Outcome<Sides> PickSides(const LocalContext& context) {
  const std::vector<std::string>& sides = context.args.positionals;
  if (sides.size() != 2) {
    return BadFlag(context, Error(ErrorCode::kInvalid, "'diff' needs two profiles, A and B"));
  }
  if (sides[0] == "-" && sides[1] == "-") {
    return BadFlag(context, Error(ErrorCode::kInvalid, "standard input is named twice"));
  }
  return Sides{.before = sides[0], .after = sides[1]};
}

std::string NameOf(const profile::ValueType& type) {
  return fmt::format("{}/{}", type.type, type.unit);
}

// Tells which value of both is compared where each of them would show another one by itself.
void TellComparedValue(const LocalContext& context, const profile::Profile& before,
                       const profile::Profile& after, uint32_t value_index) {
  const uint32_t of_before = before.DefaultValueIndex();
  if (context.args.Has("sample-type") || of_before == value_index) return;
  const std::vector<profile::ValueType>& types = after.sample_types();
  const std::string line = fmt::format(
      "{}: note: the main value of A is {} and of B {}: {} of both is compared; choose with "
      "--sample-type",
      context.program, NameOf(types[of_before]), NameOf(types[value_index]),
      NameOf(types[value_index]));
  std::fprintf(stderr, "%s\n", Printable(line, context.terminal.utf8).c_str());
}

// Returns the first value that both count; nothing if there is none.
std::optional<profile::ValueType> CommonValue(const profile::Profile& before,
                                              const profile::Profile& after) {
  for (const profile::ValueType& type : before.sample_types()) {
    if (std::ranges::find(after.sample_types(), type) != after.sample_types().end()) return type;
  }
  return std::nullopt;
}

// Suggests a remedy for two profiles that profile::Diff refused.
std::string HowToCompare(const profile::Profile& before, const profile::Profile& after,
                         const Error& error) {
  if (before.sample_types() != after.sample_types()) {
    if (const std::optional<profile::ValueType> common = CommonValue(before, after)) {
      return fmt::format(
          "compare what both count, {}: 'convert IN OUT.folded --sample-type {}' makes a file of "
          "it alone, of A and of B",
          NameOf(*common), common->type);
    }
    return "compare profiles that count the same; 'convert IN OUT.folded --sample-type TYPE' makes "
           "a file of one count";
  }
  if (profile::IsDiff(before) || profile::IsDiff(after))
    return "give the two profiles that it was made of";
  if (error.code() == ErrorCode::kExhausted) return "compare profiles of a shorter time";
  return "leave --normalize out";
}

// table, wide or json, which are the table; empty where the difference itself is wanted, as a
// profile.
std::string TableFormat(const LocalContext& context) {
  const std::string format = context.args.Get("output");
  if (format == "table" || format == "wide" || format == "json") return format;
  if (!format.empty()) return "";
  if (!context.args.Has("file") || context.args.Get("file") == "-") return "table";
  const bool json = profile::FormatOfFile(context.args.Get("file")) == profile::Format::kJson;
  return json ? "json" : "";
}

Outcome<int> Compare(const LocalContext& context, const ReadSide& read_side) {
  Outcome<Sides> sides = PickSides(context);
  if (!sides) return sides.failure();
  Outcome<double> threshold = Percent(context, "threshold", kDefaultThreshold);
  if (!threshold) return threshold.failure();
  Outcome<double> limit = Percent(context, "fail-over", std::numeric_limits<double>::infinity());
  if (!limit) return limit.failure();
  const std::string table_format = TableFormat(context);
  const std::string file = context.args.Has("file") ? context.args.Get("file") : "-";
  ProfileOutput output;
  if (table_format.empty()) {
    Outcome<ProfileOutput> picked = PickOutput(context);
    if (!picked) return picked.failure();
    output = *picked;
  } else if (std::optional<Failure> refused = RefuseToWrite(context, file)) {
    return *std::move(refused);
  }

  Outcome<ComparedSide> before = read_side(sides->before);
  if (!before) return before.failure();
  Outcome<ComparedSide> after = read_side(sides->after);
  if (!after) return after.failure();
  if (before->profile.sample_count() == 0 && after->profile.sample_count() == 0) {
    return Failure{ExitCode::kNoData, "no data", "neither profile has a sample",
                   "name profiles that have some: 'convert FILE -o folded' lists a file's"};
  }
  Outcome<uint32_t> value_index = PickValue(context, after->profile, "sample-type");
  if (!value_index) return value_index.failure();
  Result<profile::Profile> diff =
      profile::Diff(before->profile, after->profile, {.normalize = context.args.Has("normalize")});
  if (!diff) {
    return Failure{ExitCode::kFailure, "these profiles cannot be compared", diff.error().message(),
                   HowToCompare(before->profile, after->profile, diff.error())};
  }
  Outcome<std::optional<Names>> names = GrownBeyondChance(context, before->profile, after->profile);
  if (!names) return names.failure();
  const profile::DiffTable table = profile::TabulateDiff(*diff, *value_index);
  WarnOfTimes(context, table.value_type, *before, *after);
  TellComparedValue(context, before->profile, after->profile, *value_index);
  Outcome<int> written =
      table_format.empty()
          ? WriteProfile(output, *diff, {.value_index = *value_index})
          : WriteData(file,
                      table_format == "json"
                          ? RenderJson(table, *before, *after)
                          : RenderTable(context, table, *threshold, table_format == "wide",
                                        CoveredLines(*before, *after)),
                      table_format);
  if (!written) return written;
  const double scale = ScaleOf(context, table.value_type, *before, *after);
  if (std::optional<Failure> grown = GrownOver(table, *limit, scale, *names))
    return *std::move(grown);
  return written;
}

}  // namespace

Outcome<int> RunDiff(const LocalContext& context) {
  // These are the flags of the groups "Selector" and "Cluster of the selector".
  if (auto refused = RefuseFlags(context,
                                 {"container", "type", "namespace", "all-namespaces", "kubeconfig",
                                  "context", "hub-namespace", "token"},
                                 "is for a selector: A and B are files")) {
    return *std::move(refused);
  }
  return Compare(context, [&](const std::string& side) { return ReadSideFile(context, side); });
}

Outcome<int> RunAskedDiff(const Context& context) {
  return Compare(context, [&](const std::string& side) {
    return IsAsked(side) ? AskSide(context, side) : ReadSideFile(context, side);
  });
}

}  // namespace firetower::cli
