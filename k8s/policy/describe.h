// SPDX-License-Identifier: Apache-2.0
// Lists the fields that the policy parser knows, with their bounds and rules, from fields.h. A test
// compares them with the CRDs, in both directions.
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
