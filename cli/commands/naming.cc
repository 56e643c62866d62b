// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/naming.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/commands/common.h"
#include "cli/term/progress.h"
#include "query/name_frames.h"
#include "symbolizer/debuginfod/client.h"

namespace firetower::cli {
namespace {

// A person's machine has room for a whole program's lines.
constexpr size_t kLineBytes = size_t{1} << 30;
constexpr uint64_t kUnpackedBytes = 4ull << 30;

std::string CacheFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::string(cache) + "/firetower/debuginfod";
  }
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "/tmp") + "/.cache/firetower/debuginfod";
}

}  // namespace

Outcome<profile::Profile> NameHere(const LocalContext& context, const profile::Profile& profile) {
  const bool lines = context.args.Get("symbols") == "full";
  symbolizer::HostFiles files;
  symbolizer::dwarf::UnitCache cache(kLineBytes);
  symbolizer::ObjectOptions options;
  if (lines) options.lines = &cache;
  options.limits.max_unpacked_bytes = kUnpackedBytes;
  std::optional<symbolizer::DebuginfodClient> client;
  auto urls = symbolizer::ParseDebuginfodUrls(context.args.Get("debuginfod"));
  if (!urls) return BadFlag(context, urls.error());
  if (!urls->empty()) {
    symbolizer::DebuginfodOptions from;
    from.urls = *std::move(urls);
    from.cache_folder = CacheFolder();
    client.emplace(std::move(from), Clock::System());
  }
  symbolizer::ObjectFinder finder(files, client ? &*client : nullptr, options);
  std::optional<Progress> progress;
  if (!context.args.Has("watch")) progress.emplace("naming frames");
  query::NamedProfile named = query::NameFrames(profile, finder, lines);
  progress.reset();
  if (named.mappings_missing > 0) {
    std::fprintf(
        stderr,
        "%s: %u of %u binaries were not found by their build ids; their frames stay unchanged%s\n",
        context.program.c_str(), named.mappings_missing,
        named.mappings_missing + named.mappings_named, client ? "" : " (see --debuginfod)");
  }
  return std::move(named.profile);
}

}  // namespace firetower::cli
