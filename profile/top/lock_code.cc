// SPDX-License-Identifier: Apache-2.0
#include "profile/top/lock_code.h"

#include <algorithm>

namespace firetower::profile {
namespace {

// Functions of programs without a C library of their own in a file: linked statically, or Go.
constexpr std::string_view kLockCode[] = {"pthread_",
                                          "__pthread_",
                                          "___pthread_",
                                          "lll_lock",
                                          "__lll_",
                                          "__futex",
                                          "futex_",
                                          "__new_sem_",
                                          "sem_",
                                          "__timedwait",
                                          "__gthread_",
                                          "std::mutex",
                                          "std::__mutex",
                                          "std::unique_lock",
                                          "std::lock_guard",
                                          "std::scoped_lock",
                                          "std::condition_variable",
                                          "std::shared_mutex",
                                          "std::recursive_mutex",
                                          "runtime.futex",
                                          "runtime.lock",
                                          "runtime.note",
                                          "runtime.mPark",
                                          "std::sys::",
                                          "std::sync::",
                                          "core::",
                                          "parking_lot",
                                          "syscall",
                                          "__syscall"};
constexpr std::string_view kLockModules[] = {"libc.so", "libc-2",    "libpthread",
                                             "ld-musl", "libstdc++", "libjvm.so"};

}  // namespace

bool IsLockCode(std::string_view function, std::string_view module) {
  const auto begins = [](std::string_view text) {
    return [text](std::string_view begin) { return text.starts_with(begin); };
  };
  return std::ranges::any_of(kLockModules, begins(module)) ||
         std::ranges::any_of(kLockCode, begins(function));
}

bool IsSchedulerCode(std::string_view function) {
  return function.find("schedule") != std::string_view::npos;
}

}  // namespace firetower::profile
