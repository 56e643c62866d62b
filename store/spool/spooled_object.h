// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"

namespace firetower::store {

// Checks a waiting object. kCorrupt: no reader could use it: a bundle whose directory is missing or
// refers to bytes beyond its end, or a capture without its row. Other names are not checked. Reads
// directories and headers, not the profiles.
Status CheckSpooled(std::string_view key, std::string_view bytes);

}  // namespace firetower::store
