// SPDX-License-Identifier: Apache-2.0
// OpenTelemetry's profiles, opentelemetry.proto.profiles.v1development, as of opentelemetry-proto
// v1.10.0 to v1.11.1: what a receiver of OTLP/HTTP is sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/otlp/dictionary.h"
#include "profile/profile.h"

namespace firetower::proto::otlp {
class ScopeProfiles;
class ValueType;
}  // namespace firetower::proto::otlp

namespace firetower::profile {

// Of a resource, by OpenTelemetry's semantic conventions: {"k8s.pod.name", "cart-0"}.
struct OtlpAttribute {
  std::string key = {};
  std::string value = {};  // empty: there is none
};

// An ExportProfilesServiceRequest, to which profiles are added one after the other. They share one
// dictionary. A protocol's profile has one type of value, so each of ours becomes one for each of
// its types that has values, its default type first. Keys of attributes are unique: the labels of
// a sample that share one become an array. Times of single samples and comments have no place
// there. The same calls give the same bytes. Used by one thread.
class OtlpRequest {
 public:
  // What made the profiles: an instrumentation scope.
  OtlpRequest(std::string scope_name, std::string scope_version)
      : scope_name_(std::move(scope_name)), scope_version_(std::move(scope_version)) {}

  // `identity` makes the ids of these profiles: the same one gives the same ids, whatever else.
  void Add(const Profile& profile, std::span<const OtlpAttribute> resource,
           std::string_view identity);

  // Of the message so far, about.
  size_t bytes() const { return resources_.size() + dictionary_.bytes(); }
  // The message. The next one begins.
  std::string Take();

 private:
  // What samples of all value types share.
  struct SamplePlace {
    int32_t stack = 0;
    int32_t link = 0;
    uint32_t first_attribute = 0;  // in attributes_
    uint32_t attribute_count = 0;
  };

  struct NamedLabel {
    std::string_view attribute;
    const Label* label = nullptr;
  };

  void PlaceSamples(const Profile& profile);
  // Returns the link of the span that labels_ name, and takes these away. 0: they name none.
  int32_t TakeLink(const Profile& profile);
  void PlaceLocations(const Profile& profile);
  int32_t AddAttribute(const Profile& profile, std::span<const NamedLabel> labels);
  void SetType(const ValueType& from, proto::otlp::ValueType* to);
  // Adds the samples that have a value of that type; nothing where there is none.
  void AddProfile(const Profile& profile, uint32_t value, std::string_view identity,
                  proto::otlp::ScopeProfiles* to);

  const std::string scope_name_;
  const std::string scope_version_;
  OtlpDictionary dictionary_;
  std::string resources_;
  // Of the profile that is being added.
  std::vector<int32_t> locations_;  // where each of its locations is in the dictionary
  std::vector<SamplePlace> samples_;
  std::vector<int32_t> attributes_;
  std::vector<NamedLabel> labels_;  // of one sample, those of one attribute side by side
};

// 16 bytes, the same for the same text: for the ids that protocols tell copies of a profile by. Not
// against adversaries.
std::array<uint8_t, 16> StableId(std::string_view text);

}  // namespace firetower::profile
