// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/cluster_side.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/capture/cpu_list.h"
#include "daemon/cluster/watch_checks.h"
#include "daemon/control/agent_faults.h"

namespace firetower::daemon {

ClusterSide::ClusterSide(const Config& config, std::optional<k8s::ClientConfig> access,
                         const KernelSide& kernel, MetricsRegistry& registry, const Clock& clock)
    : config_(config),
      access_(std::move(access)),
      kernel_(kernel),
      registry_(registry),
      clock_(clock) {}

void ClusterSide::Join() {
  if (!access_) return;
  cluster_ = std::make_unique<Cluster>(*access_, config_.node_name, registry_, clock_);
  cluster_->Watch(k8s::PodsOf(config_.node_name), pods_);
  if (!config_.policy_path.empty() || !config_.standalone) {
    labels_ =
        std::make_unique<ClusterLabels>(config_.node_name, [this] { view_changed_.Notify(); });
    cluster_->Watch(ClusterLabels::Namespaces(), labels_->namespaces());
    cluster_->Watch(labels_->Node(), labels_->nodes());
  }
  if (!config_.standalone) {
    policies_ = std::make_unique<PolicyObjects>(clock_);
    for (const bool of_cluster : {false, true})
      cluster_->Watch(PolicyObjects::ResourceOf(of_cluster), policies_->consumer(of_cluster));
    StartReports();
  }
  cluster_->Start();
}

void ClusterSide::StartReports() {
  report_ =
      std::make_unique<ReportThread>(cluster_->NewClient(), config_.node_name, registry_, clock_);
  started_ns_ = clock_.WallNs();
  faults_ = ReadCapabilityFaults(config_.proc_root);
  faults_.ceiling_hz = config_.max_frequency_hertz;
  faults_.cpu_end = PossibleCpuEnd(config_.sys_root).value_or(0);
  report_->Start();
}

void ClusterSide::Stop() {
  if (report_) report_->Stop();
  if (cluster_) cluster_->Stop();
}

std::optional<ClusterView> ClusterSide::View() const {
  if (!labels_) return std::nullopt;
  ClusterView view = labels_->View(pods_.index());
  view.ignore_opt_out = config_.ignore_opt_out;
  return view;
}

PodSource ClusterSide::Pods() const {
  if (!access_) return nullptr;
  return [this] { return pods_.index(); };
}

std::unique_ptr<k8s::ApiClient> ClusterSide::ReviewClient() const {
  return cluster_ && !config_.standalone ? cluster_->NewClient() : nullptr;
}

std::vector<std::string> ClusterSide::Awaited() const {
  return cluster_ ? AwaitedWatches(cluster_->watches()) : std::vector<std::string>();
}

std::vector<Check> ClusterSide::Checks() const {
  std::vector<Check> checks =
      WatchChecks(cluster_->watches(), cluster_->ServerText(), clock_.WallNs());
  if (report_) std::ranges::move(report_->GetChecks(), std::back_inserter(checks));
  return checks;
}

void ClusterSide::UpdateMetrics() {
  if (cluster_) cluster_->UpdateMetrics();
}

void ClusterSide::PostFiring(const Firing& firing, const std::string& text) {
  if (!report_) return;
  const std::shared_ptr<const k8s::PodIndex> pods = pods_.index();
  std::shared_ptr<const k8s::Pod> pod;
  if (pods && firing.container) pod = pods->Find(firing.container->path.pod_uid);
  report_->PostFiring(*firing.policy, pod.get(), text);
}

void ClusterSide::Report(const PolicyFindings& findings, bool store_fails,
                         const TypeFaults& types) {
  if (!report_ || !Awaited().empty()) return;
  const std::optional<ClusterView> view = View();
  faults_.store_fails = store_fails;
  faults_.types = types;
  faults_.opt_outs = config_.ignore_opt_out ? "" : UnknownOptOuts(cluster_->watches());
  k8s::NodeReport report;
  report.node = config_.node_name;
  report.node_uid = view->NodeUid();
  const std::string pod_namespace = access_->in_pod ? access_->default_namespace : "";
  report.agent = {FIRETOWER_VERSION,        pod_namespace,          "",
                  kernel_.identity.release, kernel_.hierarchy.mode, {}};
  report.conditions = {{"Ready", true, "Sampling", "", started_ns_}};
  report.policies =
      ReportPolicies(policies_->policies(), *view, clock_.WallNs(), findings, faults_);
  report_->Report(std::move(report));
}

}  // namespace firetower::daemon
