// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/query/fixture.h"

#include <libdeflate.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/check.h"
#include "profile/builder.h"
#include "profile/codec/gzip.h"
#include "profile/pprof.h"
#include "query/flame/file_endpoint.h"
#include "query/http/errors.h"
#include "store/bundle.h"
#include "store/key.h"

namespace firetower::query {
namespace {

constexpr int64_t kMinuteNs = 60 * kNsPerSecond;
constexpr int64_t kSampleNs = 10 * kNsPerMs;

struct Stack {
  std::vector<const char*> frames;  // root first
  int64_t samples;
};

struct Container {
  const char* namespace_name;
  const char* pod;
  const char* container;
  const char* binary;
  std::vector<Stack> stacks;
};

const std::vector<Container>& Containers() {
  static const std::vector<Container> containers = {
      {"shop",
       "web-0",
       "web",
       "/usr/bin/web",
       {{{"main", "Serve", "Parse"}, 60},
        {{"main", "Serve", "Encode"}, 30},
        {{"main", "Idle"}, 10}}},
      {"shop", "web-0", "sidecar", "/usr/bin/sidecar", {{{"main", "Log"}, 20}}},
      {"-", "-", "sshd.service", "/usr/sbin/sshd", {{{"main", "Select"}, 5}}},
  };
  return containers;
}

store::OpenProfile Make(const Container& container, int64_t start_ns) {
  profile::ProfileBuilder builder(profile::CpuMeta(100, start_ns, kMinuteNs));
  profile::Mapping mapping;
  mapping.memory_start = 0x400000;
  mapping.memory_limit = 0x500000;
  mapping.filename = builder.AddString(container.binary);
  mapping.flags = profile::Mapping::kHasFunctions;
  uint32_t binary = builder.AddMapping(mapping);
  for (const Stack& stack : container.stacks) {
    std::vector<uint32_t> locations;
    for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
      profile::Line line;
      line.function = builder.AddFunction(*frame, *frame, "");
      // Any address that is the function's own.
      locations.push_back(builder.AddLocation(binary, 0x400000 + line.function * 16, {&line, 1}));
    }
    int64_t values[] = {stack.samples, stack.samples * kSampleNs};
    CHECK(builder.AddSample(locations, values));
  }
  auto made = std::make_shared<profile::Profile>(std::move(builder).Build());
  store::OpenProfile open;
  open.row.namespace_name = container.namespace_name;
  open.row.pod = container.pod;
  open.row.container = container.container;
  open.row.node = "node-1";
  open.row.type = "cpu";
  open.row.start_ns = start_ns;
  open.row.duration_ns = kMinuteNs;
  open.row.samples = made->Total(0);
  open.row.value = made->Total(1);
  open.row.unit = "nanoseconds";
  open.profile = made;
  return open;
}

// gzip'd pprof of one size everywhere: how small our own compressor makes it is the CPU's matter.
std::string Store(const profile::Profile& profile) {
  constexpr int kAsItIs = 0;  // RFC 1951 §3.2.4, stored blocks
  const std::string packed = profile::EncodePprof(profile);
  const auto plain = profile::GzipDecompress(packed, size_t{1} << 20);
  CHECK(plain);
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(kAsItIs), libdeflate_free_compressor);
  CHECK(compressor);
  std::string stored(libdeflate_gzip_compress_bound(compressor.get(), plain->size()), '\0');
  stored.resize(libdeflate_gzip_compress(compressor.get(), plain->data(), plain->size(),
                                         stored.data(), stored.size()));
  CHECK(!stored.empty());
  return stored;
}

}  // namespace

class Fixture::Sources : public LiveSource,
                         public MetricsSource,
                         public DoctorSource,
                         public ReadySource,
                         public PolicySource,
                         public Authorizer {
 public:
  explicit Sources(const Fixture& fixture) : fixture_(fixture) {}

  std::vector<store::OpenProfile> OpenProfiles() const override {
    std::vector<store::OpenProfile> open;
    for (const Container& container : Containers()) {
      open.push_back(Make(container, kNowNs - kMinuteNs));
    }
    return open;
  }
  Page Render(std::string_view accept) const override {
    return {"text/plain; version=0.0.4", "# accept " + std::string(accept) + "\n"};
  }
  std::vector<Check> Checks() const override { return fixture_.Current().checks; }
  std::vector<std::string> NotReadyReasons() const override { return fixture_.Current().not_ready; }
  std::vector<PolicyState> Policies() const override { return fixture_.Current().policies; }
  Status Identify(const net::HttpRequest& request) const override {
    const Answers answers = fixture_.Current();
    const std::string& sent = request.authorization;
    const bool is_known = answers.token.empty() || sent == "Bearer " + answers.token ||
                          sent == "Bearer " + answers.powerless;
    if (!is_known) return Error(ErrorCode::kPermission, "the cluster knows nobody by that");
    return answers.unknown;
  }
  Result<profile::Selector> Narrow(const net::HttpRequest& request,
                                   const profile::Selector& asked) const override {
    Answers answers = fixture_.Current();
    RETURN_IF_ERROR(answers.refusal);
    if (!answers.powerless.empty() && request.authorization == "Bearer " + answers.powerless)
      return Error(ErrorCode::kPermission, "joe may not read the profiles of all namespaces");
    if (answers.only_namespace.empty()) return asked;
    ASSIGN_OR_RETURN(
        profile::Matcher only,
        profile::Matcher::Create("namespace", profile::MatchOp::kEqual, answers.only_namespace));
    return asked.With(std::move(only));
  }

 private:
  const Fixture& fixture_;
};

Fixture::Fixture(const store::QueryLimits& limits, const store::ObjectStore* asked,
                 const net::AdmissionOptions& admission, const Authorizer* authorizer) {
  char folder[] = "/tmp/firetower-query-XXXXXX";
  CHECK(::mkdtemp(folder) != nullptr);
  folder_ = folder;
  auto store = store::DirStore::Open(folder_);
  CHECK(store);
  store_ = *std::move(store);
  FillStore();
  answers_.checks = {
      {"kernel", CheckStatus::kOk, "6.1.0, BTF there", ""},
      {"store", CheckStatus::kWarn, "no retention is set", "give --store-max-bytes 10Gi"}};
  sources_ = std::make_unique<Sources>(*this);
  served_ = std::make_unique<store::ServedStore>(asked != nullptr ? *asked : *store_);
  api_ = std::make_unique<Api>(ApiParts{*served_,
                                        *sources_,
                                        *sources_,
                                        *sources_,
                                        *sources_,
                                        authorizer != nullptr ? *authorizer : *sources_,
                                        sources_.get(),
                                        clock_,
                                        limits,
                                        admission,
                                        false,
                                        {},
                                        {},
                                        kFileBytes});
}

std::vector<PolicyState> Fixture::TwoPolicies() {
  PolicyState checkout{.kind = "ProfilingPolicy", .namespace_name = "shop", .name = "checkout"};
  checkout.mode = "General";
  checkout.types = {"CPU", "Lock"};
  checkout.health = PolicyHealth::kOk;
  checkout.reason = "Ready";
  checkout.pods_matched = checkout.pods_profiled = 3;
  checkout.nodes_desired = checkout.nodes_ready = 2;
  PolicyState nodes{.kind = "ClusterProfilingPolicy", .namespace_name = "", .name = "nodes"};
  nodes.mode = "Trigger";
  nodes.types = {"CPU"};
  nodes.health = PolicyHealth::kDegraded;
  nodes.reason = "MissingCapability";
  nodes.message = "1 of 4 nodes";
  nodes.pods_matched = 40;
  nodes.pods_profiled = 30;
  nodes.nodes_desired = 4;
  nodes.nodes_ready = 3;
  nodes.captures = 2;
  nodes.last_capture_ns = kNowNs - 60 * kNsPerSecond;
  nodes.failures = {{"node-1", "MissingCapability", "CAP_SYS_PTRACE is missing"}};
  return {std::move(checkout), std::move(nodes)};
}

Fixture::~Fixture() {
  server_.reset();
  std::filesystem::remove_all(folder_);
}

void Fixture::FillStore() {
  for (int64_t minute = 3; minute >= 2; --minute) {
    int64_t start_ns = kNowNs - minute * kMinuteNs;
    store::BundleWriter bundle(start_ns);
    for (const Container& container : Containers()) {
      store::OpenProfile one = Make(container, start_ns);
      CHECK(bundle.Add(one.row, Store(*one.profile)));
    }
    store::BundleKey key;
    key.cluster = "local";
    key.start_s = start_ns / kNsPerSecond;
    key.seconds = 60;
    key.node = "node-1";
    key.run = "abcd1234";
    auto name = store::BuildKey(key);
    auto bytes = std::move(bundle).Finish();
    CHECK(name && bytes && store_->Put(*name, *bytes));
  }
}

void Fixture::Change(const std::function<void(Answers&)>& change) {
  std::lock_guard lock(mutex_);
  change(answers_);
}

Fixture::Answers Fixture::Current() const {
  std::lock_guard lock(mutex_);
  return answers_;
}

std::string Fixture::Serve() {
  net::HttpServerOptions options;
  options.error_format = JsonError;
  options.listen = "127.0.0.1:0";
  options.limits.large = FilesOf(kFileBytes);
  options.worker_threads = api_->WorkerThreads();
  auto server = net::HttpServer::Start(
      options, [this](const net::HttpRequest& request) { return api_->Serve(request); });
  CHECK(server);
  server_ = *std::move(server);
  return server_->url();
}

}  // namespace firetower::query
