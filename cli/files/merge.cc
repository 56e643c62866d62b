// SPDX-License-Identifier: Apache-2.0
#include "profile/merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <optional>
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

// Adds files one after another, so that one of them is in memory beside the sum. `cut` gets those
// that seem to end inside a sample.
std::optional<Failure> AddFiles(const LocalContext& context, const std::vector<std::string>& files,
                                profile::Merger& merger, std::vector<std::string>* cut) {
  Progress progress("merging", "files", files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    progress.Step(i);
    Outcome<std::string> bytes = ReadInput(files[i]);
    if (!bytes) return bytes.failure();
    const Status added = profile::AddToMerge(*bytes, files[i], InputOptions(context), &merger);
    if (!added) {
      const bool was_read = added.error().code() == ErrorCode::kInvalid;
      return was_read ? CannotAdd(files[i], added.error()) : BadInput(files[i], added.error());
    }
    if (IsCut(context, files[i], *bytes)) cut->push_back(files[i]);
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
  std::vector<std::string> cut;
  if (std::optional<Failure> failed = AddFiles(context, files, merger, &cut))
    return *std::move(failed);
  // Standard input cannot be read twice: then what is left of a stack may be a little too small.
  if (std::ranges::count(files, "-") == 0 && merger.Recount()) {
    std::vector<std::string> cut_again;
    if (std::optional<Failure> failed = AddFiles(context, files, merger, &cut_again))
      return *std::move(failed);
  }
  WarnCoarse(context, merger.max_hidden_share(), "stacks");
  for (const std::string& file : cut) WarnOfCut(context, file);
  if (merger.saturated_values() > 0) {
    return Failure{ExitCode::kFailure, "the files cannot be added up",
                   "some values do not fit in 64 bits then", "merge fewer of them"};
  }
  return WriteProfile(context, *output, std::move(merger).Finish());
}

}  // namespace firetower::cli
