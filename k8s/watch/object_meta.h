// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "k8s/document/node.h"

namespace firetower::k8s {

struct ObjectMeta {
  std::string key;  // "namespace/name", "/name" for cluster-wide objects; "" without a name
  std::string uid;
  std::string resource_version;
};

ObjectMeta MetaOf(const Node& object);

// Returns the text at a path of keys, "" when there is none.
std::string_view TextAt(const Node& object, std::initializer_list<std::string_view> keys);
// Returns the integer at a path of keys; 0 when there is none.
int64_t IntegerAt(const Node& object, std::initializer_list<std::string_view> keys);

}  // namespace firetower::k8s
