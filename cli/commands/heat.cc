// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/output.h"
#include "cli/heat/picture.h"
#include "query/heat/heat_reply.h"
#include "query/time_range.h"

namespace firetower::cli {
namespace {

Outcome<std::string> PickFormat(const Context& context, const std::string& file) {
  std::string format = context.args.Get("output");
  if (format.empty() && file == "-") format = "ansi";
  for (const auto& [suffix, name] : {std::pair{".svg", "svg"}, std::pair{".html", "html"},
                                     std::pair{".csv", "csv"}, std::pair{".json", "json"}}) {
    if (format.empty() && file.ends_with(suffix)) format = name;
  }
  if (format.empty()) {
    return BadFlag(context, Error(ErrorCode::kInvalid,
                                  fmt::format("the name '{}' does not determine a format: give -o, "
                                              "or end it in .svg, .html, .csv or .json",
                                              file)));
  }
  if (std::optional<Failure> refused = RefuseToWrite(context, file)) return *std::move(refused);
  return format;
}

std::string Title(const query::HeatReply& heat, const std::string& selector) {
  return fmt::format("{}{} by {}, {} to {}", heat.type, selector, heat.by,
                     query::FormatTimeUtc(heat.from_ms * kNsPerMs),
                     query::FormatTimeUtc(heat.to_ms * kNsPerMs));
}

}  // namespace

Outcome<int> RunHeat(const Context& context) {
  const std::string file = context.args.Has("file") ? context.args.Get("file") : "-";
  Outcome<std::string> format = PickFormat(context, file);
  if (!format) return format.failure();
  Outcome<std::string> selector = PodSelector(context);
  if (!selector) return selector.failure();
  Outcome<net::NamedValues> params = RangeParams(context, "2m");
  if (!params) return params.failure();
  if (!selector->empty()) params->emplace_back("q", *selector);
  for (const char* flag : {"by", "rows", "step", "paint"}) {
    if (context.args.Has(flag)) params->emplace_back(flag, context.args.Get(flag));
  }
  if (context.args.Has("limit")) params->emplace_back("k", context.args.Get("limit"));
  Outcome<HttpReply> reply = context.client.Get("/api/v1/heat", *params);
  if (!reply) return reply.failure();
  WarnSkipped(context, reply->skipped);
  if (*format == "json") return WriteData(file, reply->body, *format);
  const Result<query::HeatReply> heat = query::HeatReplyFromJson(reply->body);
  if (!heat) return UnreadableAnswer(heat.error());
  const HeatScale scale =
      context.args.Get("scale") == "rank" ? HeatScale::kRank : HeatScale::kLinear;
  const std::string title = Title(*heat, *selector);
  if (*format == "csv") return WriteData(file, HeatCsv(*heat), *format);
  if (*format == "svg") return WriteData(file, HeatSvg(*heat, scale, title), *format);
  if (*format == "html") return WriteData(file, HeatHtml(*heat, scale, title), *format);
  const std::string text = HeatText(*heat, scale, title, context.terminal);
  return file == "-" ? Emit(text, ExitCode::kOk) : WriteData(file, text, *format);
}

}  // namespace firetower::cli
