// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/flame_look.h"

#include <fmt/core.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "cli/commands/common.h"
#include "cli/term/progress.h"
#include "diagnosis/domain.h"
#include "profile/flame/html.h"
#include "profile/flame/levels_json.h"
#include "profile/flame/svg.h"

namespace firetower::cli {
namespace {

// The choices of a flag are checked where it is parsed, so that these do not fail.
template <typename T>
void TakeChoice(Result<T> choice, T& out) {
  if (choice) out = *choice;
}

Failure CannotDraw(const Error& error) {
  return {ExitCode::kFailure, "this profile cannot be drawn", error.message(),
          error.code() == ErrorCode::kExhausted
              ? "draw less data: a shorter time, or fewer containers"
              : "'diff A B' shows a difference, 'convert IN -o folded' the rest of a file"};
}

Result<std::string> Encode(const profile::Profile& profile, const profile::FlameOptions& options,
                           std::string_view format) {
  if (format == "svg") return profile::EncodeSvg(profile, options);
  if (format == "html") return profile::EncodeFlameHtml(profile, options);
  ASSIGN_OR_RETURN(profile::Flame flame, profile::MakeFlame(profile, options));
  return profile::FlameLevelsJson(flame, "");
}

}  // namespace

std::string_view DrawingOfFile(std::string_view file) {
  if (file.ends_with(".svg")) return "svg";
  return file.ends_with(".html") || file.ends_with(".htm") ? "html" : "";
}

Outcome<profile::FlameOptions> FlameLook(const LocalContext& context, std::string_view title) {
  const Args& args = context.args;
  profile::FlameOptions options;
  options.domain_letter = diagnosis::DomainLetterOf;
  options.title = args.Has("title") ? args.Get("title") : std::string(title);
  options.root_at_bottom = args.Get("orientation") == "flame";
  options.sample_type = args.Get("value");
  if (args.Has("names")) TakeChoice(profile::ParseNameDetail(args.Get("names")), options.names);
  if (args.Has("sort")) TakeChoice(profile::ParseSiblingOrder(args.Get("sort")), options.order);
  if (!args.Has("max-nodes")) return options;
  const std::string text = args.Get("max-nodes");
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.max_bars);
  if (error != std::errc() || end != text.data() + text.size()) {
    return BadFlag(context, Error(ErrorCode::kInvalid,
                                  fmt::format("--max-nodes is '{}': it must be a whole number, 0 "
                                              "for all",
                                              text)));
  }
  return options;
}

Outcome<std::string> DrawFlame(const profile::Profile& profile,
                               const profile::FlameOptions& options, std::string_view format) {
  const Progress progress("drawing");
  Result<std::string> drawn = Encode(profile, options, format);
  if (!drawn) return CannotDraw(drawn.error());
  return *std::move(drawn);
}

}  // namespace firetower::cli
