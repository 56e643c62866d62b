// SPDX-License-Identifier: Apache-2.0
#include "store/key.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <optional>

#include "base/file.h"

namespace firetower::store {
namespace {

constexpr size_t kMaxComponentBytes = 253;  // a DNS name
constexpr size_t kMaxMadeComponentBytes = 128;
constexpr size_t kMaxNameBytes = 255;  // NAME_MAX of Linux's file systems
constexpr std::string_view kBundleSuffix = ".zip";
constexpr std::string_view kCaptureSuffix = ".pb.gz";
constexpr std::string_view kRowsSuffix = ".ndjson.gz";
constexpr std::string_view kLateMark = "late-";
constexpr std::string_view kBundlesMark = "bundles-";
constexpr std::string_view kBundlesSuffix = ".gz";
constexpr std::string_view kBundleFolder = "bundle/";
constexpr std::string_view kCatalogFolder = "catalog/";

bool IsAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsComponentByte(char c) { return IsAlphanumeric(c) || c == '-' || c == '.' || c == '_'; }
bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool IsComponent(std::string_view text) {
  if (text.empty() || text.size() > kMaxComponentBytes) return false;
  bool good = true;
  char before = '.';  // nor at the beginning
  for (const char c : text) {
    good &= IsComponentByte(c) && !(c == '.' && before == '.');
    before = c;
  }
  return good;
}

Status CheckComponent(std::string_view what, std::string_view text) {
  if (IsComponent(text)) return OkStatus();
  return Error(ErrorCode::kInvalid,
               fmt::format("key: {} \"{}\" must be 1 to {} of a-z 0-9 - _ . and not start with '.'",
                           what, text.substr(0, 100), kMaxComponentBytes));
}

Status CheckTimes(int64_t start_s, int64_t seconds) {
  if (start_s < 0 || start_s > kMaxStartSeconds) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("key: start {} is not in 0..{}", start_s, kMaxStartSeconds));
  }
  if (seconds < 0 || seconds > kMaxWindowSeconds) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("key: a window of {} s, at most {}", seconds, kMaxWindowSeconds));
  }
  return OkStatus();
}

std::string TooLong(std::string_view name, size_t limit) {
  return fmt::format("a name of {} bytes, at most {}", name.size(), limit);
}

Error NotAKey(std::string_view kind, std::string_view text) {
  return {ErrorCode::kInvalid,
          fmt::format("\"{}\" is not the key of a {}", text.substr(0, 200), kind)};
}

// The parts of `text` between slashes; none when they are not kParts.
template <size_t kParts>
std::optional<std::array<std::string_view, kParts>> SplitInto(std::string_view text) {
  std::array<std::string_view, kParts> parts;
  for (size_t i = 0; i + 1 < kParts; ++i) {
    const size_t end = text.find('/');
    if (end == std::string_view::npos) return std::nullopt;
    parts[i] = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  if (text.find('/') != std::string_view::npos) return std::nullopt;
  parts[kParts - 1] = text;
  return parts;
}

// Takes the text before the first `separator` off the front.
std::string_view TakeFront(std::string_view* text, char separator) {
  size_t end = std::min(text->find(separator), text->size());
  std::string_view front = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return front;
}
std::string_view TakeBack(std::string_view* text, char separator) {
  size_t at = text->rfind(separator);
  if (at == std::string_view::npos) return {};
  std::string_view back = text->substr(at + 1);
  text->remove_suffix(text->size() - at);
  return back;
}

int64_t Number(std::string_view text) {
  int64_t value = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

// The layout of keys, as pieces for `add`, which appends them or compares them with an existing
// key: a query reads the keys of some hundred rows.

template <typename Add, typename... Parts>
void AddAll(const Add& add, const Parts&... parts) {
  (add(std::string_view(parts)), ...);
}
// `value` with at least `width` digits, at most 20: fmt is ten times as slow.
template <typename Add>
void AddDigits(const Add& add, int64_t value, size_t width) {
  std::array<char, 40> digits;
  char* const begin = digits.data() + 20;
  std::fill(digits.data(), begin, '0');
  const char* const end = std::to_chars(begin, digits.data() + digits.size(), value).ptr;
  const auto count = static_cast<size_t>(end - begin);
  const size_t zeros = count < width ? width - count : 0;
  add(std::string_view(begin - zeros, count + zeros));
}
template <typename Add>
void AddDate(const Add& add, int64_t unix_s) {
  using std::chrono::floor, std::chrono::days;
  const std::chrono::sys_seconds at{std::chrono::seconds(unix_s)};
  const std::chrono::year_month_day date(floor<days>(at));
  AddDigits(add, static_cast<int>(date.year()), 4);
  add("-");
  AddDigits(add, static_cast<unsigned>(date.month()), 2);
  add("-");
  AddDigits(add, static_cast<unsigned>(date.day()), 2);
}
template <typename Add>
void AddHourPath(const Add& add, int64_t unix_s) {
  unix_s = std::clamp<int64_t>(unix_s, 0, kMaxStartSeconds);
  AddDate(add, unix_s);
  add("/");
  AddDigits(add, unix_s / 3600 % 24, 2);
}
template <typename Add>
void AddTimePath(const Add& add, int64_t start_s) {
  start_s = std::clamp<int64_t>(start_s, 0, kMaxStartSeconds);
  AddHourPath(add, start_s);
  add("/");
  AddDigits(add, start_s, 10);
}
// "2026-11-21/05/1795239711-60"
template <typename Add>
void AddInterval(const Add& add, int64_t start_s, int64_t seconds) {
  AddTimePath(add, start_s);
  add("-");
  AddDigits(add, seconds, 1);
}
template <typename Add>
void AddClusterPrefix(const Add& add, RetentionClass retention, std::string_view cluster) {
  AddAll(add, "v1/", RetentionClassName(retention), "/", cluster, "/");
}
template <typename Add>
void AddRollUpFolder(const Add& add, int64_t seconds) {
  add("rollup-");
  AddDigits(add, seconds, 1);
  add("/");
}

template <typename Add>
void AddKey(const Add& add, const BundleKey& key) {
  AddClusterPrefix(add, key.retention, key.cluster);
  if (key.rolled_up)
    AddRollUpFolder(add, key.seconds);
  else
    add(kBundleFolder);
  AddInterval(add, key.start_s, key.seconds);
  AddAll(add, "/", key.scope, "/", key.node, "-", key.run, kBundleSuffix);
}
template <typename Add>
void AddKey(const Add& add, const CaptureKey& key) {
  AddClusterPrefix(add, key.retention, key.cluster);
  AddAll(add, kCaptureFolder, "/", key.namespace_name, "/", key.pod, "/");
  AddDate(add, key.start_s);
  add("/");
  AddDigits(add, key.start_s, 10);
  add("-");
  AddDigits(add, key.seconds, 1);
  AddAll(add, "-", key.container, "-", key.type, "-", key.id, kCaptureSuffix);
}
template <typename Add>
void AddKey(const Add& add, const CatalogKey& key) {
  AddClusterPrefix(add, key.retention, key.cluster);
  add(kCatalogFolder);
  AddInterval(add, key.start_s, key.seconds);
  add("/");
  if (key.part == CatalogPart::kBundles) {
    AddAll(add, kBundlesMark, key.hash, kBundlesSuffix);
    return;
  }
  if (key.part == CatalogPart::kLateRows) add(kLateMark);
  AddDigits(add, key.shard, 1);
  add("of");
  AddDigits(add, key.shards, 1);
  AddAll(add, "-", key.hash, kRowsSuffix);
}

// Joins the parts that `lay_out` passes to its `add` into one text.
template <typename LayOut>
std::string TextOf(const LayOut& lay_out) {
  std::string text;
  lay_out([&text](std::string_view part) { text += part; });
  return text;
}

// Tells whether `text` is the layout of one key.
template <typename Key>
bool IsLaidOutAs(const Key& key, std::string_view text) {
  bool same = true;
  AddKey(
      [&](std::string_view part) {
        same = same && text.starts_with(part);
        if (same) text.remove_prefix(part.size());
      },
      key);
  return same && text.empty();
}

// Whether each component may stand in a key.
Status CheckParts(const BundleKey& key) {
  RETURN_IF_ERROR(CheckTimes(key.start_s, key.seconds));
  RETURN_IF_ERROR(CheckComponent("cluster", key.cluster));
  RETURN_IF_ERROR(CheckComponent("scope", key.scope));
  RETURN_IF_ERROR(CheckComponent("node", key.node));
  if (key.run.size() == 8 && std::ranges::all_of(key.run, IsAlphanumeric)) return OkStatus();
  return Error(ErrorCode::kInvalid, fmt::format("key: run \"{}\" must be 8 of a-z 0-9", key.run));
}
Status CheckParts(const CaptureKey& key) {
  RETURN_IF_ERROR(CheckTimes(key.start_s, key.seconds));
  RETURN_IF_ERROR(CheckComponent("cluster", key.cluster));
  RETURN_IF_ERROR(CheckComponent("namespace", key.namespace_name));
  RETURN_IF_ERROR(CheckComponent("pod", key.pod));
  RETURN_IF_ERROR(CheckComponent("container", key.container));
  RETURN_IF_ERROR(CheckComponent("type", key.type));
  if (key.type.find('-') != std::string::npos) {
    return Error(ErrorCode::kInvalid, fmt::format("key: type \"{}\" must hold no '-'", key.type));
  }
  if (key.id.size() == 12 && std::ranges::all_of(key.id, IsHex)) return OkStatus();
  return Error(ErrorCode::kInvalid, fmt::format("key: id \"{}\" must be 12 of 0-9 a-f", key.id));
}
Status CheckParts(const CatalogKey& key) {
  RETURN_IF_ERROR(CheckTimes(key.start_s, key.seconds));
  RETURN_IF_ERROR(CheckComponent("cluster", key.cluster));
  if (key.hash.size() != 16 || !std::ranges::all_of(key.hash, IsHex)) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("key: hash \"{}\" must be 16 of 0-9 a-f", key.hash));
  }
  if (std::has_single_bit(key.shards) && key.shards <= kMaxShards && key.shard < key.shards)
    return OkStatus();
  return Error(ErrorCode::kInvalid,
               fmt::format("key: shard {} of {} must be one of a power of two up to {}", key.shard,
                           key.shards, kMaxShards));
}

template <typename Key>
Result<std::string> Build(const Key& key) {
  RETURN_IF_ERROR(CheckParts(key));
  std::string text = TextOf([&](const auto& add) { AddKey(add, key); });
  // Components may each be fine and too long together.
  RETURN_IF_ERROR(CheckKey(text));
  return text;
}

// Only the one canonical spelling is a key: what BuildKey makes of it.
template <typename Key>
bool IsCanonical(const Key& key, std::string_view text) {
  return CheckParts(key) && IsLaidOutAs(key, text) && CheckKey(text);
}

}  // namespace

std::string_view RetentionClassName(RetentionClass retention) {
  switch (retention) {
    case RetentionClass::kShort:
      return "short";
    case RetentionClass::kStandard:
      return "standard";
    case RetentionClass::kLong:
      return "long";
  }
  return "standard";
}

Result<RetentionClass> ParseRetentionClass(std::string_view text) {
  for (RetentionClass retention : kRetentionClasses) {
    if (text == RetentionClassName(retention)) return retention;
  }
  return Error(ErrorCode::kInvalid,
               fmt::format("unknown retention class \"{}\"; allowed are short, standard, long",
                           text.substr(0, 100)));
}

std::string DateOf(int64_t unix_s) {
  return TextOf([=](const auto& add) { AddDate(add, unix_s); });
}
std::string HourPath(int64_t unix_s) {
  return TextOf([=](const auto& add) { AddHourPath(add, unix_s); });
}
std::string BundleTimePath(int64_t start_s) {
  return TextOf([=](const auto& add) { AddTimePath(add, start_s); });
}

std::string CommonTimePath(int64_t from_s, int64_t to_s) {
  std::string first = BundleTimePath(from_s);
  const std::string last = BundleTimePath(std::max(from_s, to_s - 1));
  first.erase(std::ranges::mismatch(first, last).in1, first.end());
  return first;
}

std::string ClusterPrefix(RetentionClass retention, std::string_view cluster) {
  return TextOf([=](const auto& add) { AddClusterPrefix(add, retention, cluster); });
}
std::string BundlePrefix(RetentionClass retention, std::string_view cluster) {
  return ClusterPrefix(retention, cluster).append(kBundleFolder);
}
std::string RollUpPrefix(RetentionClass retention, std::string_view cluster, int64_t seconds) {
  return TextOf([=](const auto& add) {
    AddClusterPrefix(add, retention, cluster);
    AddRollUpFolder(add, seconds);
  });
}
std::string CapturePrefix(RetentionClass retention, std::string_view cluster) {
  return ClusterPrefix(retention, cluster).append(kCaptureFolder) += '/';
}
std::string CatalogPrefix(RetentionClass retention, std::string_view cluster) {
  return ClusterPrefix(retention, cluster).append(kCatalogFolder);
}

Result<std::string> BuildKey(const BundleKey& key) { return Build(key); }
Result<std::string> BuildKey(const CaptureKey& key) { return Build(key); }
Result<std::string> BuildKey(const CatalogKey& key) { return Build(key); }

// The parsers take the parts loosely, and then see whether BuildKey would lay them out so.
Result<BundleKey> ParseBundleKey(std::string_view text) {
  const auto split = SplitInto<9>(text);
  if (!split || !split->back().ends_with(kBundleSuffix)) return NotAKey("bundle", text);
  const auto& parts = *split;
  BundleKey key;
  ASSIGN_OR_RETURN(key.retention, ParseRetentionClass(parts[1]));
  key.cluster = parts[2];
  key.rolled_up = parts[3] != "bundle";
  std::string_view window = parts[6];
  key.start_s = Number(TakeFront(&window, '-'));
  key.seconds = Number(window);
  key.scope = parts[7];
  std::string_view name = parts[8];
  name.remove_suffix(kBundleSuffix.size());
  key.run = TakeBack(&name, '-');
  key.node = name;
  if (!IsCanonical(key, text)) return NotAKey("bundle", text);
  return key;
}

Result<CaptureKey> ParseCaptureKey(std::string_view text) {
  const auto split = SplitInto<8>(text);
  if (!split || !split->back().ends_with(kCaptureSuffix)) return NotAKey("capture", text);
  const auto& parts = *split;
  CaptureKey key;
  ASSIGN_OR_RETURN(key.retention, ParseRetentionClass(parts[1]));
  key.cluster = parts[2];
  key.namespace_name = parts[4];
  key.pod = parts[5];
  std::string_view name = parts[7];
  name.remove_suffix(kCaptureSuffix.size());
  key.start_s = Number(TakeFront(&name, '-'));
  key.seconds = Number(TakeFront(&name, '-'));
  key.id = TakeBack(&name, '-');
  key.type = TakeBack(&name, '-');
  key.container = name;
  if (!IsCanonical(key, text)) return NotAKey("capture", text);
  return key;
}

Result<CatalogKey> ParseCatalogKey(std::string_view text) {
  const auto split = SplitInto<8>(text);
  if (!split || !split->back().ends_with(kBundlesSuffix)) return NotAKey("catalog", text);
  const auto& parts = *split;
  CatalogKey key;
  ASSIGN_OR_RETURN(key.retention, ParseRetentionClass(parts[1]));
  key.cluster = parts[2];
  std::string_view interval = parts[6];
  key.start_s = Number(TakeFront(&interval, '-'));
  key.seconds = Number(interval);
  std::string_view name = parts[7];
  if (name.starts_with(kBundlesMark)) {
    key.part = CatalogPart::kBundles;
    name.remove_prefix(kBundlesMark.size());
    key.hash = name.substr(0, name.size() - kBundlesSuffix.size());
  } else {
    if (name.starts_with(kLateMark)) {
      key.part = CatalogPart::kLateRows;
      name.remove_prefix(kLateMark.size());
    }
    key.shard = static_cast<uint32_t>(Number(TakeFront(&name, 'o')));
    if (!name.starts_with('f')) return NotAKey("catalog", text);
    name.remove_prefix(1);
    key.shards = static_cast<uint32_t>(Number(TakeFront(&name, '-')));
    if (!name.ends_with(kRowsSuffix)) return NotAKey("catalog", text);
    key.hash = name.substr(0, name.size() - kRowsSuffix.size());
  }
  if (!IsCanonical(key, text)) return NotAKey("catalog", text);
  return key;
}

std::string ToKeyComponent(std::string_view text) {
  std::string out(text.substr(0, kMaxMadeComponentBytes));
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!IsComponentByte(c)) c = '-';
  }
  for (size_t at = 0; (at = out.find("..", at)) != std::string::npos; ++at) out[at] = '-';
  if (out.starts_with('.')) out[0] = '-';
  return out.empty() ? "-" : out;
}

Status CheckKey(std::string_view key) {
  auto bad = [&](std::string_view why) {
    return Error(ErrorCode::kInvalid, fmt::format("key \"{}\": {}", key.substr(0, 200), why));
  };
  if (key.empty() || key.size() > kMaxKeyBytes) {
    return bad(fmt::format("must have 1 to {} bytes", kMaxKeyBytes));
  }
  bool printable = true;
  for (const char c : key) printable &= c > ' ' && c < 0x7F;
  if (!printable) return bad("must be printable ASCII without spaces");
  for (size_t at = 0, end = 0; at <= key.size(); at = end + 1) {
    end = std::min(key.find('/', at), key.size());
    const std::string_view part = key.substr(at, end - at);
    if (part.empty()) return bad("must be relative and hold no empty component");
    if (part == "." || part == "..") return bad("must hold no . or .. component");
    if (part.size() > kMaxNameBytes) return bad(TooLong(part, kMaxNameBytes));
  }
  std::string_view name = key.substr(key.rfind('/') + 1);
  constexpr size_t kMaxFileNameBytes = kMaxNameBytes - kMaxTemporarySuffixBytes;
  if (name.size() > kMaxFileNameBytes) return bad(TooLong(name, kMaxFileNameBytes));
  if (TemporaryFileOwner(name)) return bad("names an unfinished file");
  return OkStatus();
}

}  // namespace firetower::store
