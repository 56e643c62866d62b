// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "daemon/config/config_file.h"
#include "daemon/config/options.h"

// Any file is read or refused with its name, and any text is taken or refused by every option,
// which then writes what it reads back.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using firetower::daemon::Option;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto settings = firetower::daemon::ParseConfigFile(text, "f.yaml");
  if (!settings) {
    CHECK(settings.error().message().starts_with("f.yaml:"));
    return 0;
  }
  static const std::vector<Option> options = firetower::daemon::ConfigOptions();
  firetower::daemon::Config config;
  for (const firetower::daemon::FileSetting& setting : *settings) {
    CHECK(setting.line >= 1);
    for (const Option& option : options) {
      if (!option.set(config, setting.value)) continue;
      std::string written = option.get(config);
      CHECK(option.set(config, written));
      CHECK(option.get(config) == written);
    }
  }
  return 0;
}
