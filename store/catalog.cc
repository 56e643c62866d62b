// SPDX-License-Identifier: Apache-2.0
#include "store/catalog.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.h"
#include "base/json.h"
#include "profile/type.h"
#include "store/key.h"

namespace firetower::store {
namespace {

using Json = nlohmann::ordered_json;

// Wider than any window; a value beyond is damage.
constexpr double kMaxDurationSeconds = 86'400;
constexpr size_t kMaxFieldBytes = 1024;

struct TextField {
  const char* name;
  std::string CatalogRow::*member;
};
constexpr TextField kTextFields[] = {{"namespace", &CatalogRow::namespace_name},
                                     {"pod", &CatalogRow::pod},
                                     {"container", &CatalogRow::container},
                                     {"type", &CatalogRow::type},
                                     {"pod_uid", &CatalogRow::pod_uid},
                                     {"container_id", &CatalogRow::container_id},
                                     {"workload", &CatalogRow::workload},
                                     {"service_name", &CatalogRow::service_name},
                                     {"node", &CatalogRow::node},
                                     {"unit", &CatalogRow::unit}};

// Seconds with at most three decimals, whole ones as an integer.
Json SecondsJson(int64_t ns) {
  int64_t ms = ns / kNsPerMs;
  if (ms % 1000 == 0) return ms / 1000;
  return static_cast<double>(ms) / 1000.0;
}

std::string Dump(const CatalogRow& row) {
  Json json = Json::object();
  for (const TextField& field : kTextFields) {
    const std::string& text = row.*field.member;
    if (!text.empty()) json[field.name] = text.substr(0, kMaxFieldBytes);
  }
  json["start"] = SecondsJson(row.start_ns);
  json["seconds"] = SecondsJson(row.duration_ns);
  json["samples"] = row.samples;
  json["value"] = row.value;
  if (!row.capture.empty()) json["capture"] = row.capture.substr(0, kMaxFieldBytes);
  if (row.also_samples != 0) json["also_samples"] = row.also_samples;
  if (row.also_value != 0) json["also_value"] = row.also_value;
  if (!row.policies.empty()) json["policies"] = row.policies;
  if (!row.build_ids.empty()) json["build_ids"] = row.build_ids;
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Error Corrupt(std::string_view why) {
  return {ErrorCode::kCorrupt, fmt::format("catalog row: {}", why)};
}

Status ReadInteger(const Json& json, const char* name, int64_t* out) {
  auto found = json.find(name);
  if (found == json.end()) return OkStatus();
  std::optional<int64_t> integer = JsonInteger(*found);
  if (!integer) return Corrupt(fmt::format("\"{}\" is not an integer", name));
  *out = *integer;
  return OkStatus();
}

Status ReadSeconds(const Json& json, const char* name, double max_seconds, int64_t* out_ns) {
  auto found = json.find(name);
  if (found == json.end() || !found->is_number()) {
    return Corrupt(fmt::format("\"{}\" is missing or not a number", name));
  }
  auto seconds = found->get<double>();
  if (!(seconds >= 0 && seconds <= max_seconds)) {
    return Corrupt(fmt::format("\"{}\" is not in 0..{}", name, max_seconds));
  }
  // A double holds today's seconds to a quarter of a microsecond; milliseconds are kept.
  *out_ns = std::llround(seconds * 1000) * kNsPerMs;
  return OkStatus();
}

Status ReadTexts(const Json& json, const char* name, std::vector<std::string>* out) {
  auto found = json.find(name);
  if (found == json.end()) return OkStatus();
  if (!found->is_array()) return Corrupt(fmt::format("\"{}\" is not a list", name));
  for (const Json& item : *found) {
    if (!item.is_string()) return Corrupt(fmt::format("\"{}\" holds more than texts", name));
    out->push_back(item.get<std::string>());
  }
  return OkStatus();
}

// Returns the value that a type has under one of Pyroscope's labels.
std::string TypeLabel(std::string_view row_type, std::string_view label) {
  const Result<profile::ProfileType> type = profile::ParseProfileType(row_type);
  if (!type) return {};
  if (label == "__profile_type__") return type->PyroscopeId();
  profile::PyroscopeIdParts parts = profile::SplitPyroscopeId(type->PyroscopeId());
  if (label == "__type__") return std::move(parts.sample_type.type);
  if (label == "__unit__") return std::move(parts.sample_type.unit);
  if (label == "__period_type__") return std::move(parts.period_type.type);
  if (label == "__period_unit__") return std::move(parts.period_type.unit);
  return {};
}

}  // namespace

const std::vector<std::string>& CatalogLabelNames() {
  static const std::vector<std::string> names{
      "capture", "container", "container_id", "namespace", "node",
      "pod",     "pod_uid",   "service_name", "type",      "workload"};
  return names;
}

std::string LabelValueOf(const CatalogRow& row, std::string_view label) {
  if (label == "__name__") return row.type;
  if (label.starts_with("__")) return TypeLabel(row.type, label);
  if (label == "unit") return {};  // a field, not a label
  if (label == "capture") return row.capture;
  if (label == "service_name" && row.service_name.empty()) {
    return row.workload.empty() ? row.container : row.workload;
  }
  for (const TextField& field : kTextFields) {
    if (label == field.name) return row.*field.member;
  }
  return {};
}

std::string ProfileId(const CatalogRow& row) {
  uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a, 64 bits
  auto add = [&hash](std::string_view text) {
    for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    hash = (hash ^ 0xFF) * 0x100000001b3ull;  // no UTF-8 byte: keeps the fields apart
  };
  for (const TextField& field : kTextFields) add(row.*field.member);
  add(std::to_string(row.start_ns));
  if (!row.capture.empty()) add(row.capture);
  return fmt::format("{:012x}", (hash ^ hash >> 48) & 0xFFFF'FFFF'FFFFull);
}

std::string CatalogRowToJson(const CatalogRow& row) {
  std::string json = Dump(row);
  if (json.size() <= kMaxRowJsonBytes) return json;
  CatalogRow cut = row;
  while (json.size() > kMaxRowJsonBytes && !(cut.build_ids.empty() && cut.policies.empty())) {
    auto& longest = cut.build_ids.empty() ? cut.policies : cut.build_ids;
    longest.resize(longest.size() / 2);
    json = Dump(cut);
  }
  return json;
}

Result<CatalogRow> CatalogRowFromJson(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Corrupt("not a JSON object");
  CatalogRow row;
  for (const TextField& field : kTextFields) {
    auto found = json.find(field.name);
    if (found == json.end()) continue;
    if (!found->is_string()) return Corrupt(fmt::format("\"{}\" is not a text", field.name));
    row.*field.member = found->get<std::string>();
  }
  if (row.type.empty()) return Corrupt("\"type\" is missing");
  if (auto capture = json.find("capture"); capture != json.end()) {
    if (!capture->is_string()) return Corrupt("\"capture\" is not a text");
    row.capture = capture->get<std::string>();
  }
  RETURN_IF_ERROR(ReadInteger(json, "also_samples", &row.also_samples));
  RETURN_IF_ERROR(ReadInteger(json, "also_value", &row.also_value));
  RETURN_IF_ERROR(ReadSeconds(json, "start", static_cast<double>(kMaxStartSeconds), &row.start_ns));
  RETURN_IF_ERROR(ReadSeconds(json, "seconds", kMaxDurationSeconds, &row.duration_ns));
  RETURN_IF_ERROR(ReadInteger(json, "samples", &row.samples));
  RETURN_IF_ERROR(ReadInteger(json, "value", &row.value));
  RETURN_IF_ERROR(ReadTexts(json, "policies", &row.policies));
  RETURN_IF_ERROR(ReadTexts(json, "build_ids", &row.build_ids));
  return row;
}

}  // namespace firetower::store
