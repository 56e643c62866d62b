// SPDX-License-Identifier: Apache-2.0
// push_window URL...: pushes one window of known profiles to each server, waits until all is sent
// or half a minute is over, and prints the metrics.
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "daemon/push/push_side.h"
#include "tests/support/stored_profiles.h"

namespace firetower::daemon {
namespace {

using testing::kFirstWindow;
using testing::Row;

class Nowhere : public ObjectSink {
 public:
  void Send(Outgoing) override {}
};

// A pod with threads, whose names must not make series; and a process of the host with kernel code.
std::string Window() {
  store::CatalogRow pod = Row("shop", "cart-0", "web", kFirstWindow, 6);
  testing::StackBuilder in_pod(pod.start_ns);
  in_pod.Add({"main", "serve", "parse"}, 3, {{"thread", "worker-1"}});
  in_pod.Add({"main", "serve", "parse"}, 2, {{"thread", "worker-2"}});
  in_pod.Add({"main", "serve"}, 1, {{"thread", "worker-1"}});
  store::CatalogRow host = Row("-", "-", "nginx.service", kFirstWindow, 4);
  host.pod_uid = host.container_id = host.workload = "";
  testing::StackBuilder on_host(host.start_ns);
  profile::ProfileBuilder& builder = on_host.builder();
  const uint32_t kernel = builder.AddMapping({.memory_start = 0xffffffff80000000,
                                              .memory_limit = 0xffffffffff000000,
                                              .filename = builder.AddString("[kernel.kallsyms]"),
                                              .flags = profile::Mapping::kHasFunctions});
  profile::Line line{.function = builder.AddFunction("do_syscall_64", "do_syscall_64", "")};
  const uint32_t stack[] = {builder.AddLocation(kernel, 0xffffffff80001000, {&line, 1}),
                            on_host.Frame("main")};
  builder.AddSample(stack, std::array<int64_t, 2>{4, 40'000'000});
  store::BundleWriter writer(pod.start_ns);
  CHECK(writer.Add(pod, profile::EncodePprof(in_pod.Build())));
  CHECK(writer.Add(host, profile::EncodePprof(on_host.Build())));
  return *std::move(writer).Finish();
}

bool IsSent(const std::string& metrics, size_t servers) {
  constexpr std::string_view kFamily = "\nfiretower_push_queue_bytes{";
  size_t empty = 0;
  for (size_t at = metrics.find(kFamily); at != std::string::npos;
       at = metrics.find(kFamily, at + 1)) {
    const std::string line = metrics.substr(at + 1, metrics.find('\n', at + 1) - at - 1);
    empty += line.ends_with(" 0") ? 1 : 0;
  }
  return empty == servers;
}

int Main(std::vector<std::string> urls) {
  MetricsRegistry registry;
  Nowhere nowhere;
  const size_t servers = urls.size();
  auto side = PushSide::Open({.urls = std::move(urls), .cluster = "prod", .window_ns = 0}, registry,
                             Clock::System());
  if (!side) {
    std::fprintf(stderr, "push_window: %s\n", side.error().message().c_str());
    return 1;
  }
  (*side)->ForwardTo(nowhere);
  (*side)->Send({1, k8s::RetentionClass::kStandard, 10, "window", Window()});
  for (int i = 0; i < 600 && !IsSent(registry.Render(ExpositionFormat::kText), servers); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  (*side)->Finish();
  std::fputs(registry.Render(ExpositionFormat::kText).c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace firetower::daemon

int main(int argc, char** argv) { return firetower::daemon::Main({argv + 1, argv + argc}); }
