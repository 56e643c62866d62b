// SPDX-License-Identifier: Apache-2.0
#include "profile/merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/output.h"
#include "cli/files/input.h"
#include "cli/term/progress.h"

namespace firetower::cli {
namespace {

// The file was read: what it counts is another thing.
Failure CannotAdd(const std::string& file, const Error& error) {
  return {
      ExitCode::kFailure, fmt::format("{} cannot be added to the others", InputName(file)),
      error.message(),
      "merge files that count the same; 'convert IN OUT.folded --sample-type TYPE' makes a file "
      "of one count"};
}

// What only a part of the files says is no property of their sum.
void WarnOfDifferences(const LocalContext& context, const profile::Merger& merger) {
  std::string names;
  for (const std::string_view name : merger.cleared_fields()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  if (names.empty()) return;
  std::fprintf(stderr, "%s: warning: the files differ in %s: the sum has none\n",
               context.program.c_str(), names.c_str());
}

// Remarks on a file that was added.
struct FileNotes {
  bool is_cut = false;              // it seems to end inside a sample
  std::vector<std::string> losses;  // what of it has no place here
};

// Adds files one after another, so that one of them is in memory beside the sum.
std::optional<Failure> AddFiles(const LocalContext& context, const std::vector<std::string>& files,
                                profile::Merger& merger, std::vector<FileNotes>* notes) {
  Progress progress("merging", "files", files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    progress.Step(i);
    Outcome<std::string> bytes = ReadInput(files[i]);
    if (!bytes) return bytes.failure();
    FileNotes& of_file = (*notes)[i];
    of_file.losses.clear();
    const Status added =
        profile::AddToMerge(*bytes, files[i], InputOptions(context), &merger, &of_file.losses);
    if (!added) {
      const bool was_read = added.error().code() == ErrorCode::kInvalid;
      return was_read ? CannotAdd(files[i], added.error()) : BadInput(files[i], added.error());
    }
    of_file.is_cut = IsCut(context, files[i], *bytes);
  }
  return std::nullopt;
}

}  // namespace

Outcome<int> RunMerge(const LocalContext& context) {
  const std::vector<std::string>& files = context.args.positionals;
  if (files.empty()) {
    return BadFlag(context, Error(ErrorCode::kInvalid, "'merge' needs files of profiles"));
  }
  if (std::ranges::count(files, "-") > 1) {
    return BadFlag(context, Error(ErrorCode::kInvalid, "standard input is named twice"));
  }
  const std::string out = context.args.Has("output") ? context.args.Get("output") : "-";
  Outcome<ProfileOutput> output = PickOutput(context, out, "format");
  if (!output) return output.failure();

  profile::Merger merger({.max_samples = 1u << 24, .coarsen = true});
  std::vector<FileNotes> notes(files.size());
  if (std::optional<Failure> failed = AddFiles(context, files, merger, &notes))
    return *std::move(failed);
  const bool can_read_again = std::ranges::all_of(files, [](const std::string& file) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(file, ignored);
  });
  if (merger.FitCoarse() && !can_read_again) {
    std::fprintf(
        stderr,
        "%s: warning: standard input or a pipe cannot be read a second time: of stacks that "
        "are kept a part may be counted as 'other'\n",
        context.program.c_str());
  } else if (merger.Recount()) {
    if (std::optional<Failure> failed = AddFiles(context, files, merger, &notes))
      return *std::move(failed);
  }
  WarnCoarse(context, merger.FitCoarse(), "stacks");
  for (size_t i = 0; i < files.size(); ++i) {
    if (notes[i].is_cut) WarnOfCut(context, files[i]);
    WarnOfLosses(context, files[i], notes[i].losses);
  }
  WarnOfDifferences(context, merger);
  if (merger.saturated_values() > 0) {
    return Failure{ExitCode::kFailure, "the files cannot be added up",
                   "some values do not fit in 64 bits then", "merge fewer of them"};
  }
  return WriteProfile(context, *output, std::move(merger).Finish());
}

}  // namespace firetower::cli
