// SPDX-License-Identifier: Apache-2.0
// Names of objects, time first so that a listing is in time order:
//   v1/<class>/<cluster>/bundle/<date>/<hour>/<start>-<seconds>/<scope>/<node>-<run8>.zip
//   v1/<class>/<cluster>/rollup-<seconds>/, and as above: windows of that time merged
//   v1/<class>/<cluster>/capture/<namespace>/<pod>/<date>/
//       <start>-<seconds>-<container>-<type>-<id12>.pb.gz
//   v1/<class>/<cluster>/catalog/<date>/<hour>/<start>-<seconds>/
//       [late-]<shard>of<shards>-<hash16>.ndjson.gz, and bundles-<hash16>.gz
// Lower-case and DNS-safe; date and hour are UTC; start is ten digits of Unix seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::store {

enum class RetentionClass : uint8_t { kShort, kStandard, kLong };
inline constexpr RetentionClass kRetentionClasses[] = {
    RetentionClass::kShort, RetentionClass::kStandard, RetentionClass::kLong};
std::string_view RetentionClassName(RetentionClass retention);  // "short", "standard", "long"
Result<RetentionClass> ParseRetentionClass(std::string_view text);

inline constexpr size_t kMaxKeyBytes = 1024;
// The year 2261: ten digits, and nanoseconds still fit into 63 bits.
inline constexpr int64_t kMaxStartSeconds = 9'200'000'000;
inline constexpr int64_t kMaxWindowSeconds = 3600;  // a query looks this far back for an overlap

struct BundleKey {
  RetentionClass retention = RetentionClass::kStandard;
  std::string cluster = {};  // [a-z0-9.-]
  int64_t start_s = 0;
  int64_t seconds = 0;
  std::string scope = "_";  // or a namespace
  std::string node = {};
  std::string run = {};    // 8 of [0-9a-z], one per start of the daemon
  bool rolled_up = false;  // several windows, merged
  bool operator==(const BundleKey&) const = default;
};

struct CaptureKey {
  RetentionClass retention = RetentionClass::kStandard;
  std::string cluster = {};
  std::string namespace_name = {};  // "-" for none
  std::string pod = {};             // "-" for none
  int64_t start_s = 0;
  int64_t seconds = 0;
  std::string container = {};
  std::string type = {};  // ProfileType::FileToken()
  std::string id = {};    // 12 hexadecimal digits
  bool operator==(const CaptureKey&) const = default;
};

// The content of one object of a catalog. Late rows belong to bundles that came after the catalog
// of their time was written.
enum class CatalogPart : uint8_t { kRows, kLateRows, kBundles };

struct CatalogKey {
  RetentionClass retention = RetentionClass::kStandard;
  std::string cluster = {};
  int64_t start_s = 0;  // of bundles whose windows start in [start_s, start_s + seconds)
  int64_t seconds = 0;
  CatalogPart part = CatalogPart::kRows;
  uint32_t shard = 0;     // 0 of 1 for kBundles
  uint32_t shards = 1;    // a power of two, at most kMaxShards
  std::string hash = {};  // of the content, 16 hexadecimal digits
  bool operator==(const CatalogKey&) const = default;
};
inline constexpr uint32_t kMaxShards = 4096;

// Builds a key. kInvalid names the invalid component and what is allowed.
Result<std::string> BuildKey(const BundleKey& key);
Result<std::string> BuildKey(const CaptureKey& key);
Result<std::string> BuildKey(const CatalogKey& key);
Result<BundleKey> ParseBundleKey(std::string_view text);
Result<CaptureKey> ParseCaptureKey(std::string_view text);
Result<CatalogKey> ParseCatalogKey(std::string_view text);

// Converts `text` into a component: lower case, invalid characters become '-', cut to 128 bytes so
// that the rest of a file's name fits; "-" when nothing is left.
std::string ToKeyComponent(std::string_view text);

// Returns "v1/<class>/<cluster>/": the prefix of all its objects.
std::string ClusterPrefix(RetentionClass retention, std::string_view cluster);
// Returns "v1/<class>/<cluster>/bundle/". Below it come "<date>/<hour>/<start>" for start-after
// listings.
std::string BundlePrefix(RetentionClass retention, std::string_view cluster);
// Returns "v1/<class>/<cluster>/rollup-<seconds>/", with the same paths below.
std::string RollUpPrefix(RetentionClass retention, std::string_view cluster, int64_t seconds);
inline constexpr std::string_view kCaptureFolder = "capture";
std::string CapturePrefix(RetentionClass retention, std::string_view cluster);
std::string CatalogPrefix(RetentionClass retention, std::string_view cluster);
std::string BundleTimePath(int64_t start_s);  // "2026-11-21/05/1795239711"
std::string HourPath(int64_t unix_s);         // "2026-11-21/05"
// The common prefix of the BundleTimePaths of [from_s, to_s), so that a listing returns few other
// names: a page holds a thousand.
std::string CommonTimePath(int64_t from_s, int64_t to_s);  // "2026-11-21/05/17952"
std::string DateOf(int64_t unix_s);                        // "2026-11-21"

// Checks any key of a store: relative, without empty, "." or ".." components, printable ASCII,
// bounded, and not the name of an unfinished file of WriteFileAtomic.
Status CheckKey(std::string_view key);

}  // namespace firetower::store
