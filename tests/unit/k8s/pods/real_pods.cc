// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/k8s/pods/real_pods.h"

#include "base/file.h"

namespace firetower::k8s {

std::string RealText(const std::string& name) {
  const std::string folder = FIRETOWER_SOURCE_DIR "/tests/unit/k8s/pods/testdata/";
  Result<std::string> text = ReadFile(folder + name);
  EXPECT_TRUE(text) << text.error().message();
  return text.value_or("");
}

}  // namespace firetower::k8s
