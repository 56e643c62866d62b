// SPDX-License-Identifier: Apache-2.0
#include "profile/otlp/request.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/hash.h"
#include "base/json.h"
#include "profile/otlp/fields.h"

namespace firetower::profile {
namespace {

// Labels of our samples, and the attributes that OpenTelemetry has for them; its own eBPF profiler
// calls a thread and a process so, too. What is not here keeps its name.
struct LabelName {
  std::string_view label;
  std::string_view attribute;
};
constexpr LabelName kLabelNames[] = {{"thread", "thread.name"},
                                     {"comm", "process.executable.name"},
                                     {"cpu", "cpu.logical_number"},
                                     {"cut", "firetower.cut"}};

std::string_view AttributeName(std::string_view label) {
  const auto* found = std::ranges::find(kLabelNames, label, &LabelName::label);
  return found == std::end(kLabelNames) ? label : found->attribute;
}

// Formats a label's value; a number has its unit behind it.
std::string TextOf(const Profile& profile, const Label& label) {
  if (label.is_number == 0) return std::string(profile.string(label.string_value));
  const std::string_view unit = profile.string(label.unit);
  std::string text = std::to_string(label.number);
  if (!unit.empty()) text.append(" ").append(unit);
  return text;
}

void AppendAttributes(std::span<const OtlpAttribute> attributes, WireWriter* to) {
  WireWriter value;
  WireWriter pair;
  for (const OtlpAttribute& attribute : attributes) {
    if (attribute.value.empty()) continue;
    value.Clear();
    value.Bytes(otlp_field::kStringValue, ToValidUtf8(attribute.value));
    pair.Clear();
    pair.Bytes(otlp_field::kAttributeKey, attribute.key);
    pair.Bytes(otlp_field::kAttributeValue, value.bytes());
    to->Bytes(otlp_field::kResourceAttribute, pair.bytes());
  }
}

// That of the default value first: it is what a viewer shows.
std::vector<uint32_t> OrderOfValues(const Profile& profile) {
  if (profile.sample_types().empty()) return {};
  const uint32_t first = profile.DefaultValueIndex();
  std::vector<uint32_t> order{first};
  for (uint32_t i = 0; i < profile.sample_types().size(); ++i) {
    if (i != first) order.push_back(i);
  }
  return order;
}

}  // namespace

std::array<uint8_t, 16> StableId(std::string_view text) {
  std::array<uint8_t, 16> id = {};
  uint64_t hash = HashText(text);
  for (size_t i = 0; i < id.size(); ++i) {
    if (i == sizeof(hash)) hash = HashText(text, HashWord(hash, i));
    id[i] = static_cast<uint8_t>(hash >> (8 * (i % sizeof(hash))) & 0xff);
  }
  return id;
}

void OtlpRequest::PlaceLocations(const Profile& profile) {
  std::vector<uint32_t> functions(profile.function_count());
  for (uint32_t i = 0; i < functions.size(); ++i)
    functions[i] = dictionary_.AddFunction(profile, profile.function(i));
  std::vector<uint32_t> mappings(profile.mapping_count());
  for (uint32_t i = 0; i < mappings.size(); ++i)
    mappings[i] = dictionary_.AddMapping(profile, profile.mapping(i));
  locations_.resize(profile.location_count());
  for (uint32_t i = 0; i < locations_.size(); ++i) {
    const Location location = profile.location(i);
    const uint32_t mapping = location.mapping == kNoMapping ? 0 : mappings[location.mapping];
    locations_[i] = dictionary_.AddLocation(profile, location, mapping, functions);
  }
}

uint32_t OtlpRequest::AddAttribute(const Profile& profile, std::span<const NamedLabel> labels) {
  const std::string_view key = labels.front().attribute;
  const Label& first = *labels.front().label;
  if (labels.size() == 1 && first.is_number == 0)
    return dictionary_.AddAttribute(key, profile.string(first.string_value));
  const std::string_view unit = profile.string(first.unit);
  if (labels.size() == 1) return dictionary_.AddAttribute(key, first.number, unit);
  // An attribute has one unit, and OpenTelemetry asks for arrays of one type: mixed values are
  // text.
  const bool are_numbers = std::ranges::all_of(labels, [&](const NamedLabel& named) {
    return named.label->is_number != 0 && named.label->unit == first.unit;
  });
  if (are_numbers) {
    std::vector<int64_t> numbers;
    for (const NamedLabel& named : labels) numbers.push_back(named.label->number);
    return dictionary_.AddAttribute(key, numbers, unit);
  }
  std::vector<std::string> texts;
  for (const NamedLabel& named : labels) texts.push_back(TextOf(profile, *named.label));
  return dictionary_.AddAttribute(key, texts);
}

void OtlpRequest::PlaceSamples(const Profile& profile) {
  attributes_.clear();
  samples_.resize(profile.sample_count());
  for (uint32_t i = 0; i < samples_.size(); ++i) {
    const Sample sample = profile.sample(i);
    samples_[i] = {.stack = dictionary_.AddStack(sample.locations, locations_),
                   .first_attribute = static_cast<uint32_t>(attributes_.size())};
    labels_.clear();
    for (const Label& label : sample.labels)
      labels_.push_back({AttributeName(profile.string(label.key)), &label});
    // Not by key: "thread" and "thread.name" are one attribute.
    std::ranges::sort(labels_, {}, [](const NamedLabel& named) {
      return std::pair(named.attribute, named.label);
    });
    for (auto first = labels_.begin(); first != labels_.end();) {
      const auto end = std::find_if(first, labels_.end(), [&](const NamedLabel& named) {
        return named.attribute != first->attribute;
      });
      attributes_.push_back(AddAttribute(profile, std::span(first, end)));
      ++samples_[i].attribute_count;
      first = end;
    }
  }
}

std::string OtlpRequest::EncodeProfile(const Profile& profile, uint32_t value,
                                       std::string_view identity) {
  const Meta& meta = profile.meta();
  std::string out;
  WireWriter entry;
  const auto append_type = [&](uint32_t field, const ValueType& type) {
    entry.Number(otlp_field::kType, dictionary_.AddText(ToValidUtf8(type.type)));
    entry.Number(otlp_field::kUnit, dictionary_.AddText(ToValidUtf8(type.unit)));
    entry.MoveTo(&out, field);
  };
  for (uint32_t i = 0; i < samples_.size(); ++i) {
    const int64_t amount = profile.sample(i).values[value];
    if (amount == 0) continue;
    const SamplePlace& place = samples_[i];
    entry.Number(otlp_field::kStackIndex, place.stack);
    entry.Packed(otlp_field::kSampleAttribute, place.attribute_count,
                 [&](size_t at) { return attributes_[place.first_attribute + at]; });
    entry.Packed(otlp_field::kValue, 1, [&](size_t) { return amount; });
    entry.MoveTo(&out, otlp_field::kSample);
  }
  if (out.empty()) return out;
  const ValueType& type = meta.sample_types[value];
  append_type(otlp_field::kSampleType, type);
  // The period type is of sampling that has a period.
  if (meta.period != 0 && meta.period_type != ValueType{})
    append_type(otlp_field::kPeriodType, meta.period_type);
  const std::array<uint8_t, 16> id = StableId(std::string(identity) + '\0' + type.type);
  entry.Fixed64(otlp_field::kTimeUnixNano, static_cast<uint64_t>(meta.time_nanos));
  entry.Number(otlp_field::kDurationNano, meta.duration_nanos);
  entry.Number(otlp_field::kPeriod, meta.period);
  entry.Bytes(otlp_field::kProfileId, {reinterpret_cast<const char*>(id.data()), id.size()});
  out.append(entry.bytes());
  return out;
}

void OtlpRequest::Add(const Profile& profile, std::span<const OtlpAttribute> resource,
                      std::string_view identity) {
  PlaceLocations(profile);
  PlaceSamples(profile);
  WireWriter part;
  part.Bytes(otlp_field::kScopeName, scope_name_);
  part.Bytes(otlp_field::kScopeVersion, scope_version_);
  std::string scope_profiles;
  part.MoveTo(&scope_profiles, otlp_field::kScope);
  for (const uint32_t value : OrderOfValues(profile)) {
    const std::string encoded = EncodeProfile(profile, value, identity);
    if (encoded.empty()) continue;
    part.Bytes(otlp_field::kProfile, encoded);
    scope_profiles.append(part.bytes());
    part.Clear();
  }
  std::string message;
  AppendAttributes(resource, &part);
  part.MoveTo(&message, otlp_field::kResource);
  part.Bytes(otlp_field::kScopeProfiles, scope_profiles);
  message.append(part.bytes());
  part.Clear();
  part.Bytes(otlp_field::kResourceProfiles, message);
  resources_.append(part.bytes());
}

std::string OtlpRequest::Take() {
  std::string message = std::move(resources_);
  resources_.clear();
  dictionary_.AppendTo(&message);
  dictionary_.Clear();
  return message;
}

}  // namespace firetower::profile
