// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace firetower::daemon {
namespace {

using service::Option;
using service::SetOption;

const Option& Find(const std::vector<Option>& options, std::string_view name) {
  auto found = std::find_if(options.begin(), options.end(),
                            [&](const Option& option) { return option.name == name; });
  EXPECT_NE(found, options.end()) << name;
  return *found;
}

TEST(Options, EveryDefaultIsAllowed) {
  Config config;
  for (const Option& option : ConfigOptions(config)) {
    if (!option.default_text.empty()) continue;
    std::string value = option.value.get();
    Status status = option.value.set(value);
    EXPECT_TRUE(status) << option.name << " refuses its default '" << value << "'";
    EXPECT_EQ(option.value.get(), value) << option.name;
  }
  EXPECT_TRUE(CheckConfig(Config{}));
}

TEST(Options, NamesAreUniqueAndGroupsStandTogether) {
  std::set<std::string_view> names;
  std::set<std::string_view> closed_groups;
  std::string_view group;
  Config config;
  for (const Option& option : ConfigOptions(config)) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    if (option.group == group) continue;
    EXPECT_TRUE(closed_groups.insert(option.group).second) << option.group;
    group = option.group;
  }
}

struct Case {
  const char* name;
  const char* good;  // spelt as `get` writes it
  const char* bad;   // nullptr: anything is taken
};

TEST(Options, HoldTheirBounds) {
  const Case cases[] = {
      {"standalone", "true", "1"},
      {"kubeconfig", "/etc/firetower/kubeconfig", nullptr},
      {"listen", "[::1]:80", "::1:80"},
      {"listen", ":0", "localhost"},
      {"listen", "localhost:65535", "localhost:65536"},
      {"store", "file:///srv", "file://relative"},
      {"store", "s3://bucket/prefix?endpoint=http://minio:9000",
       "s3://bucket?endpont=http://minio"},
      {"store", "s3://bucket", "ftp://bucket"},
      {"spool", "/srv/spool", "spool"},
      {"spool-bytes", "16Mi", "1Mi"},
      {"window-seconds", "1", "0"},
      {"window-seconds", "3600", "3601"},
      {"window-seconds", "60", "60s"},
      {"slice-milliseconds", "500", "499"},
      {"default-frequency-hertz", "1", "0"},
      {"ignore-opt-out", "true", "yes"},
      {"max-frequency-hertz", "999", "1000"},
      {"sample-labels", "", "pid"},
      {"sample-labels", "thread,cpu", "thread,,cpu"},
      {"sample-labels", "comm,trace", "span"},
      {"trace-url", "https://traces.example/t/{trace_id}?from=now", "traces.example/{trace_id}"},
      {"trace-url", "http://t/{trace_id}", "https://t/{trace_id}\"><script>"},
      {"trace-url", "", "https://traces.example/"},
      {"cgroup-hierarchy", "v1:cpu", "v1:"},
      {"cgroup-hierarchy", "v2", "v3"},
      {"proc-root", "/host/proc", "proc"},
      {"node-name", "node-1.example", "a/b"},
      {"cluster", "c", ".."},
      {"retention-age", "1h", "59s"},
      {"retention-bytes", "1Ti", "1Mi"},
      {"symbols", "full", "none"},
      {"symbols", "remote", ""},
      {"debuginfod-urls", "http://a:1,https://b/c", "file:///srv"},
      {"debuginfod-urls", "", "ftp://a"},
      {"debuginfod-cache", "/srv/x", "x"},
      {"debuginfod-cache-bytes", "16Mi", "1Mi"},
      {"symbol-cache-bytes", "1Mi", "1Ki"},
      {"unwind-table-bytes", "1Mi", "1Ki"},
      {"sample-ring-bytes", "64Ki", "96Ki"},
      {"sideband-ring-bytes", "16Ki", "8Ki"},
      {"push", "pyroscope+http://a:4040,otlp+https://b?tenant=x", "http://a:4040"},
      {"push", "", "otlp+http://a otlp+http://a"},
      {"push-queue-bytes", "1Mi", "1Ki"},
      {"metrics-top-functions", "0", "21"},
      {"metrics-max-series", "0", "-1"},
      {"log-level", "warn", "warning"},
      {"log-format", "json", "xml"},
  };
  for (const Case& one : cases) {
    Config config;
    const std::vector<Option> options = ConfigOptions(config);
    const Option& option = Find(options, one.name);
    EXPECT_TRUE(option.value.set(one.good)) << one.name << ' ' << one.good;
    EXPECT_EQ(option.value.get(), one.good) << one.name;
    if (one.bad == nullptr) continue;
    EXPECT_FALSE(option.value.set(one.bad)) << one.name << ' ' << one.bad;
    EXPECT_EQ(option.value.get(), one.good) << one.name << ": a refused value must change nothing";
  }
}

TEST(Options, RepeatNoSecretInAnError) {
  Config config;
  const std::vector<Option> options = ConfigOptions(config);
  const Status refused =
      SetOption(Find(options, "push"), "otlp+http://user:hunter2@host", "--push");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message().find("hunter2"), std::string::npos);
  EXPECT_NE(refused.error().message().find("token-file"), std::string::npos);
  const Status store = SetOption(Find(options, "store"), "s3://AKIA:hunter2@b", "--store");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().message().find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace firetower::daemon
