// SPDX-License-Identifier: Apache-2.0
#include "store/key.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <vector>

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

bool IsAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsComponentByte(char c) { return IsAlphanumeric(c) || c == '-' || c == '.' || c == '_'; }
bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool IsComponent(std::string_view text) {
  return !text.empty() && text.size() <= kMaxComponentBytes && text.front() != '.' &&
         std::ranges::all_of(text, IsComponentByte) && text.find("..") == std::string_view::npos;
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

// Components may each be fine and too long together.
Result<std::string> Checked(std::string key) {
  RETURN_IF_ERROR(CheckKey(key));
  return key;
}

std::string TooLong(std::string_view name, size_t limit) {
  return fmt::format("a name of {} bytes, at most {}", name.size(), limit);
}

Error NotAKey(std::string_view kind, std::string_view text) {
  return {ErrorCode::kInvalid,
          fmt::format("\"{}\" is not the key of a {}", text.substr(0, 200), kind)};
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0;;) {
    size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
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

std::string Prefix(RetentionClass retention, std::string_view cluster, std::string_view kind) {
  std::string prefix = ClusterPrefix(retention, cluster);
  prefix += kind;
  return prefix += '/';
}

// `value` with at least `width` digits. A question reads the keys of some hundred rows: fmt is ten
// times as slow.
void AppendDigits(std::string& out, int64_t value, size_t width) {
  std::array<char, 20> digits;
  const char* end = std::to_chars(digits.begin(), digits.end(), value).ptr;
  const auto count = static_cast<size_t>(end - digits.data());
  if (count < width) out.append(width - count, '0');
  out.append(digits.data(), count);
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
  using std::chrono::floor, std::chrono::days;
  const std::chrono::sys_seconds at{std::chrono::seconds(unix_s)};
  const std::chrono::year_month_day date(floor<days>(at));
  std::string out;
  AppendDigits(out, static_cast<int>(date.year()), 4);
  AppendDigits(out += '-', static_cast<unsigned>(date.month()), 2);
  AppendDigits(out += '-', static_cast<unsigned>(date.day()), 2);
  return out;
}

std::string HourPath(int64_t unix_s) {
  unix_s = std::clamp<int64_t>(unix_s, 0, kMaxStartSeconds);
  std::string out = DateOf(unix_s);
  AppendDigits(out += '/', unix_s / 3600 % 24, 2);
  return out;
}

std::string BundleTimePath(int64_t start_s) {
  start_s = std::clamp<int64_t>(start_s, 0, kMaxStartSeconds);
  std::string out = HourPath(start_s);
  AppendDigits(out += '/', start_s, 10);
  return out;
}

std::string CommonTimePath(int64_t from_s, int64_t to_s) {
  std::string first = BundleTimePath(from_s);
  const std::string last = BundleTimePath(std::max(from_s, to_s - 1));
  first.erase(std::ranges::mismatch(first, last).in1, first.end());
  return first;
}

std::string ClusterPrefix(RetentionClass retention, std::string_view cluster) {
  std::string prefix = "v1/";
  prefix += RetentionClassName(retention);
  prefix += '/';
  prefix += cluster;
  return prefix += '/';
}
std::string BundlePrefix(RetentionClass retention, std::string_view cluster) {
  return Prefix(retention, cluster, "bundle");
}
std::string RollUpPrefix(RetentionClass retention, std::string_view cluster, int64_t seconds) {
  return Prefix(retention, cluster, fmt::format("rollup-{}", seconds));
}
std::string CapturePrefix(RetentionClass retention, std::string_view cluster) {
  return Prefix(retention, cluster, kCaptureFolder);
}
std::string CatalogPrefix(RetentionClass retention, std::string_view cluster) {
  return Prefix(retention, cluster, "catalog");
}

Result<std::string> BuildKey(const BundleKey& key) {
  RETURN_IF_ERROR(CheckTimes(key.start_s, key.seconds));
  RETURN_IF_ERROR(CheckComponent("cluster", key.cluster));
  RETURN_IF_ERROR(CheckComponent("scope", key.scope));
  RETURN_IF_ERROR(CheckComponent("node", key.node));
  if (key.run.size() != 8 || !std::ranges::all_of(key.run, IsAlphanumeric)) {
    return Error(ErrorCode::kInvalid, fmt::format("key: run \"{}\" must be 8 of a-z 0-9", key.run));
  }
  std::string text = key.rolled_up ? RollUpPrefix(key.retention, key.cluster, key.seconds)
                                   : BundlePrefix(key.retention, key.cluster);
  text += BundleTimePath(key.start_s);
  AppendDigits(text += '-', key.seconds, 1);
  (text += '/') += key.scope;
  (text += '/') += key.node;
  (text += '-') += key.run;
  return Checked(text += kBundleSuffix);
}

Result<std::string> BuildKey(const CaptureKey& key) {
  RETURN_IF_ERROR(CheckTimes(key.start_s, key.seconds));
  RETURN_IF_ERROR(CheckComponent("cluster", key.cluster));
  RETURN_IF_ERROR(CheckComponent("namespace", key.namespace_name));
  RETURN_IF_ERROR(CheckComponent("pod", key.pod));
  RETURN_IF_ERROR(CheckComponent("container", key.container));
  RETURN_IF_ERROR(CheckComponent("type", key.type));
  if (key.type.find('-') != std::string::npos) {
    return Error(ErrorCode::kInvalid, fmt::format("key: type \"{}\" must hold no '-'", key.type));
  }
  if (key.id.size() != 12 || !std::ranges::all_of(key.id, IsHex)) {
    return Error(ErrorCode::kInvalid, fmt::format("key: id \"{}\" must be 12 of 0-9 a-f", key.id));
  }
  return Checked(fmt::format("{}{}/{}/{}/{:010}-{}-{}-{}-{}{}",
                             CapturePrefix(key.retention, key.cluster), key.namespace_name, key.pod,
                             DateOf(key.start_s), key.start_s, key.seconds, key.container, key.type,
                             key.id, kCaptureSuffix));
}

Result<std::string> BuildKey(const CatalogKey& key) {
  RETURN_IF_ERROR(CheckTimes(key.start_s, key.seconds));
  RETURN_IF_ERROR(CheckComponent("cluster", key.cluster));
  if (key.hash.size() != 16 || !std::ranges::all_of(key.hash, IsHex)) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("key: hash \"{}\" must be 16 of 0-9 a-f", key.hash));
  }
  if (!std::has_single_bit(key.shards) || key.shards > kMaxShards || key.shard >= key.shards) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("key: shard {} of {} must be one of a power of two up to {}",
                             key.shard, key.shards, kMaxShards));
  }
  const std::string folder = fmt::format("{}{}-{}/", CatalogPrefix(key.retention, key.cluster),
                                         BundleTimePath(key.start_s), key.seconds);
  if (key.part == CatalogPart::kBundles) {
    return Checked(fmt::format("{}{}{}{}", folder, kBundlesMark, key.hash, kBundlesSuffix));
  }
  return Checked(fmt::format("{}{}{}of{}-{}{}", folder,
                             key.part == CatalogPart::kLateRows ? kLateMark : "", key.shard,
                             key.shards, key.hash, kRowsSuffix));
}

// The parsers take the parts loosely and then compare with what BuildKey makes of them: only the
// one canonical spelling is a key.
Result<BundleKey> ParseBundleKey(std::string_view text) {
  std::vector<std::string_view> parts = Split(text, '/');
  if (parts.size() != 9 || !parts[8].ends_with(kBundleSuffix)) return NotAKey("bundle", text);
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
  Result<std::string> canonical = BuildKey(key);
  if (!canonical || *canonical != text) return NotAKey("bundle", text);
  return key;
}

Result<CaptureKey> ParseCaptureKey(std::string_view text) {
  std::vector<std::string_view> parts = Split(text, '/');
  if (parts.size() != 8 || !parts[7].ends_with(kCaptureSuffix)) return NotAKey("capture", text);
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
  Result<std::string> canonical = BuildKey(key);
  if (!canonical || *canonical != text) return NotAKey("capture", text);
  return key;
}

Result<CatalogKey> ParseCatalogKey(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, '/');
  if (parts.size() != 8 || !parts[7].ends_with(kBundlesSuffix)) return NotAKey("catalog", text);
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
  Result<std::string> canonical = BuildKey(key);
  if (!canonical || *canonical != text) return NotAKey("catalog", text);
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
  if (!std::ranges::all_of(key, [](char c) { return c > ' ' && c < 0x7F; })) {
    return bad("must be printable ASCII without spaces");
  }
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
