// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "service/metrics/exposition.h"

namespace firetower::service {

// The format for an Accept header (RFC 9110 §12.5.1): OpenMetrics only where it is named in version
// 1.0.0, 0.0.1 or none, and weighs at least as much as what admits the text format; else text.
ExpositionFormat NegotiateFormat(std::string_view accept);

// The Content-Type of an answer.
std::string_view ContentTypeOf(ExpositionFormat format);

}  // namespace firetower::service
