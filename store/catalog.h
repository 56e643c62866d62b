// SPDX-License-Identifier: Apache-2.0
// CatalogRow: the facts about one stored profile, known without opening it. It is stored as JSON in
// the comment of its bundle entry, or in the gzip header of a capture.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower::store {

struct CatalogRow {
  std::string namespace_name = "-";
  std::string pod = "-";
  std::string container = {};
  std::string pod_uid = {};
  std::string container_id = {};
  std::string workload = {};
  std::string service_name = {};
  std::string node = {};
  std::string type = {};    // as ProfileType::Name()
  int64_t start_ns = 0;     // Unix time; kept to the millisecond
  int64_t duration_ns = 0;  // likewise
  int64_t samples = 0;      // sum of the first value
  int64_t value = 0;        // sum of the main (last) value
  std::string unit = {};    // of `value`
  std::vector<std::string> policies = {};
  std::vector<std::string> build_ids = {};
  std::string capture = {};  // its id; empty: a window's profile
  // In a capture: the samples that are also in windows or earlier captures of its container
  // (kAlsoLabel in the profile). Sums omit them unless captures are asked for.
  int64_t also_samples = 0;
  int64_t also_value = 0;

  int64_t end_ns() const { return start_ns + duration_ns; }
  bool Overlaps(int64_t from_ns, int64_t to_ns) const {
    return start_ns < to_ns && (end_ns() > from_ns || start_ns >= from_ns);
  }
  bool operator==(const CatalogRow&) const = default;
};

// The label of a capture's samples that a window or an earlier capture has too, and its values.
inline constexpr std::string_view kAlsoLabel = "also";
inline constexpr std::string_view kAlsoInWindow = "window";
inline constexpr std::string_view kAlsoInCapture = "capture";

// Returns the sorted names that LabelValueOf knows and users may query.
const std::vector<std::string>& CatalogLabelNames();
// Returns the value of a label of the row, "" for an unknown one. Also knows __name__ (the type),
// __profile_type__ (Pyroscope's id), its parts __type__, __unit__, __period_type__ and
// __period_unit__, and service_name (falls back to workload, then container).
std::string LabelValueOf(const CatalogRow& row, std::string_view label);

// Returns 12 hexadecimal digits, the same for the same container, type, node and start.
std::string ProfileId(const CatalogRow& row);

// A ZIP comment holds 65,535 bytes; this limit stays below. Build ids, then policies, are cut to
// fit.
inline constexpr size_t kMaxRowJsonBytes = 60'000;
std::string CatalogRowToJson(const CatalogRow& row);
// Parses a row. kCorrupt: the text is not such a row. Unknown members are ignored.
Result<CatalogRow> CatalogRowFromJson(std::string_view json);

}  // namespace firetower::store
