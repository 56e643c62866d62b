// SPDX-License-Identifier: Apache-2.0
// The bounds that several fields of a policy share; they equal the schema's.
#pragma once

#include <cstddef>
#include <string_view>

#include "k8s/document/quantity.h"

namespace firetower::k8s {

enum class Presence { kOptional, kRequired };
enum class ListType { kAtomic, kSet, kMap };

struct TextBounds {  // lengths in characters, as the schema counts
  size_t min_length = 0;
  size_t max_length = 0;
  std::string_view pattern = {};  // empty: any text
};

struct ListBounds {
  size_t max_items = 0;
  size_t min_items = 0;
  ListType type = ListType::kAtomic;
  std::string_view keys = {};  // of kMap, comma-separated
};

inline constexpr TextBounds kName{1, 63, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"};
inline constexpr TextBounds kDnsName{1, 253, "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"};
inline constexpr TextBounds kCpuList{1, 256,
                                     "^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$"};
inline constexpr TextBounds kThreadName{1, 15};  // TASK_COMM_LEN without its NUL
inline constexpr TextBounds kLabelValue{0, 63};
inline constexpr size_t kAllChoices = 64;

inline bool AboveZero(const Quantity& quantity) { return quantity > Quantity{}; }

}  // namespace firetower::k8s
