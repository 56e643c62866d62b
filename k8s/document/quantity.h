// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::k8s {

// A Kubernetes quantity, exact to a billionth: `50m`, `1.5`, `1Gi`. Policies accept the subset
// without signs and exponents.
struct Quantity {
  int64_t units = 0;
  int32_t nanos = 0;  // 0..999,999,999, added to units

  auto operator<=>(const Quantity&) const = default;

  // Round up, as upstream's MilliValue() and Value() do; INT64_MAX on overflow.
  int64_t MilliRoundedUp() const;
  int64_t RoundedUp() const;
};

// The pattern of quantities in the CRDs, and their longest text.
inline constexpr std::string_view kQuantityPattern = "^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$";
inline constexpr size_t kMaxQuantityBytes = 32;

// Parses a quantity. kInvalid: the text does not match the pattern. kExhausted: the value is above
// 2^63 - 1. Rounds a fraction below a billionth up, as upstream does.
Result<Quantity> ParseQuantity(std::string_view text);

}  // namespace firetower::k8s
