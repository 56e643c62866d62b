// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/flame_look.h"
#include "cli/commands/output.h"
#include "cli/graph/fetched.h"
#include "profile/export.h"
#include "profile/pprof.h"
#include "profile/select/inverted.h"

namespace firetower::cli {
namespace {

// Empty when the name says nothing that can be written.
std::string FormatOf(const std::string& file) {
  const std::string_view drawing = DrawingOfFile(file);
  if (!drawing.empty()) return std::string(drawing);
  constexpr std::pair<std::string_view, std::string_view> kExtensions[] = {
      {".json", "json"}, {".folded", "folded"}, {".collapsed", "folded"}, {".pb.gz", "pprof"}};
  for (const auto& [suffix, format] : kExtensions) {
    if (file.ends_with(suffix)) return std::string(format);
  }
  return "";
}

// Refuses what cannot be written before anything is fetched.
Outcome<std::string> PickFormat(const Context& context, const std::string& file) {
  std::string format = context.args.Get("output");
  if (format.empty()) format = file == "-" ? "html" : FormatOf(file);
  if (format.empty()) {
    return BadFlag(context, Error(ErrorCode::kInvalid,
                                  fmt::format("the name '{}' does not determine a format: give -o, "
                                              "or end it in .html, .svg, .json, .folded or .pb.gz",
                                              file)));
  }
  const bool readable = format == "folded" || format == "json";
  if (file == "-" && !readable && context.terminal.is_tty) {
    const std::string suffix = format == "pprof" ? "pb.gz" : format;
    return BadFlag(
        context,
        Error(ErrorCode::kInvalid,
              fmt::format(
                  "{} is not readable on a terminal: give -f FILE.{}, or -o folded to read it here",
                  format, suffix)));
  }
  if (std::optional<Failure> refused = RefuseToWrite(context, file)) return *std::move(refused);
  return format;
}

// Refuses flags that have no effect on this format.
std::optional<Failure> RefuseLook(const Context& context, std::string_view format) {
  if (format == "html" || format == "svg") return std::nullopt;
  if (format == "json") {
    return RefuseFlags(context, {"orientation"}, "is for html and svg: json has only the levels");
  }
  const std::string why = fmt::format("is for pictures: {} cannot hold it", format);
  if (format == "pprof") {
    std::optional<Failure> refused =
        RefuseFlags(context, {"value"}, "picks one value: pprof has all of them");
    if (refused) return refused;
  }
  return RefuseFlags(context, {"names", "sort", "max-nodes", "orientation", "title"}, why);
}

// "cpu{pod="web-0"}", as the API calls it; a selector may hold the type itself.
std::string Title(const Context& context, const std::string& selector) {
  if (!selector.empty() && !selector.starts_with('{')) return selector;
  return (context.args.Has("type") ? context.args.Get("type") : "cpu") + selector;
}

}  // namespace

Outcome<int> RunFlame(const Context& context) {
  const std::string file = context.args.Has("file") ? context.args.Get("file") : "-";
  Outcome<std::string> format = PickFormat(context, file);
  if (!format) return format.failure();
  if (std::optional<Failure> refused = RefuseLook(context, *format)) return *std::move(refused);
  Outcome<std::string> selector = AskedSelector(context);
  if (!selector) return selector.failure();
  Outcome<profile::FlameOptions> look = FlameLook(context, Title(context, *selector));
  if (!look) return look.failure();
  Outcome<profile::Profile> profile = FetchProfile(context);
  if (!profile) return profile.failure();
  Outcome<uint32_t> value_index = PickValue(context, *profile, "value");
  if (!value_index) return value_index.failure();
  if (context.args.Has("bottom-up")) *profile = profile::Inverted(*profile);
  if (*format != "pprof") TellValue(context, *profile, *value_index, "value", *format);

  std::string data;
  if (*format == "pprof") {
    data = profile::EncodePprof(*profile);
  } else if (*format == "folded") {
    data = profile::ToFolded(*profile, *value_index);
  } else {
    Outcome<std::string> drawn = DrawFlame(*profile, *look, *format);
    if (!drawn) return drawn.failure();
    data = std::move(*drawn);
  }
  return WriteData(file, data, *format);
}

}  // namespace firetower::cli
