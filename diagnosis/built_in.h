// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace firetower::diagnosis {

// The table of signatures.json. A raw string of C++ has 64 KiB at most.
extern const char* const kBuiltInSignatures;

}  // namespace firetower::diagnosis
