// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;

class ClusterAccess : public ::testing::Test {
 protected:
  ~ClusterAccess() override { ::unlink(path_.c_str()); }

  const std::string path_ = ::testing::TempDir() + "/access-" + std::to_string(::getpid());
  Config config_;
};

TEST_F(ClusterAccess, IsNotWantedByAMachineAlone) {
  config_.standalone = true;
  auto access = ClusterAccessOf(config_, "10.0.0.1", "443");
  ASSERT_TRUE(access);
  EXPECT_FALSE(access->has_value());
}

TEST_F(ClusterAccess, ComesFromTheKubeconfigAlsoOnAMachineAlone) {
  std::ofstream(path_) << "clusters: [{name: c, cluster: {server: 'https://[fd00::1]:6443'}}]\n"
                          "users: [{name: u, user: {token: t}}]\n"
                          "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
                          "current-context: x\n";
  config_.kubeconfig_path = path_;
  for (bool standalone : {true, false}) {
    config_.standalone = standalone;
    auto access = ClusterAccessOf(config_, "10.0.0.1", "443");
    ASSERT_TRUE(access) << access.error().message();
    EXPECT_EQ((*access)->server.host, "fd00::1");
  }
}

TEST_F(ClusterAccess, OutsideAPodSaysWhatToDo) {
  auto access = ClusterAccessOf(config_, "", "");
  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().code(), ErrorCode::kInvalid);
  EXPECT_THAT(access.error().message(), HasSubstr("--kubeconfig"));
  EXPECT_THAT(access.error().message(), HasSubstr("--standalone"));
}

TEST_F(ClusterAccess, NamesTheFlagOfAFileThatIsWrong) {
  config_.kubeconfig_path = "/nonexistent/kubeconfig";
  auto access = ClusterAccessOf(config_, "", "");
  ASSERT_FALSE(access);
  EXPECT_THAT(access.error().message(), HasSubstr("--kubeconfig: "));
  EXPECT_THAT(access.error().message(), HasSubstr("/nonexistent/kubeconfig"));
}

}  // namespace
}  // namespace firetower::daemon
