// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "cli/args/spec.h"

namespace firetower::cli {

// The reason why a command failed: three lines on standard error and an exit code.
//
//   firetower: cannot reach http://127.0.0.1:7070
//     why: connection refused
//     fix: start firetowerd, or name its address with --server URL or FIRETOWER_SERVER
struct Failure {
  int exit_code = ExitCode::kFailure;
  std::string what;
  std::string why;      // may be empty
  std::string fix;      // may be empty
  int http_status = 0;  // of the server's refusal, where there was one

  std::string Text(const std::string& program) const;
};

Failure UsageFailure(const Error& error, const std::string& program, std::string_view command);

// A value or a Failure, with the interface of Result<T>.
template <typename T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : value_(std::move(value)) {}              // NOLINT(google-explicit-constructor)
  Outcome(Failure failure) : failure_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)
  explicit operator bool() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Failure& failure() const { return failure_; }

 private:
  std::optional<T> value_;
  Failure failure_;
};

}  // namespace firetower::cli
