// SPDX-License-Identifier: Apache-2.0
#include "profile/top/process_name.h"

namespace firetower::profile {

std::string_view ProcessName(const Profile& profile, const Sample& sample) {
  for (const Label& label : sample.labels) {
    if (profile.string(label.key) == "comm") return profile.string(label.string_value);
  }
  return {};
}

}  // namespace firetower::profile
