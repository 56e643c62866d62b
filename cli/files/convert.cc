// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/flame_look.h"
#include "cli/commands/output.h"
#include "cli/files/input.h"

namespace firetower::cli {
namespace {

// "svg" or "html", by the flag or else the name; "" for a format that holds a profile.
std::string DrawingOf(const LocalContext& context, const std::string& out) {
  const std::string format = context.args.Get("format");
  if (format == "svg" || format == "html") return format;
  return format.empty() ? std::string(DrawingOfFile(out)) : "";
}

Outcome<int> Draw(const LocalContext& context, const std::string& in, const std::string& out,
                  const std::string& drawing) {
  if (auto refused =
          RefuseFlags(context, {"annotate"}, "is for folded stacks: a picture has marks"))
    return *std::move(refused);
  if (out == "-" && context.terminal.is_tty) {
    return BadFlag(context,
                   Error(ErrorCode::kInvalid,
                         fmt::format("{} is nothing to read on a terminal: name a file", drawing)));
  }
  if (std::optional<Failure> refused = RefuseToWrite(context, out)) return *std::move(refused);
  Outcome<profile::FlameOptions> look = FlameLook(context, InputName(in.substr(in.rfind('/') + 1)));
  if (!look) return look.failure();
  Outcome<profile::Profile> profile = ReadProfileFile(context, in);
  if (!profile) return profile.failure();
  DropFrames(context, in, &*profile);
  Outcome<uint32_t> value_index = PickValue(context, *profile, "sample-type");
  if (!value_index) return value_index.failure();
  TellExportLosses(context, *profile, drawing);
  TellValue(context, *profile, *value_index, "sample-type", drawing);
  look->sample_type = context.args.Get("sample-type");
  Outcome<std::string> picture = DrawFlame(*profile, *look, drawing);
  if (!picture) return picture.failure();
  return WriteData(out, *picture, drawing);
}

// Refuses flags that have no effect on this format.
std::optional<Failure> RefuseForFormat(const LocalContext& context, profile::Format format) {
  const std::string_view name = profile::FormatName(format);
  if (format != profile::Format::kFolded) {
    std::optional<Failure> refused = RefuseFlags(
        context, {"annotate"}, fmt::format("is for folded stacks: {} has no place for it", name));
    if (refused) return refused;
  }
  return RefuseFlags(context, {"names", "sort", "max-nodes", "orientation", "title"},
                     fmt::format("is for svg and html: {} has no place for it", name));
}

}  // namespace

Outcome<int> RunConvert(const LocalContext& context) {
  const std::vector<std::string>& files = context.args.positionals;
  if (files.empty()) {
    return BadFlag(context, Error(ErrorCode::kInvalid, "'convert' needs a file to read"));
  }
  const std::string out = files.size() > 1 ? files[1] : "-";
  const std::string drawing = DrawingOf(context, out);
  if (!drawing.empty()) return Draw(context, files[0], out, drawing);
  Outcome<ProfileOutput> output = PickOutput(context, out, "format");
  if (!output) return output.failure();
  if (std::optional<Failure> refused = RefuseForFormat(context, output->format))
    return *std::move(refused);
  Outcome<profile::Profile> profile = ReadProfileFile(context, files[0]);
  if (!profile) return profile.failure();
  Outcome<uint32_t> value_index = PickValue(context, *profile, "sample-type");
  if (!value_index) return value_index.failure();
  TellExportLosses(context, *profile, profile::FormatName(output->format));
  if (output->format == profile::Format::kFolded)
    TellValue(context, *profile, *value_index, "sample-type", "folded");
  return WriteProfile(*output, *profile,
                      {.value_index = *value_index, .annotate = context.args.Has("annotate")});
}

}  // namespace firetower::cli
