// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cstring>

namespace firetower {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kPermission:
      return "permission";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kExhausted:
      return "exhausted";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

namespace {

ErrorCode CodeOfErrno(int sys_errno) {
  switch (sys_errno) {
    case ENOENT:
    case ESRCH:
    case ENODEV:
      return ErrorCode::kNotFound;
    case EPERM:
    case EACCES:
      return ErrorCode::kPermission;
    case EAGAIN:
    case EINTR:
    case EBUSY:
    case ETIMEDOUT:
    case ECONNREFUSED:
    case ECONNRESET:
      return ErrorCode::kUnavailable;
    case ENOSPC:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EDQUOT:
    case E2BIG:
      return ErrorCode::kExhausted;
    case EINVAL:
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
      return ErrorCode::kInvalid;
    case ENOSYS:
    case EOPNOTSUPP:
      return ErrorCode::kUnsupported;
    default:
      return ErrorCode::kInternal;
  }
}

}  // namespace

Error ErrnoError(std::string_view what, int sys_errno) {
  char buffer[128];
  // The GNU form of strerror_r returns the text, which need not lie in the buffer.
  const char* text = strerror_r(sys_errno, buffer, sizeof(buffer));
  return {CodeOfErrno(sys_errno), std::string(what) + ": " + text, sys_errno};
}

}  // namespace firetower
