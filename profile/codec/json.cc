// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string>

#include "profile/export.h"

namespace firetower::profile {
namespace {

using Json = nlohmann::ordered_json;

// Addresses are texts: JavaScript's numbers end at 2^53.
std::string Hex(uint64_t value) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

Json TypeJson(const ValueType& type) { return {{"type", type.type}, {"unit", type.unit}}; }

Json LocationJson(const Profile& profile, const Location& location) {
  Json frames = Json::array();
  for (size_t line = 0; line < std::max<size_t>(location.lines.size(), 1); ++line) {
    Json frame = {{"function", profile.FrameName(location, line)}};
    if (line < location.lines.size()) {
      const Line& at = location.lines[line];
      std::string_view file = profile.string(profile.function(at.function).filename);
      if (!file.empty()) frame["file"] = file;
      if (at.line != 0) frame["line"] = at.line;
    }
    frames.push_back(std::move(frame));
  }
  Json out = {{"address", Hex(location.address)}, {"frames", std::move(frames)}};
  if (location.mapping != kNoMapping) out["mapping"] = location.mapping;
  if (profile.IsKernel(location)) out["kernel"] = true;
  return out;
}

Json SampleJson(const Profile& profile, const Sample& sample) {
  const std::vector<uint32_t> stack(sample.locations.begin(), sample.locations.end());
  Json out = {{"stack", stack}, {"values", sample.values}};
  if (sample.labels.empty()) return out;
  Json labels = Json::object();
  for (const Label& label : sample.labels) {
    const Json value =
        label.is_number != 0 ? Json(label.number) : Json(profile.string(label.string_value));
    Json& known = labels[std::string(profile.string(label.key))];
    // A key that repeats has a list of its values.
    if (!known.is_null() && !known.is_array()) known = Json::array({known});
    if (known.is_array()) {
      known.push_back(value);
    } else {
      known = value;
    }
  }
  out["labels"] = std::move(labels);
  return out;
}

}  // namespace

std::string ToJson(const Profile& profile) {
  const Meta& meta = profile.meta();
  Json types = Json::array();
  for (const ValueType& type : meta.sample_types) types.push_back(TypeJson(type));
  Json mappings = Json::array();
  for (uint32_t i = 0; i < profile.mapping_count(); ++i) {
    const Mapping& mapping = profile.mapping(i);
    mappings.push_back({{"file", profile.string(mapping.filename)},
                        {"build_id", profile.string(mapping.build_id)},
                        {"start", Hex(mapping.memory_start)},
                        {"limit", Hex(mapping.memory_limit)},
                        {"offset", Hex(mapping.file_offset)}});
  }
  Json locations = Json::array();
  for (uint32_t i = 0; i < profile.location_count(); ++i) {
    locations.push_back(LocationJson(profile, profile.location(i)));
  }
  Json samples = Json::array();
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    samples.push_back(SampleJson(profile, profile.sample(i)));
  }
  Json out = {{"version", kJsonVersion},
              {"sample_types", std::move(types)},
              {"period_type", TypeJson(meta.period_type)},
              {"period", meta.period},
              {"time_ns", std::to_string(meta.time_nanos)},
              {"duration_ns", std::to_string(meta.duration_nanos)},
              {"comments", meta.comments},
              {"mappings", std::move(mappings)},
              {"locations", std::move(locations)},
              {"samples", std::move(samples)}};
  // Foreign files may hold texts in Meta that are not UTF-8: replaced rather than thrown over.
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace firetower::profile
