// SPDX-License-Identifier: Apache-2.0
#include "profile/top/process_name.h"

namespace firetower::profile {

std::string_view LabelText(const Profile& profile, const Sample& sample, std::string_view key) {
  for (const Label& label : sample.labels) {
    if (profile.string(label.key) == key) return profile.string(label.string_value);
  }
  return {};
}

std::string_view ProcessName(const Profile& profile, const Sample& sample) {
  return LabelText(profile, sample, "comm");
}

}  // namespace firetower::profile
