// SPDX-License-Identifier: Apache-2.0
#include "hub/hub.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <stop_token>
#include <utility>

#include "base/log.h"
#include "base/snapshot.h"
#include "base/thread.h"
#include "hub/agent_pods.h"
#include "hub/hub_metrics.h"
#include "hub/profiles/profile_server.h"
#include "hub/readiness.h"
#include "hub/rollouts/rollout_events.h"
#include "hub/status_keeper.h"
#include "k8s/lease/lease_keeper.h"
#include "k8s/policy/object.h"
#include "k8s/watch/watch_set.h"
#include "net/server/http_server.h"
#include "query/flame/file_endpoint.h"
#include "query/http/errors.h"
#include "service/metrics/negotiation.h"
#include "service/policies/policy_states.h"

namespace firetower::hub {
namespace {

// A kind's share of etcd.
constexpr size_t kMaxPolicies = 5000;
// Many reports come at a time; their changes are handled together.
constexpr int64_t kGatherNs = 200 * kNsPerMs;
// A write waits 10 s for its answer, so a status thread whose last turn is older than this hangs.
constexpr int64_t kHungNs = 120 * kNsPerSecond;

constexpr std::string_view kUserAgent = "firetower/" FIRETOWER_VERSION " (hub)";

}  // namespace

class Hub::Impl {
 public:
  Impl(const Config& config, k8s::ClientConfig access, const Clock& clock)
      : config_(config),
        clock_(clock),
        watches_(std::move(access), std::string(kUserAgent), config.identity, metrics_, clock),
        policies_(Policies(false)),
        cluster_policies_(Policies(true)),
        reports_([this] { status_.Notify(); }),
        agent_pods_(ReadAgentPod, ReportFeed::kMaxNodes, nullptr, [this] { status_.Notify(); }),
        status_client_(watches_.NewClient()),
        lease_client_(watches_.NewClient()),
        review_client_(watches_.NewClient()),
        rights_client_(watches_.NewClient()),
        event_client_(watches_.NewClient()),
        rollout_events_(*event_client_, clock, metrics_, config.identity),
        lease_(*lease_client_, clock, config.lease_namespace, config.lease_name,
               k8s::ElectionOptions{.identity = config.identity}) {}

  ~Impl() { Stop(); }

  Status Start() {
    watches_.Watch(ResourceOf("profilingpolicies", k8s::WatchedPolicyFields()), policies_);
    watches_.Watch(ResourceOf("clusterprofilingpolicies", k8s::WatchedPolicyFields()),
                   cluster_policies_);
    watches_.Watch(ResourceOf(std::string(kReports), k8s::NodeReportFields()), reports_);
    watches_.Watch(AgentPodsOf(config_.lease_namespace), agent_pods_);
    if (!config_.store_url.empty()) RETURN_IF_ERROR(ServeProfiles());
    RETURN_IF_ERROR(ServeHttp());
    looked_ns_ = clock_.MonotonicNs();
    // The watches wake this thread: it is there before them.
    status_ = NamedThread("status", [this](std::stop_token stop, WakeFd& wake) {
      KeepStatus(std::move(stop), wake);
    });
    watches_.Start();
    election_ = NamedThread("lease", [this](std::stop_token stop, WakeFd& wake) {
      const std::stop_callback cancel(stop, [this] { lease_client_->Cancel(); });
      while (!stop.stop_requested()) wake.Wait(Milliseconds(lease_.StepNs()));
    });
    return OkStatus();
  }

  void Stop() {
    if (std::exchange(stopped_, true)) return;
    // Stops the status thread first, so that its last writes happen while this hub leads.
    status_.RequestStop();
    status_.Join();
    rights_client_->Cancel();
    event_client_->Cancel();
    if (profiles_) profiles_->Stop();
    election_.RequestStop();
    election_.Join();
    ReleaseLease();
    watches_.Stop();
    // Cancels reviews: callers that wait for one get no answer any more.
    review_client_->Cancel();
    if (http_) http_->Stop();
  }

  std::string url() const { return http_->url(); }

 private:
  static int Milliseconds(int64_t wait_ns) {
    return static_cast<int>(std::clamp<int64_t>(wait_ns / kNsPerMs + 1, 1, INT_MAX));
  }

  static k8s::Resource ResourceOf(std::string name, k8s::FieldSet fields) {
    k8s::Resource resource;
    resource.path = std::string(k8s::kPolicyApi) + "/" + name;
    resource.name = std::move(name);
    resource.fields = std::move(fields);
    return resource;
  }

  PolicyStore Policies(bool cluster) {
    return PolicyStore(
        [cluster](const k8s::Node& node) { return k8s::ReadWatchedPolicy(node, cluster); },
        kMaxPolicies, nullptr, [this] { status_.Notify(); });
  }

  void KeepStatus(std::stop_token stop, WakeFd& wake) {
    const std::stop_callback cancel(stop, [this] { status_client_->Cancel(); });
    StatusKeeper keeper({*status_client_, clock_, metrics_, config_.identity,
                         config_.lease_namespace, [this] { return lease_.Leads(); }});
    bool acting = false;
    while (!stop.stop_requested()) {
      looked_ns_ = clock_.MonotonicNs();
      keeper.Take({policies_.Get(), cluster_policies_.Get(), reports_.Take(), agent_pods_.Get()});
      // A term begins when everything was read once since; a watch that fails later does not end
      // it.
      const bool leads = lease_.Leads();
      if (leads && !acting && MayWrite(watches_.watches())) {
        keeper.Take({policies_.Get(), cluster_policies_.Get(), reports_.Take(), agent_pods_.Get()});
        keeper.BeginTerm();
        acting = true;
      }
      if (acting && !leads) LOG(kInfo, "no longer the leader", {{"as", config_.identity}});
      // When reports appear again, this is like the beginning of a term: no node has reported yet.
      acting &= leads && !ReportsAreAbsent(watches_.watches());
      const int64_t wait_ns = acting ? keeper.StepNs() : kNsPerSecond / 2;
      if (wait_ns <= 0) continue;
      // Each change would be looked at by itself otherwise; only stopping is not kept waiting.
      if (wake.Wait(Milliseconds(wait_ns))) Gather(stop, wake);
    }
  }

  void Gather(const std::stop_token& stop, WakeFd& wake) const {
    const int64_t until_ns = clock_.MonotonicNs() + kGatherNs;
    for (int64_t now_ns = clock_.MonotonicNs(); now_ns < until_ns && !stop.stop_requested();
         now_ns = clock_.MonotonicNs()) {
      wake.Wait(Milliseconds(until_ns - now_ns));
    }
  }

  // The election's client was cancelled with its thread, so releasing the lease uses another one.
  void ReleaseLease() {
    if (!lease_.Leads()) return;
    lease_.Release(*watches_.NewClient());
    LOG(kInfo, "the lease is given up", {{"lease", config_.lease_name}});
  }

  Status ServeProfiles() {
    ProfileServer::Parts parts{
        *review_client_,
        *rights_client_,
        clock_,
        [this] { return lease_.Leads(); },
        [this](service::ExpositionFormat format) { return metrics_.Render(Now(), format); },
        [this] { return watches_.watches(); },
        [this] { return PolicyStates(); }};
    if (config_.rollout_events) {
      parts.tell_regression = [this](const Regression& regression) {
        rollout_events_.Tell(regression);
      };
    }
    ASSIGN_OR_RETURN(profiles_, ProfileServer::Start(config_, std::move(parts)));
    return OkStatus();
  }

  std::vector<query::PolicyState> PolicyStates() const {
    std::vector<query::PolicyState> states;
    for (const PolicyStore* store : {&policies_, &cluster_policies_}) {
      const auto objects = store->Get();
      if (!objects) continue;
      for (const auto& [key, entry] : *objects) states.push_back(service::StateOf(*entry.value));
    }
    return states;
  }

  Status ServeHttp() {
    net::HttpServerOptions options;
    options.error_format = query::JsonError;
    options.listen = config_.listen;
    if (!config_.tls_cert_file.empty())
      options.tls = {config_.tls_cert_file, config_.tls_private_key_file};
    options.on_certificate = [this](const net::TlsCertificateState& state) {
      certificate_.Publish(std::make_shared<const net::TlsCertificateState>(state));
    };
    if (profiles_) {
      options.worker_threads = profiles_->WorkerThreads();
      options.limits.large = query::FilesOf(query::kServedFileBytes);
    }
    options.observer = [this](const net::RequestStats& stats) {
      metrics_.OnHttpRequest(stats.route, stats.status);
    };
    ASSIGN_OR_RETURN(
        http_, net::HttpServer::Start(
                   options, [this](const net::HttpRequest& request) { return Answer(request); }));
    return OkStatus();
  }

  net::HttpResponse Live() const {
    const bool hangs = clock_.MonotonicNs() - looked_ns_.load() > kHungNs;
    net::HttpResponse response;
    response.route = "/livez";
    response.status = hangs ? 503 : 200;
    response.body = hangs ? "status thread stalled for more than 120 s\n" : "ok\n";
    return response;
  }

  net::HttpResponse Answer(const net::HttpRequest& request) const {
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (reads && request.path == "/livez") return Live();
    if (profiles_) return profiles_->Serve(request);
    if (!reads) return query::JsonError(405, "only GET is supported");
    net::HttpResponse response;
    if (request.path == "/metrics") {
      response.route = "/metrics";
      const service::ExpositionFormat format = service::NegotiateFormat(request.accept);
      response.content_type = service::ContentTypeOf(format);
      response.body = metrics_.Render(Now(), format);
      return response;
    }
    if (request.path != "/readyz") {
      return query::NoStoreError(
          "the paths are /metrics, /livez and /readyz; a hub with --store URL also answers queries "
          "of profiles");
    }
    response.route = "/readyz";
    response.body = "ok\n";
    const std::string awaited = AwaitedText(watches_.watches());
    if (awaited.empty()) return response;
    response.status = 503;
    response.body = awaited;
    return response;
  }

  HubMetrics::Now Now() const {
    HubMetrics::Now now;
    now.leads = lease_.Leads();
    now.terms = lease_.terms();
    now.lease_failures = lease_.failures();
    now.nodes = reports_.nodes();
    if (const auto policies = policies_.Get()) now.policies = policies->size();
    if (const auto policies = cluster_policies_.Get()) now.cluster_policies = policies->size();
    now.watches = watches_.watches();
    if (profiles_) now.profiles = profiles_->figures();
    now.certificate = certificate_.Get();
    return now;
  }

  const Config config_;
  const Clock& clock_;
  HubMetrics metrics_;
  k8s::WatchSet watches_;
  NamedThread status_;
  PolicyStore policies_;
  PolicyStore cluster_policies_;
  ReportFeed reports_;
  AgentPodStore agent_pods_;
  std::unique_ptr<k8s::ApiClient> status_client_;
  std::unique_ptr<k8s::ApiClient> lease_client_;
  std::unique_ptr<k8s::ApiClient> review_client_;
  std::unique_ptr<k8s::ApiClient> rights_client_;
  std::unique_ptr<k8s::ApiClient> event_client_;
  RolloutEvents rollout_events_;  // the rollouts thread's
  k8s::LeaseKeeper lease_;
  std::atomic<int64_t> looked_ns_ = 0;
  SnapshotCell<net::TlsCertificateState> certificate_;  // unset: plain HTTP
  std::unique_ptr<ProfileServer> profiles_;             // unset: it was told no store
  std::unique_ptr<net::HttpServer> http_;
  NamedThread election_;
  bool stopped_ = false;
};

Hub::Hub(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Hub::~Hub() = default;
void Hub::Stop() { impl_->Stop(); }
std::string Hub::url() const { return impl_->url(); }

Result<std::unique_ptr<Hub>> Hub::Start(const Config& config, k8s::ClientConfig access,
                                        const Clock& clock) {
  auto impl = std::make_unique<Impl>(config, std::move(access), clock);
  RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<Hub>(new Hub(std::move(impl)));
}

}  // namespace firetower::hub
