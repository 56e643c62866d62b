// SPDX-License-Identifier: Apache-2.0
// Field numbers of OTLP's messages: opentelemetry.proto.{profiles,collector.profiles}.v1development
// and common.v1, as they are from opentelemetry-proto v1.10.0 to v1.11.1. (v1.9.0 numbers the
// fields of a Sample otherwise.)
#pragma once

#include <cstdint>

namespace firetower::profile::otlp_field {

enum Request : uint32_t { kResourceProfiles = 1, kDictionary = 2 };

enum ResourceProfiles : uint32_t { kResource = 1, kScopeProfiles = 2 };

enum Resource : uint32_t { kResourceAttribute = 1 };

enum ScopeProfiles : uint32_t { kScope = 1, kProfile = 2 };

enum Scope : uint32_t { kScopeName = 1, kScopeVersion = 2 };

enum KeyValue : uint32_t { kAttributeKey = 1, kAttributeValue = 2 };

enum AnyValue : uint32_t { kStringValue = 1, kIntValue = 3, kArrayValue = 5 };

enum ArrayValue : uint32_t { kElement = 1 };

// The tables that all profiles of a request share.
enum Dictionary : uint32_t {
  kMappingTable = 1,
  kLocationTable = 2,
  kFunctionTable = 3,
  kLinkTable = 4,
  kStringTable = 5,
  kAttributeTable = 6,
  kStackTable = 7,
};

enum Profile : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kTimeUnixNano = 3,
  kDurationNano = 4,
  kPeriodType = 5,
  kPeriod = 6,
  kProfileId = 7,
};

enum ValueType : uint32_t { kType = 1, kUnit = 2 };

enum Sample : uint32_t { kStackIndex = 1, kSampleAttribute = 2, kValue = 4 };

enum Mapping : uint32_t {
  kMemoryStart = 1,
  kMemoryLimit = 2,
  kFileOffset = 3,
  kMappingFilename = 4,
  kMappingAttribute = 5,
};

enum Stack : uint32_t { kLocationIndex = 1 };

enum Location : uint32_t {
  kMappingIndex = 1,
  kLocationAddress = 2,
  kLine = 3,
  kLocationAttribute = 4,
};

enum Line : uint32_t { kFunctionIndex = 1, kLineNumber = 2, kColumn = 3 };

enum Function : uint32_t { kName = 1, kSystemName = 2, kFilename = 3, kStartLine = 4 };

enum Link : uint32_t { kTraceId = 1, kSpanId = 2 };

enum KeyValueAndUnit : uint32_t { kKey = 1, kAnyValue = 2, kValueUnit = 3 };

enum Response : uint32_t { kPartialSuccess = 1 };

enum PartialSuccess : uint32_t { kRejectedProfiles = 1, kErrorMessage = 2 };

}  // namespace firetower::profile::otlp_field
