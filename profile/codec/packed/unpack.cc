// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/packed/unpack.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/json.h"
#include "profile/codec/gzip.h"
#include "profile/codec/packed/xz.h"
#include "profile/codec/packed/zip.h"
#include "profile/codec/packed/zstd.h"
#include "profile/import.h"

namespace firetower::profile {
namespace {

// A packed file inside a packed ZIP inside a packed file has three. Each layer may be a bomb.
constexpr int kMaxLayers = 4;
constexpr size_t kMaxListed = 20;

using Visit = std::function<Status(const Unpacked&)>;

struct Codec {
  bool (*is_of)(std::string_view bytes);
  Result<std::string> (*unpack)(std::string_view bytes, size_t max_bytes);
  std::string_view command;
};
constexpr Codec kCodecs[] = {
    {IsGzip, [](std::string_view bytes, size_t max) { return GzipDecompress(bytes, max); },
     "gzip -d"},
    {IsZstd, ZstdDecompress, "zstd -d"},
    {IsXz, XzDecompress, "xz -d"},
};

const Codec* CodecOf(std::string_view bytes) {
  const Codec* found =
      std::ranges::find_if(kCodecs, [&](const Codec& codec) { return codec.is_of(bytes); });
  return found == std::end(kCodecs) ? nullptr : found;
}

std::string Listed(const std::vector<ZipEntry>& entries) {
  std::string list;
  for (size_t i = 0; i < std::min(entries.size(), kMaxListed); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", JsonEscape(entries[i].name));
  }
  if (entries.size() > kMaxListed) list += fmt::format(" and {} more", entries.size() - kMaxListed);
  return list;
}

// Returns how many bytes the first character of `text` has; of what is not UTF-8 one.
size_t CharacterBytes(std::string_view text) {
  size_t size = 1;
  while (size < std::min<size_t>(text.size(), 4) &&
         (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) {
    ++size;
  }
  return IsValidUtf8(text.substr(0, size)) ? size : 1;
}

// Matches a whole name: `*` is any text, `?` one character. Only the last `*` is tried again, which
// is enough, so that the time is bounded by the product of the lengths.
bool Matches(std::string_view pattern, std::string_view name) {
  size_t at = 0;
  size_t star = std::string_view::npos;
  std::string_view behind_star;
  while (!name.empty()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      behind_star = name;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name.front())) {
      name.remove_prefix(pattern[at++] == '?' ? CharacterBytes(name) : 1);
    } else if (star != std::string_view::npos) {
      behind_star.remove_prefix(CharacterBytes(behind_star));
      name = behind_star;
      at = star + 1;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

// The times of a bundle's profiles are no profiles; an exact name still takes them.
void DropTimes(std::vector<ZipEntry>& entries, std::string_view asked) {
  std::erase_if(entries, [&](const ZipEntry& entry) {
    return entry.name.ends_with(".times.gz") && entry.name != asked;
  });
}

Result<std::vector<ZipEntry>> ChooseEntries(std::string_view zip, const UnpackOptions& options) {
  ASSIGN_OR_RETURN(std::vector<ZipEntry> entries, ReadZipDirectory(zip));
  DropTimes(entries, options.entry);
  if (entries.empty()) return Error(ErrorCode::kCorrupt, "the ZIP has no files in it", kGetItAgain);
  std::vector<ZipEntry> chosen = entries;
  if (!options.entry.empty()) {
    // A name may have characters that mean something in a pattern.
    std::erase_if(chosen, [&](const ZipEntry& entry) { return entry.name != options.entry; });
    if (chosen.empty()) {
      chosen = entries;
      std::erase_if(chosen,
                    [&](const ZipEntry& entry) { return !Matches(options.entry, entry.name); });
    }
    if (chosen.empty()) {
      return Error(ErrorCode::kNotFound, fmt::format("the ZIP has no file '{}'; it has {}",
                                                     JsonEscape(options.entry), Listed(entries)));
    }
  }
  if (chosen.size() == 1 || options.all_entries) return chosen;
  return Error(ErrorCode::kNotFound,
               options.entry.empty()
                   ? fmt::format("it is a ZIP of {} files: {}", chosen.size(), Listed(chosen))
                   : fmt::format("'{}' names {} files of the ZIP: {}", JsonEscape(options.entry),
                                 chosen.size(), Listed(chosen)));
}

struct Layer {
  std::string_view bytes = {};
  std::string_view name = {};
  std::string way = {};
  std::string command = {};
  int depth = 0;
  bool is_of_zip = false;
};

// Returns a name as a shell takes it; where that would need more than quotes, a word for it.
std::string ShellName(std::string_view name) {
  const bool is_plain = std::ranges::none_of(
      name, [](unsigned char c) { return c < ' ' || c == 0x7f || c == '\'' || c == '\\'; });
  return is_plain && IsValidUtf8(name) ? fmt::format("'{}'", name) : "ENTRY";
}

std::string UnzipCommand(const Layer& zip, std::string_view entry) {
  if (zip.command.empty()) return fmt::format("unzip -p FILE {}", ShellName(entry));
  return fmt::format("{} > FILE.zip; unzip -p FILE.zip {}", zip.command, ShellName(entry));
}

Status UnpackLayer(Layer layer, const UnpackOptions& options, const Visit& visit);

Status UnpackZip(const Layer& zip, const UnpackOptions& options, const Visit& visit) {
  ASSIGN_OR_RETURN(const std::vector<ZipEntry> entries, ChooseEntries(zip.bytes, options));
  for (const ZipEntry& entry : entries) {
    const std::string where = fmt::format(
        "{}in the ZIP's file {}", zip.way.empty() ? "" : zip.way + ", ", JsonEscape(entry.name));
    Result<std::string> bytes = ReadZipEntry(zip.bytes, entry, options.max_bytes);
    if (!bytes) return Error(std::move(bytes).error()).Context(where);
    RETURN_IF_ERROR(UnpackLayer({.bytes = *bytes,
                                 .name = entry.name,
                                 .way = where,
                                 .command = UnzipCommand(zip, entry.name),
                                 .depth = zip.depth + 1,
                                 .is_of_zip = true},
                                options, visit));
  }
  return OkStatus();
}

Status UnpackLayer(Layer layer, const UnpackOptions& options, const Visit& visit) {
  std::string held;
  while (IsPacked(layer.bytes)) {
    if (layer.is_of_zip && IsZip(layer.bytes)) {
      return Error(ErrorCode::kUnsupported,
                   "it is a ZIP inside a ZIP: unpack the outer one with `unzip`, and give this one")
          .Context(layer.way);
    }
    if (layer.depth == kMaxLayers) {
      return Error(ErrorCode::kUnsupported,
                   "it is packed too often: unpack it, and give what comes out")
          .Context(layer.way);
    }
    if (IsZip(layer.bytes)) return UnpackZip(layer, options, visit);
    const Codec* codec = CodecOf(layer.bytes);
    Result<std::string> unpacked = codec->unpack(layer.bytes, options.max_bytes);
    if (!unpacked) {
      return layer.way.empty() ? Status(std::move(unpacked).error())
                               : Status(Error(std::move(unpacked).error()).Context(layer.way));
    }
    held = *std::move(unpacked);
    layer.bytes = held;
    layer.way += fmt::format("{}after {}", layer.way.empty() ? "" : ", ", codec->command);
    layer.command += layer.command.empty() ? fmt::format("{} < FILE", codec->command)
                                           : fmt::format(" | {}", codec->command);
    ++layer.depth;
  }
  if (!options.entry.empty() && !layer.is_of_zip) {
    return Error(ErrorCode::kNotFound, "it is no ZIP, and has no entries to choose from");
  }
  return visit({.bytes = layer.bytes,
                .name = layer.name,
                .way = layer.way,
                .is_of_zip = layer.is_of_zip,
                .command = layer.command});
}

}  // namespace

bool IsPacked(std::string_view bytes) { return CodecOf(bytes) != nullptr || IsZip(bytes); }

Status Unpack(std::string_view bytes, std::string_view name, const UnpackOptions& options,
              const Visit& visit) {
  return UnpackLayer({.bytes = bytes, .name = name}, options, visit);
}

}  // namespace firetower::profile
