// SPDX-License-Identifier: Apache-2.0
// Exceptions thrown through frames with and without something to destroy, and caught.
#include <cstdlib>
#include <ctime>
#include <stdexcept>

#include "tests/programs/truth/truth.h"

namespace {
volatile long sum;

double Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
}  // namespace

extern "C" {
FRAME void destroyed(long x) {
  for (long i = 0; i < 500; ++i) sum = sum + x;
}
FRAME long thrower(long x) {
  if (x % 4 != 0) throw std::runtime_error("three of four");
  return x;
}
}

namespace {
struct Guard {
  long x;
  ~Guard() { destroyed(x); }
};
}  // namespace

extern "C" {
FRAME long plain(long x) { return thrower(x) + 1; }
FRAME long guarded(long x) {
  Guard guard{x};
  return plain(x + 1) * x;
}
FRAME long rethrows(long x) {
  try {
    return guarded(x);
  } catch (const std::logic_error&) {
    return 1;
  } catch (...) {
    throw;
  }
}
FRAME void exceptions_run() {
  for (long i = 0; i < 1000; ++i) {
    try {
      sum = sum + rethrows(i);
    } catch (const std::exception& error) {
      sum = sum + error.what()[0];
    }
  }
}
}

int main(int argc, char** argv) {
  STATE("exceptions_run rethrows guarded plain thrower *");
  STATE("exceptions_run rethrows guarded destroyed");
  STATE("exceptions_run rethrows guarded *");
  STATE("exceptions_run rethrows *");
  STATE("exceptions_run *");
  STATE("*");
  // libgcc's last act before a landing pad: what is to come is written over the registers that
  // these saved, and so over what says where their callers' frames end.
  puts(
      "unsaid uw_install_context_1 _Unwind_RaiseException _Unwind_Resume_or_Rethrow "
      "_Unwind_Resume");
  fflush(stdout);
  const double end = Now() + (argc > 1 ? atof(argv[1]) : 3600);
  while (Now() < end) exceptions_run();
}
