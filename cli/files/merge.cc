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
#include "cli/term/table.h"

namespace firetower::cli {
namespace {

// The file was read, but its values do not fit the others.
Failure CannotAdd(const std::string& file, const Error& error) {
  return {
      ExitCode::kFailure, fmt::format("{} cannot be added to the others", InputName(file)),
      error.message(),
      "merge files that count the same; 'convert IN OUT.folded --sample-type TYPE' makes a file "
      "of one count"};
}

// Warns of fields that the sum leaves empty because the files differ.
void WarnOfDifferences(const LocalContext& context, const profile::Merger& merger) {
  std::string names;
  for (const std::string_view name : merger.cleared_fields()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  if (!names.empty()) {
    std::fprintf(stderr, "%s: warning: the files differ in %s: the sum has none\n",
                 context.program.c_str(), names.c_str());
  }
  const profile::Merger::OtherNames& other = merger.other_names();
  if (other.mappings == 0) return;
  const std::string line = fmt::format(
      "{}: note: one build id stands for files of several names in {} cases: the sum has the first "
      "of "
      "each, {} and not {}",
      context.program, other.mappings, other.kept.empty() ? "none" : other.kept, other.left_out);
  std::fprintf(stderr, "%s\n", Printable(line, context.terminal.utf8).c_str());
}

using Notes = std::vector<std::string>;  // of a file

// Adds files one after another, so that only one of them is in memory beside the sum.
std::optional<Failure> AddFiles(const LocalContext& context, const std::vector<std::string>& files,
                                profile::Merger& merger, std::vector<Notes>* notes) {
  Progress progress("merging", "files", files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    progress.Step(i);
    Outcome<std::string> bytes = ReadInput(files[i]);
    if (!bytes) return bytes.failure();
    Notes& of_file = (*notes)[i];
    of_file.clear();
    const Status added =
        profile::AddToMerge(*bytes, files[i], InputOptions(context), &merger, &of_file);
    if (!added) {
      const bool was_read = added.error().code() == ErrorCode::kInvalid;
      return was_read ? CannotAdd(files[i], added.error()) : BadInput(files[i], added.error());
    }
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
  std::vector<Notes> notes(files.size());
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
    WarnOfLosses(context, files[i], notes[i]);
  }
  WarnOfDifferences(context, merger);
  if (merger.saturated_values() > 0) {
    return Failure{ExitCode::kFailure, "the files cannot be added up",
                   "some values do not fit in 64 bits then", "merge fewer of them"};
  }
  const profile::Profile sum = std::move(merger).Finish();
  TellExportLosses(context, sum, profile::FormatName(output->format));
  return WriteProfile(context, *output, sum);
}

}  // namespace firetower::cli
