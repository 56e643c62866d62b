// SPDX-License-Identifier: Apache-2.0
// The layout is that of `go tool pprof -peek`: a function, its callers above it, its callees below.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/graph/fetched.h"
#include "cli/term/table.h"
#include "profile/top/callers.h"

namespace firetower::cli {
namespace {

using profile::Neighbour;
using profile::Peeked;
using profile::PeekedFunction;
using Json = nlohmann::ordered_json;

constexpr std::string_view kRule =
    "----------------------------------------------------------+-------------\n";

double Percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

class Page {
 public:
  Page(const Peeked& peeked, const Terminal& terminal) : peeked_(peeked), terminal_(terminal) {}

  std::string Text() {
    text_ = fmt::format("{} of {} in all\n{}{:>10} {:>6}  {:>10} {:>6}  {:>10} {:>6} | function\n",
                        peeked_.value_type.type, Value(peeked_.total), kRule, "SELF", "SELF%",
                        "TOTAL", "TOTAL%", "CALLS", "CALLS%");
    for (const PeekedFunction& one : peeked_.functions) Add(one);
    return text_ + std::string(kRule);
  }

 private:
  std::string Value(int64_t value) const {
    return FormatValue(static_cast<double>(value), peeked_.value_type.unit);
  }
  std::string Name(const std::string& function, const std::string& module) const {
    const std::string file = module.substr(module.rfind('/') + 1);
    return Printable(function, terminal_.utf8) +
           (file.empty() ? "" : " (" + Printable(file, terminal_.utf8) + ")");
  }
  void AddNeighbour(const Neighbour& one, int64_t whole) {
    text_ += fmt::format("{:38}{:>10} {:>5.1f}% |   {}\n", "", Value(one.value),
                         Percent(one.value, whole), Name(one.function, one.module));
  }
  void Add(const PeekedFunction& one) {
    text_ += kRule;
    for (const Neighbour& caller : one.callers) AddNeighbour(caller, one.total);
    text_ += fmt::format("{:>10} {:>5.1f}%  {:>10} {:>5.1f}%{:20}| {}\n", Value(one.self),
                         Percent(one.self, peeked_.total), Value(one.total),
                         Percent(one.total, peeked_.total), "",
                         Styled(terminal_, Style::kBold, Name(one.function, one.module)));
    for (const Neighbour& callee : one.callees) AddNeighbour(callee, one.total);
  }

  const Peeked& peeked_;
  const Terminal& terminal_;
  std::string text_;
};

Json ToJson(const std::vector<Neighbour>& neighbours) {
  Json list = Json::array();
  for (const Neighbour& one : neighbours)
    list.push_back({{"function", one.function}, {"module", one.module}, {"value", one.value}});
  return list;
}

std::string ToJson(const Peeked& peeked) {
  Json functions = Json::array();
  for (const PeekedFunction& one : peeked.functions) {
    functions.push_back({{"function", one.function},
                         {"module", one.module},
                         {"self", one.self},
                         {"total", one.total},
                         {"callers", ToJson(one.callers)},
                         {"callees", ToJson(one.callees)}});
  }
  const Json json = {{"version", 1},
                     {"value", peeked.value_type.type},
                     {"unit", peeked.value_type.unit},
                     {"total", peeked.total},
                     {"functions", std::move(functions)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Outcome<int> RunPeek(const Context& context) {
  if (context.args.positionals.empty()) {
    return Failure{ExitCode::kUsage, "the function is missing",
                   "peek shows the callers and callees of functions",
                   "give a regular expression: "
                   "peek 'Handle.*'"};
  }
  Outcome<profile::Profile> profile = FetchProfile(context);
  if (!profile) return profile.failure();
  Outcome<uint32_t> value = PickValue(context, *profile, "sample-type");
  if (!value) return value.failure();
  constexpr size_t kMostFunctions = 1000;
  const std::string& function = context.args.positionals[0];
  Result<Peeked> peeked = profile::Peek(*profile, *value, function, kMostFunctions);
  if (!peeked) return BadFlag(context, peeked.error());
  if (peeked->functions.empty()) {
    return Failure{
        ExitCode::kNoData, "no function matches",
        fmt::format("'{}' matches no function, file or binary of this profile", function),
        "'top functions' lists what there is"};
  }
  if (context.args.Get("output") == "json") return Emit(ToJson(*peeked), ExitCode::kOk);
  return Emit(Page(*peeked, context.terminal).Text(), ExitCode::kOk);
}

}  // namespace firetower::cli
