// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/agent_options.h"

#include <gtest/gtest.h>

#include "daemon/config/config.h"

namespace firetower::daemon {
namespace {

// In that folder it deletes, so that it has to be one of its own.
TEST(StoreSideOptions, AnAgentKnowsWhereItKeptProfilesBefore) {
  Config config;
  config.store_url = "s3://bucket/prod";
  config.standalone = false;
  EXPECT_EQ(StoreSideOptionsOf(config).former_folder, "/var/lib/firetower");
}

TEST(StoreSideOptions, ADaemonByItselfTouchesNoFolderButItsStore) {
  Config config;
  config.store_url = "s3://bucket/prod";
  config.standalone = true;
  EXPECT_EQ(StoreSideOptionsOf(config).former_folder, "");
}

TEST(AgentOptions, StateIsBesideWhatTheDaemonWrites) {
  Config config;
  config.spool_folder = "/var/spool/firetower";
  config.store_url = "s3://bucket/prod";
  EXPECT_EQ(StateFolder(config), "/var/spool/firetower/state");
  config.store_url = "file:///srv/profiles";
  EXPECT_EQ(StateFolder(config), "/srv/profiles/state");
}

}  // namespace
}  // namespace firetower::daemon
