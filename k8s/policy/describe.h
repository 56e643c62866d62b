// SPDX-License-Identifier: Apache-2.0
// The fields that the policy parser knows, with their bounds and rules: the other reading of
// fields.h. Compared with the CRDs by a test, both ways.
#pragma once

#include <map>
#include <string>

namespace firetower::k8s {

// Path ("spec.profiles[].type", "spec" itself) -> attribute -> value, with the schema's names of
// attributes: type (integer, boolean, string, quantity, object, array, map), required, default,
// minimum, maximum, minLength, maxLength, pattern, enum (comma-separated), minItems, maxItems,
// listType, listKeys, maxEntries, and `rule <message>` -> the rule's fieldPath on objects.
using FieldTable = std::map<std::string, std::map<std::string, std::string>>;

FieldTable DescribePolicy(bool cluster);

}  // namespace firetower::k8s
