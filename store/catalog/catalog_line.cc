// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/catalog_line.h"

#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "base/clock.h"
#include "base/json.h"
#include "store/catalog/scanner.h"
#include "store/key.h"

namespace firetower::store {
namespace {

using Json = nlohmann::ordered_json;

// The row comes last and is text of its own. In a JSON string the quotes would be escaped: these
// bytes stand nowhere else before it.
constexpr std::string_view kRowMember = ",\"row\":";

Error Corrupt(std::string_view why) {
  return {ErrorCode::kCorrupt, fmt::format("catalog: {}", why)};
}

// False when there is another thing of that name.
bool ReadTextIfAny(const Json& json, const char* name, std::string& out) {
  const auto found = json.find(name);
  if (found == json.end()) return true;
  if (!found->is_string()) return false;
  out = found->get<std::string>();
  return true;
}

bool ScanPlace(std::string_view text, CatalogEntry& one) {
  BundleEntry& entry = one.entry;
  Scanner scanner(text);
  entry.name.clear();
  if (!scanner.Skip(R"({"bundle":")") || !scanner.Text(one.bundle)) return false;
  if (scanner.Skip(R"(,"entry":")") && !scanner.Text(entry.name)) return false;
  return scanner.Skip(R"(,"crc32":)") && scanner.Number<uint32_t>(UINT32_MAX, entry.crc32) &&
         scanner.Skip(R"(,"offset":)") &&
         scanner.Number(BundleWriter::kMaxBytes, entry.header_offset) &&
         scanner.Skip(R"(,"end":)") && scanner.Number(BundleWriter::kMaxBytes, entry.end_offset) &&
         scanner.Skip(R"(,"size":)") && scanner.Number(BundleWriter::kMaxBytes, entry.size) &&
         scanner.AtEnd();
}

bool ParsePlace(std::string_view text, CatalogEntry& one) {
  one.bundle.clear();
  one.entry.name.clear();
  one.entry.header_offset = one.entry.end_offset = one.entry.size = 0;
  const Json json = Json::parse(std::string(text) + '}', nullptr, /*allow_exceptions=*/false);
  BundleEntry& entry = one.entry;
  uint64_t crc32 = 0;
  const bool good = json.is_object() && ReadTextIfAny(json, "bundle", one.bundle) &&
                    ReadTextIfAny(json, "entry", entry.name) &&
                    JsonNumber(json, "crc32", UINT32_MAX, crc32) &&
                    JsonNumber(json, "offset", BundleWriter::kMaxBytes, entry.header_offset) &&
                    JsonNumber(json, "end", BundleWriter::kMaxBytes, entry.end_offset) &&
                    JsonNumber(json, "size", BundleWriter::kMaxBytes, entry.size);
  entry.crc32 = static_cast<uint32_t>(crc32);
  return good;
}

bool ScanNumbers(std::string_view text, CatalogRow& row) {
  constexpr int64_t kMostSeconds = 86'400;
  Scanner scanner(text);
  row.capture.clear();
  row.also_samples = row.also_value = 0;
  return scanner.Skip(R"(,"start":)") && scanner.Seconds(kMaxStartSeconds, row.start_ns) &&
         scanner.Skip(R"(,"seconds":)") && scanner.Seconds(kMostSeconds, row.duration_ns) &&
         scanner.Skip(R"(,"samples":)") && scanner.Number(INT64_MAX, row.samples) &&
         scanner.Skip(R"(,"value":)") && scanner.Number(INT64_MAX, row.value) && scanner.AtEnd();
}

}  // namespace

std::string CatalogLineOf(const CatalogEntry& one) {
  const BundleEntry& entry = one.entry;
  std::string line = fmt::format(R"({{"bundle":"{}")", JsonEscape(one.bundle));
  if (!entry.name.empty() && entry.name != BundleEntryName(entry.row))
    line += fmt::format(R"(,"entry":"{}")", JsonEscape(entry.name));
  return line + fmt::format(R"(,"crc32":{},"offset":{},"end":{},"size":{}{}{}}})"
                            "\n",
                            entry.crc32, entry.header_offset, entry.end_offset, entry.size,
                            kRowMember, CatalogRowToJson(entry.row));
}

// A row's text as CatalogRowToJson makes it: texts, numbers, lists. Any other is read whole.
Status CatalogLineParser::ReadRow(std::string_view text) {
  constexpr std::string_view kNumbers = ",\"start\":", kPolicies = ",\"policies\":[",
                             kBuildIds = ",\"build_ids\":[";
  CatalogRow& row = one_.entry.row;
  const bool same_head =
      !head_.empty() && text.starts_with(head_) && text.substr(head_.size()).starts_with(kNumbers);
  const size_t begin = same_head ? head_.size() : text.find(kNumbers);
  size_t end = std::string_view::npos;
  if (begin != std::string_view::npos) {
    end = text.find(kPolicies, begin);
    if (end == std::string_view::npos) end = text.find(kBuildIds, begin);
    if (end == std::string_view::npos) end = text.size() - 1;
    if (!head_.empty() && text.substr(0, begin) == head_ && text.substr(end) == tail_ &&
        ScanNumbers(text.substr(begin, end - begin), row)) {
      return OkStatus();
    }
  }
  head_.clear();
  ASSIGN_OR_RETURN(row, CatalogRowFromJson(text));
  if (begin == std::string_view::npos) return OkStatus();
  head_ = text.substr(0, begin);
  tail_ = text.substr(end);
  return OkStatus();
}

Status CatalogLineParser::Read(std::string_view line) {
  const size_t row_at = line.find(kRowMember);
  if (row_at == std::string_view::npos || !line.ends_with('}'))
    return Corrupt("a line is not an entry");
  const std::string_view place = line.substr(0, row_at);
  if (!ScanPlace(place, one_) && !ParsePlace(place, one_)) return Corrupt("a line is not an entry");
  const BundleEntry& entry = one_.entry;
  // Readers rely on this order without checking it again.
  if (entry.header_offset > entry.end_offset ||
      entry.size > entry.end_offset - entry.header_offset) {
    return Corrupt("an entry that ends before it begins");
  }
  std::string_view row = line.substr(row_at + kRowMember.size());
  row.remove_suffix(1);
  return ReadRow(row);
}

Result<CatalogEntry> CatalogLineParser::Parse(std::string_view line) {
  RETURN_IF_ERROR(Read(line));
  CatalogEntry one = one_;
  if (one.entry.name.empty()) one.entry.name = BundleEntryName(one.entry.row);
  return one;
}

std::string PlaceOf(std::string_view namespace_name, std::string_view workload,
                    std::string_view pod) {
  // Makes the text equal to the one that a reader gets back.
  return ToValidUtf8(fmt::format("{}\n{}\n{}", namespace_name, workload, pod));
}

bool ComesBefore(const CatalogEntry& a, const CatalogEntry& b) {
  const auto rest_of = [](const CatalogEntry& one) {
    const CatalogRow& row = one.entry.row;
    return std::tie(row.container, row.type, row.start_ns, one.bundle, one.entry.header_offset);
  };
  const std::string place = PlaceOf(a.entry.row), other = PlaceOf(b.entry.row);
  return place != other ? place < other : rest_of(a) < rest_of(b);
}

uint64_t ShardHash(std::string_view namespace_name, std::string_view workload) {
  const uint64_t hash = HashText(fmt::format("{}\n{}", namespace_name, workload));
  return hash ^ (hash >> 29);  // the low bits decide
}

}  // namespace firetower::store
