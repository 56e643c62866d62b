// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "daemon/config/command_line.h"
#include "daemon/config/options.h"

namespace firetower::daemon {
namespace {

// To update the page: FIRETOWER_UPDATE_GOLDEN=1 <this test>, or firetowerd --help-markdown.
TEST(Help, ReferencePageIsUpToDate) {
  const std::string path = FIRETOWER_SOURCE_DIR "/docs/reference/configuration.md";
  if (std::getenv("FIRETOWER_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << ConfigurationMarkdown();
  }
  auto page = ReadFile(path);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(*page, ConfigurationMarkdown());
}

TEST(Help, NamesEveryOptionAndFitsATerminal) {
  std::string help = HelpText();
  Config defaults;
  for (const service::Option& option : ConfigOptions(defaults)) {
    EXPECT_NE(help.find("--" + std::string(option.name)), std::string::npos) << option.name;
  }
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

}  // namespace
}  // namespace firetower::daemon
