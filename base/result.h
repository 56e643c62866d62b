// SPDX-License-Identifier: Apache-2.0
// Result<T> holds the value of an operation that can fail, or the Error that says why it failed. It
// has a part of std::expected's interface, so that it can become an alias once the compiler has
// that type.
//
//   Result<UniqueFd> OpenStore(const std::string& path);
//   ASSIGN_OR_RETURN(UniqueFd fd, OpenStore(path));
//   RETURN_IF_ERROR(Sync(fd).Context("store " + path));
//
// Expected losses (a process is gone, a queue is full) are not Errors: they are counted under a
// reason.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace firetower {

// Kinds of errors. Callers branch on the code; people read the message.
enum class ErrorCode {
  kInvalid,      // the input is wrong: say what, why and what is allowed
  kNotFound,     // no such thing
  kPermission,   // refused: say which capability or right is missing
  kUnavailable,  // may go through later
  kExhausted,    // a stated bound was reached
  kCorrupt,      // bytes that are not what they should be
  kUnsupported,  // this kernel, file or version cannot
  kInternal,     // anything else
};

std::string_view ErrorCodeName(ErrorCode code);

class Error {
 public:
  Error(ErrorCode code, std::string message, int sys_errno = 0)
      : code_(code), sys_errno_(sys_errno), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  int sys_errno() const { return sys_errno_; }
  const std::string& message() const { return message_; }

  // Puts the place or the object of the failure in front: "store /x: rename: permission denied".
  Error& Context(std::string_view what) {
    message_.insert(0, std::string(what) + ": ");
    return *this;
  }

 private:
  ErrorCode code_;
  int sys_errno_;
  std::string message_;
};

// Makes an Error from errno: "<what>: <strerror>", with the code that fits the number.
Error ErrnoError(std::string_view what, int sys_errno);
inline Error ErrnoError(std::string_view what) { return ErrnoError(what, errno); }

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  // Implicit on purpose: `return value;` and `return Error(…);` both read naturally.
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return Checked(); }
  const T& value() const& { return const_cast<Result*>(this)->Checked(); }
  T&& value() && { return std::move(Checked()); }
  T& operator*() & { return Checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(Checked()); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &value(); }
  T value_or(T other) const& { return has_value() ? value() : std::move(other); }
  T value_or(T other) && { return has_value() ? std::move(Checked()) : std::move(other); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

  Result& Context(std::string_view what) & {
    if (!has_value()) std::get<1>(state_).Context(what);
    return *this;
  }
  Result&& Context(std::string_view what) && {
    if (!has_value()) std::get<1>(state_).Context(what);
    return std::move(*this);
  }

 private:
  T& Checked() {
    if (!has_value()) std::abort();  // A broken invariant: the caller did not look.
    return std::get<0>(state_);
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

  Result& Context(std::string_view what) & {
    if (error_) error_->Context(what);
    return *this;
  }
  Result&& Context(std::string_view what) && {
    if (error_) error_->Context(what);
    return std::move(*this);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;
inline Status OkStatus() { return {}; }

}  // namespace firetower

#define FIRETOWER_CONCAT_INNER(a, b) a##b
#define FIRETOWER_CONCAT(a, b) FIRETOWER_CONCAT_INNER(a, b)

// Returns the error of a Status or Result from the calling function.
#define RETURN_IF_ERROR(expression)                                    \
  do {                                                                 \
    auto firetower_status = (expression);                              \
    if (!firetower_status) return std::move(firetower_status).error(); \
  } while (0)

// `ASSIGN_OR_RETURN(auto x, F());`: x is F's value, or the calling function returns F's error.
#define ASSIGN_OR_RETURN(declaration, expression)                            \
  auto FIRETOWER_CONCAT(firetower_result_, __LINE__) = (expression);         \
  if (!FIRETOWER_CONCAT(firetower_result_, __LINE__))                        \
    return std::move(FIRETOWER_CONCAT(firetower_result_, __LINE__)).error(); \
  declaration = *std::move(FIRETOWER_CONCAT(firetower_result_, __LINE__))
