// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"

namespace firetower::store {

// kCorrupt when what waits under that key would be of no use to any reader: a bundle whose
// directory is not there or names bytes beyond its end, a capture without its row. Of other names
// nothing is known. Looks at directories and heads, not at the profiles.
Status CheckSpooled(std::string_view key, std::string_view bytes);

}  // namespace firetower::store
