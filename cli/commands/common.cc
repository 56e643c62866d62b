// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/common.h"

#include <fmt/core.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "base/units.h"
#include "query/time_range.h"

namespace firetower::cli {

Failure BadFlag(const Context& context, const Error& error) {
  return UsageFailure(error, context.program, context.args.command->name);
}

Outcome<query::NamedValues> SelectionParams(const Context& context,
                                            std::string_view default_since) {
  const Args& args = context.args;
  std::string from = args.Get("from");
  std::string to = args.Get("to");
  std::string since = args.Get("since");
  if (!since.empty() && (!from.empty() || !to.empty())) {
    return BadFlag(context, Error(ErrorCode::kInvalid,
                                  "--since counts back from now: give it or --from and --to"));
  }
  if (!since.empty()) {
    Result<int64_t> duration = ParseDurationNs(since);
    if (!duration) return BadFlag(context, Error(duration.error()).Context("--since"));
  }
  if (from.empty() && to.empty()) {
    from = fmt::format("now-{}", since.empty() ? default_since : since);
  }
  auto range = query::ParseTimeRange(from, to, Clock::System().WallNs());
  if (!range) return BadFlag(context, range.error());

  query::NamedValues params;
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) params.emplace_back(name, value);
  };
  add("type", args.Get("type"));
  add("q", args.Get("query"));
  add("from", from);
  add("to", to);
  return params;
}

Outcome<int> Emit(std::string_view text, int exit_code) {
  Status written = WriteOut(text);
  if (written) return exit_code;
  if (written.error().sys_errno() == EPIPE) return ExitCode::kFailure;
  return Failure{ExitCode::kFailure, "cannot write", written.error().message(), ""};
}

void WarnSkipped(const Context& context, int64_t skipped) {
  if (skipped == 0) return;
  std::fprintf(stderr,
               "%s: warning: %lld stored profiles could not be read and are not counted; 'doctor' "
               "names them\n",
               context.program.c_str(), static_cast<long long>(skipped));
}

Failure NoData(const Context& context) {
  std::string selector = context.args.Get("query");
  return {ExitCode::kNoData, "no data",
          selector.empty() ? "nothing was recorded in that range"
                           : fmt::format("nothing in that range matches {}", selector),
          "widen the range with --since, or see 'series' and 'doctor'"};
}

std::string FormatCount(int64_t count) {
  std::string digits = std::to_string(count);
  std::string out = count < 0 ? "-" : "";
  digits.erase(0, out.size());
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string FormatValue(double value, std::string_view unit) {
  struct Scale {
    double size;
    const char* suffix;
  };
  constexpr Scale kTimes[] = {{3600e9, "h"}, {60e9, "m"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  constexpr Scale kBytes[] = {
      {1099511627776.0, " TiB"}, {1073741824.0, " GiB"}, {1048576.0, " MiB"}, {1024.0, " KiB"}};
  if (unit == "nanoseconds") {
    for (const Scale& scale : kTimes) {
      if (std::fabs(value) >= scale.size) {
        return fmt::format("{:.1f}{}", value / scale.size, scale.suffix);
      }
    }
    return fmt::format("{:.0f}ns", value);
  }
  if (unit == "bytes") {
    for (const Scale& scale : kBytes) {
      if (std::fabs(value) >= scale.size) {
        return fmt::format("{:.1f}{}", value / scale.size, scale.suffix);
      }
    }
    return fmt::format("{:.0f} B", value);
  }
  if (std::fabs(value) >= 0x1p63) return fmt::format("{:.3g}", value);  // no integer to round to
  return FormatCount(std::llround(value));
}

}  // namespace firetower::cli
