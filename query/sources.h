// SPDX-License-Identifier: Apache-2.0
// What the API asks of the program it runs in. All are called from several threads at once and
// must outlive the Api.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/query.h"

namespace firetower::query {

// Profiles that are not stored yet.
class LiveSource {
 public:
  virtual ~LiveSource() = default;
  // A snapshot. A profile that has reached the store must no longer be in it.
  virtual std::vector<store::OpenProfile> OpenProfiles() const = 0;
};

class MetricsSource {
 public:
  struct Page {
    std::string content_type;
    std::string body;
  };
  virtual ~MetricsSource() = default;
  // `accept`: the request's Accept header; the source picks the format.
  virtual Page Render(std::string_view accept) const = 0;
};

// From what matters least. kSkip: not looked at; of what a person's client checks, never a
// server's.
enum class CheckStatus { kSkip, kOk, kWarn, kFail };
std::string_view CheckStatusName(CheckStatus status);  // "skip", "ok", "warn", "fail"

struct Check {
  std::string name;
  CheckStatus status = CheckStatus::kOk;
  std::string message;
  std::string fix;  // what to do; empty when ok
};

class DoctorSource {
 public:
  virtual ~DoctorSource() = default;
  virtual std::vector<Check> Checks() const = 0;
};

class ReadySource {
 public:
  virtual ~ReadySource() = default;
  // Empty: sampling. Else what is still missing, a line each.
  virtual std::vector<std::string> NotReadyReasons() const = 0;
};

}  // namespace firetower::query
