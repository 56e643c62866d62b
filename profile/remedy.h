// SPDX-License-Identifier: Apache-2.0
// What mends a file that cannot be read, as sys_errno() of the readers' Errors where it is clear.
#pragma once

#include <cerrno>

namespace firetower::profile {

// The bytes are damaged or cut off, or there are none: the file has to be got again.
inline constexpr int kGetItAgain = EBADMSG;
// The message says what to do. So does every message of kUnsupported.
inline constexpr int kSaidByMessage = EOPNOTSUPP;

}  // namespace firetower::profile
