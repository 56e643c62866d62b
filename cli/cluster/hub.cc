// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/hub.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "cli/cluster/condition.h"
#include "cli/cluster/port_relay.h"
#include "cli/http/ask.h"
#include "k8s/client/pod_port.h"
#include "k8s/watch/object_meta.h"
#include "net/client/curl_client.h"
#include "query/select/kinds.h"

namespace firetower::cli {
namespace {

// One pod that hangs leaves time for another.
constexpr int64_t kOpenTimeoutNs = 10 * kNsPerSecond;

// Sets the port, and whether TLS is spoken there, by the name of the container's port.
void ReadPort(const k8s::Node& pod, HubPod& found) {
  const k8s::Node* spec = pod.Find("spec");
  const k8s::Node* containers = spec == nullptr ? nullptr : spec->Find("containers");
  if (containers == nullptr) return;
  for (const k8s::Node& container : containers->items) {
    const k8s::Node* ports = container.Find("ports");
    if (ports == nullptr) continue;
    for (const k8s::Node& port : ports->items) {
      const int64_t number = k8s::IntegerAt(port, {"containerPort"});
      const std::string_view name = k8s::TextAt(port, {"name"});
      if ((name != kHubPortName && name != kHubTlsPortName) || number <= 0 || number > UINT16_MAX)
        continue;
      found.port = static_cast<uint16_t>(number);
      found.tls = name == kHubTlsPortName;
      return;
    }
  }
}

class HubTransport : public HttpTransport {
 public:
  HubTransport(std::shared_ptr<KubeClient> cluster, std::string namespace_name,
               std::string bearer_token, int64_t timeout_ns, size_t max_reply_bytes)
      : cluster_(std::move(cluster)),
        namespace_name_(std::move(namespace_name)),
        bearer_token_(std::move(bearer_token)),
        timeout_ns_(timeout_ns),
        max_reply_bytes_(max_reply_bytes) {}

  Outcome<net::HttpResponse> Get(const std::string& target, Progress* progress) override {
    Outcome<std::string> token = Token();
    if (!token) return token.failure();
    const int64_t deadline_ns = NowNs() + timeout_ns_;
    bool begun = false;
    if (http_ != nullptr) {
      Outcome<net::HttpResponse> answer = Ask(target, *token, progress, begun);
      // The hub closes idle connections when it likes (RFC 9112 §9.3.1).
      if (answer || begun || NowNs() >= deadline_ns) return answer;
    }
    Outcome<std::vector<k8s::Node>> pods =
        cluster_->List(kPods, namespace_name_,
                       {"metadata.deletionTimestamp", "status.phase", "status.conditions",
                        "spec.containers.ports"},
                       kHubLabel);
    if (!pods) return pods.failure();
    Failure failure = NoHub();
    for (const HubPod& pod : HubPodsOf(*pods)) {
      Outcome<int> connected = Connect(pod);
      if (!connected) {
        failure = connected.failure();
        continue;
      }
      Outcome<net::HttpResponse> answer = Ask(target, *token, progress, begun);
      if (answer || begun || NowNs() >= deadline_ns) return answer;
      failure = answer.failure();
    }
    return failure;
  }

  std::string name() const override {
    return pod_.empty() ? fmt::format("the hub in namespace {}", namespace_name_)
                        : fmt::format("hub {}/{}", namespace_name_, pod_);
  }
  std::string page_url() const override { return ""; }

 private:
  static int64_t NowNs() { return Clock::System().MonotonicNs(); }

  // Asked for at each question: tokens that programs print expire.
  Outcome<std::string> Token() {
    if (!bearer_token_.empty()) return bearer_token_;
    Outcome<std::string> token = cluster_->BearerToken();
    if (!token || !token->empty()) return token;
    return Failure{ExitCode::kUnreachable,
                   "the hub needs a token, but this user of the kubeconfig has none",
                   "the user's credentials, such as a client certificate, prove its identity to "
                   "the API server only",
                   "use the token of an account that may get profilingpolicies/profiles: export "
                   "FIRETOWER_TOKEN=\"$(kubectl create token ACCOUNT -n NAMESPACE)\""};
  }

  Failure NoHub() const {
    return {ExitCode::kUnreachable, fmt::format("no hub runs in namespace {}", namespace_name_),
            fmt::format("no running pod there has the label {}", kHubLabel),
            "give its namespace with --hub-namespace, its cluster with --context, or a server with "
            "--server"};
  }

  // Makes http_ one to that pod.
  Outcome<int> Connect(const HubPod& pod) {
    (void)Disconnect();
    pod_ = pod.name;
    const int64_t limit_ns = std::min(kOpenTimeoutNs, timeout_ns_);
    const int64_t began_ns = NowNs();
    Result<std::unique_ptr<k8s::PodPort>> port = cluster_->api().OpenPodPort(
        {.namespace_name = namespace_name_, .pod = pod.name, .port = pod.port}, limit_ns);
    if (!port && IsOutOfTime(port.error(), began_ns, limit_ns)) return NotOpened(limit_ns);
    if (!port && port.error().code() == ErrorCode::kPermission) {
      return Failure{
          ExitCode::kUnreachable, fmt::format("forbidden: the port of {}", name()),
          port.error().message(),
          fmt::format(
              "ask for that right; 'kubectl auth can-i create pods/portforward -n {}' checks it",
              namespace_name_)};
    }
    if (!port) return CannotReach(port.error());
    Result<std::unique_ptr<PortRelay>> relay = PortRelay::Start(*std::move(port));
    if (!relay) return CannotReach(relay.error());
    relay_ = *std::move(relay);
    net::ClientOptions options;
    options.proxy = "none";
    options.user_agent = kUserAgent;
    // The API server hands out the pod's port, and its certificate says who is at the other end.
    options.skip_verification = pod.tls;
    options.unix_socket = relay_->socket_path();
    http_ = std::make_unique<net::CurlClient>(std::move(options));
    base_url_ = fmt::format("{}://firetower-hub:{}", pod.tls ? "https" : "http", pod.port);
    return ExitCode::kOk;
  }

  // Returns the error of the connection to the pod, if it had one.
  Status Disconnect() {
    Status status = relay_ == nullptr ? OkStatus() : relay_->Stop();
    http_.reset();
    relay_.reset();
    return status;
  }

  // `begun`: something of the answer came.
  Outcome<net::HttpResponse> Ask(const std::string& target, const std::string& token,
                                 Progress* progress, bool& begun) {
    HttpAnswer answer = cli::Ask(*http_, {.url = base_url_ + target,
                                          .bearer_token = token,
                                          .timeout_ns = timeout_ns_,
                                          .max_reply_bytes = max_reply_bytes_,
                                          .progress = progress});
    begun = answer.begun;
    if (answer.response) return *std::move(answer.response);
    const Status broken = Disconnect();
    if (answer.too_large) return TooLarge(max_reply_bytes_);
    const Error& error = answer.response.error();
    if (error.sys_errno() == ETIMEDOUT) return TooSlow(name(), timeout_ns_);
    return CannotReach(broken ? error : broken.error());
  }

  // Whether our own limit ended it: a connection that the kernel gave up is an ETIMEDOUT as well.
  static bool IsOutOfTime(const Error& error, int64_t began_ns, int64_t limit_ns) {
    return error.sys_errno() == ETIMEDOUT && NowNs() - began_ns >= limit_ns;
  }

  // Its pod, its kubelet or the API server between is stuck, as far as one can see from here.
  Failure NotOpened(int64_t limit_ns) const {
    const bool is_asked_limit = limit_ns < kOpenTimeoutNs;
    return {ExitCode::kUnreachable,
            fmt::format("the API server did not open the port of {} within {}", name(),
                        FormatDuration(limit_ns)),
            is_asked_limit ? "--timeout sets this limit"
                           : "this is the limit for a pod, whatever --timeout is",
            fmt::format(
                "{}check that the pod and its node respond: kubectl get pods -o wide -n {} -l {}",
                is_asked_limit ? "give it more time with --timeout, or " : "", namespace_name_,
                kHubLabel)};
  }

  Failure CannotReach(const Error& error) const {
    return {ExitCode::kUnreachable, fmt::format("cannot reach {}", name()), error.message(),
            fmt::format("check that it runs: kubectl get pods -n {} -l {}", namespace_name_,
                        kHubLabel)};
  }

  const std::shared_ptr<KubeClient> cluster_;  // outlives the session over its connection
  const std::string namespace_name_;
  const std::string bearer_token_;
  const int64_t timeout_ns_;
  const size_t max_reply_bytes_;
  std::string pod_;  // that is or was connected to
  std::string base_url_;
  std::unique_ptr<PortRelay> relay_;       // outlives http_
  std::unique_ptr<net::HttpClient> http_;  // null without a connection
};

}  // namespace

std::vector<HubPod> HubPodsOf(const std::vector<k8s::Node>& pods) {
  std::vector<HubPod> found;
  for (const k8s::Node& pod : pods) {
    const bool runs = k8s::TextAt(pod, {"status", "phase"}) == "Running" &&
                      k8s::TextAt(pod, {"metadata", "deletionTimestamp"}).empty();
    const std::string_view name = k8s::TextAt(pod, {"metadata", "name"});
    // It becomes a part of a path.
    if (!runs || !query::IsObjectName(name)) continue;
    found.push_back(
        {.name = std::string(name), .ready = ConditionOf(pod, "Ready").status == "True"});
    ReadPort(pod, found.back());
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const HubPod& a, const HubPod& b) { return a.ready && !b.ready; });
  return found;
}

std::unique_ptr<HttpTransport> OpenHub(std::shared_ptr<KubeClient> cluster,
                                       std::string namespace_name, std::string bearer_token,
                                       int64_t timeout_ns, size_t max_reply_bytes) {
  return std::make_unique<HubTransport>(std::move(cluster), std::move(namespace_name),
                                        std::move(bearer_token), timeout_ns, max_reply_bytes);
}

}  // namespace firetower::cli
