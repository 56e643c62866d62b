// SPDX-License-Identifier: Apache-2.0
#include "k8s/watch/object_meta.h"

#include <charconv>

namespace firetower::k8s {

std::string_view TextAt(const Node& object, std::initializer_list<std::string_view> keys) {
  const Node* at = &object;
  for (const std::string_view key : keys) {
    at = at->Find(key);
    if (at == nullptr) return "";
  }
  return at->text;
}

int64_t IntegerAt(const Node& object, std::initializer_list<std::string_view> keys) {
  const std::string_view text = TextAt(object, keys);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

ObjectMeta MetaOf(const Node& object) {
  ObjectMeta meta;
  const std::string_view name = TextAt(object, {"metadata", "name"});
  if (!name.empty()) {
    meta.key = TextAt(object, {"metadata", "namespace"});
    meta.key.append("/").append(name);
  }
  meta.uid = TextAt(object, {"metadata", "uid"});
  meta.resource_version = TextAt(object, {"metadata", "resourceVersion"});
  return meta;
}

}  // namespace firetower::k8s
