// SPDX-License-Identifier: Apache-2.0
#include "profile/otlp/request.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/hash.h"
#include "base/json.h"
#include "base/text/hex.h"
#include "profile/comments.h"
#include "proto/otlp/profiles.pb.h"

namespace firetower::profile {
namespace {

using Request = proto::otlp::ExportProfilesServiceRequest;

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

void AddAttributes(std::span<const OtlpAttribute> attributes, proto::otlp::Resource* to) {
  for (const OtlpAttribute& attribute : attributes) {
    if (attribute.value.empty()) continue;
    proto::otlp::KeyValue* pair = to->add_attributes();
    pair->set_key(attribute.key);
    pair->mutable_value()->set_string_value(ToValidUtf8(attribute.value));
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
  std::vector<int32_t> functions(profile.function_count());
  for (uint32_t i = 0; i < functions.size(); ++i)
    functions[i] = dictionary_.AddFunction(profile, profile.function(i));
  std::vector<int32_t> mappings(profile.mapping_count());
  for (uint32_t i = 0; i < mappings.size(); ++i)
    mappings[i] = dictionary_.AddMapping(profile, profile.mapping(i));
  locations_.resize(profile.location_count());
  for (uint32_t i = 0; i < locations_.size(); ++i) {
    const Location location = profile.location(i);
    const int32_t mapping = location.mapping == kNoMapping ? 0 : mappings[location.mapping];
    locations_[i] = dictionary_.AddLocation(profile, location, mapping, functions);
  }
}

int32_t OtlpRequest::AddAttribute(const Profile& profile, std::span<const NamedLabel> labels) {
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

int32_t OtlpRequest::TakeLink(const Profile& profile) {
  const auto find = [&](std::string_view key) {
    return std::ranges::find(labels_, key, &NamedLabel::attribute);
  };
  const auto trace = find(kTraceLabel), span = find(kSpanLabel);
  if (trace == labels_.end() || span == labels_.end()) return 0;
  const auto trace_id = FromHex(profile.string(trace->label->string_value));
  const auto span_id = FromHex(profile.string(span->label->string_value));
  if (!trace_id || trace_id->size() != 16 || !span_id || span_id->size() != 8) return 0;
  const Label *trace_label = trace->label, *span_label = span->label;
  std::erase_if(labels_, [&](const NamedLabel& named) {
    return named.label == trace_label || named.label == span_label;
  });
  return dictionary_.AddLink(*trace_id, *span_id);
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
    samples_[i].link = TakeLink(profile);
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

void OtlpRequest::SetType(const ValueType& from, proto::otlp::ValueType* to) {
  to->set_type_strindex(dictionary_.AddText(ToValidUtf8(from.type)));
  to->set_unit_strindex(dictionary_.AddText(ToValidUtf8(from.unit)));
}

void OtlpRequest::AddProfile(const Profile& profile, uint32_t value, std::string_view identity,
                             proto::otlp::ScopeProfiles* to) {
  proto::otlp::Profile* out = nullptr;  // made for the first sample
  for (uint32_t i = 0; i < samples_.size(); ++i) {
    const int64_t amount = profile.sample(i).values[value];
    if (amount == 0) continue;
    if (out == nullptr) out = to->add_profiles();
    const SamplePlace& place = samples_[i];
    proto::otlp::Sample* sample = out->add_samples();
    sample->set_stack_index(place.stack);
    sample->set_link_index(place.link);
    for (uint32_t at = 0; at < place.attribute_count; ++at)
      sample->add_attribute_indices(attributes_[place.first_attribute + at]);
    sample->add_values(amount);
  }
  if (out == nullptr) return;
  const Meta& meta = profile.meta();
  const ValueType& type = meta.sample_types[value];
  SetType(type, out->mutable_sample_type());
  // The period type is of sampling that has a period.
  if (meta.period != 0 && meta.period_type != ValueType{})
    SetType(meta.period_type, out->mutable_period_type());
  const std::array<uint8_t, 16> id = StableId(std::string(identity) + '\0' + type.type);
  out->set_time_unix_nano(static_cast<uint64_t>(meta.time_nanos));
  out->set_duration_nano(static_cast<uint64_t>(meta.duration_nanos));
  out->set_period(meta.period);
  out->set_profile_id(id.data(), id.size());
}

void OtlpRequest::Add(const Profile& profile, std::span<const OtlpAttribute> resource,
                      std::string_view identity) {
  PlaceLocations(profile);
  PlaceSamples(profile);
  // Thousands of samples, freed at once.
  google::protobuf::Arena arena;
  auto* request = google::protobuf::Arena::CreateMessage<Request>(&arena);
  proto::otlp::ResourceProfiles* profiles = request->add_resource_profiles();
  AddAttributes(resource, profiles->mutable_resource());
  proto::otlp::ScopeProfiles* scope_profiles = profiles->add_scope_profiles();
  scope_profiles->mutable_scope()->set_name(scope_name_);
  scope_profiles->mutable_scope()->set_version(scope_version_);
  for (const uint32_t value : OrderOfValues(profile))
    AddProfile(profile, value, identity, scope_profiles);
  // Encoded messages one behind the other are one message with the fields of all.
  request->AppendToString(&resources_);
}

std::string OtlpRequest::Take() {
  google::protobuf::UnknownFieldSet rest;
  *rest.AddLengthDelimited(Request::kDictionaryFieldNumber) = dictionary_.Encode();
  dictionary_.Clear();
  std::string encoded;
  rest.SerializeToString(&encoded);
  return std::exchange(resources_, {}) + encoded;
}

}  // namespace firetower::profile
