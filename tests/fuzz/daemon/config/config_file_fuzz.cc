// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "daemon/config/options.h"
#include "service/options/config_file.h"

// Any file is read or refused with its name, and any text is taken or refused by every option,
// which then writes what it reads back.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using firetower::service::Option;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto settings = firetower::service::ParseConfigFile(text, "f.yaml");
  if (!settings) {
    CHECK(settings.error().message().starts_with("f.yaml:"));
    return 0;
  }
  firetower::daemon::Config config;
  const std::vector<Option> options = firetower::daemon::ConfigOptions(config);
  for (const firetower::service::FileSetting& setting : *settings) {
    CHECK(setting.line >= 1);
    for (const Option& option : options) {
      if (!option.value.set(setting.value)) continue;
      std::string written = option.value.get();
      CHECK(option.value.set(written));
      CHECK(option.value.get() == written);
    }
  }
  return 0;
}
