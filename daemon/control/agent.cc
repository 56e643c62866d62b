// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/agent.h"

#include <fmt/core.h>
#include <malloc.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/file.h"
#include "base/log.h"
#include "daemon/capture/capture.h"
#include "daemon/capture/cpu_list.h"
#include "daemon/cluster/cluster.h"
#include "daemon/cluster/report_thread.h"
#include "daemon/cluster/watch_checks.h"
#include "daemon/control/agent_faults.h"
#include "daemon/control/agent_options.h"
#include "daemon/control/budget_desk.h"
#include "daemon/control/http_sources.h"
#include "daemon/control/metrics_feed.h"
#include "daemon/control/module_readers.h"
#include "daemon/control/policy_log.h"
#include "daemon/control/store_probe.h"
#include "daemon/control/trigger_desk.h"
#include "daemon/export/exporter.h"
#include "daemon/health/host_checks.h"
#include "daemon/health/kernel_version.h"
#include "daemon/pipeline/pipeline.h"
#include "daemon/policy/policy_report.h"
#include "daemon/policy/policy_set.h"
#include "daemon/trigger/readings/kernel_metrics.h"
#include "k8s/pods/pod_tracker.h"
#include "net/server/http_server.h"
#include "query/api.h"
#include "query/http/errors.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kFeedEveryNs = 5 * kNsPerSecond;
// Pods change many at a time; each time every gate is set anew.
constexpr int64_t kViewEveryNs = 200 * kNsPerMs;

class AgentImpl : public Agent {
 public:
  AgentImpl(const Config& config, std::optional<k8s::ClientConfig> access, const Clock& clock)
      : config_(config), access_(std::move(access)), clock_(clock) {}

  ~AgentImpl() override { Stop(); }

  Status Start(bool& machine_refused) {
    ASSIGN_OR_RETURN(store_, StoreSide::Open(StoreSideOptionsOf(config_), clock_));
    ASSIGN_OR_RETURN(push_, PushSide::Open(PushOptionsOf(config_), registry_, clock_));
    if (!config_.policy_path.empty()) {
      ASSIGN_OR_RETURN(PolicyStore files, PolicyStore::Open(config_.policy_path, clock_));
      files_.emplace(std::move(files));
    }
    machine_refused = true;
    RETURN_IF_ERROR(LoadKernelSide());
    machine_refused = false;
    MakeStages();
    JoinCluster();
    RETURN_IF_ERROR(ServeHttp());
    machine_refused = true;
    RETURN_IF_ERROR(StartStages());
    machine_refused = false;
    sources_->SetReady(true);
    // Loading takes the kernel's BTF apart, some 10 MB that are free now: the node gets them back.
    ::malloc_trim(0);
    LOG(kInfo, "sampling",
        {{"hertz", frequency_hz_},
         {"cgroups", hierarchy_.Name()},
         {"store", store_->Describe()},
         {"listen", http_->address()},
         {"verified_instructions", sampler_->VerifiedInstructions()}});
    return OkStatus();
  }

  void Run(int stop_fd) override {
    int64_t next_feed_ns = 0;
    for (;;) {
      int64_t now_ns = clock_.MonotonicNs();
      if (now_ns >= next_feed_ns) {
        next_feed_ns = now_ns + kFeedEveryNs;
        PipelineFigures figures = pipeline_->figures();
        feed_->Update(capture_.get(), &figures, exporter_.get(), store_.get(), frequency_hz_);
        if (cluster_) cluster_->UpdateMetrics();
        if (schedule_ && LookAtBudget()) ApplySchedule();
        Report();
      }
      int64_t wait_ns = std::min(next_feed_ns - now_ns, UntilScheduleNs());
      if (view_due_ns_) wait_ns = std::min(wait_ns, *view_due_ns_ - now_ns);
      if (triggers_->armed()) wait_ns = std::min(wait_ns, next_triggers_ns_ - now_ns);
      pollfd fds[4] = {{stop_fd, POLLIN, 0},
                       {files_ ? files_->fd() : -1, POLLIN, 0},
                       {objects_ ? objects_->fd() : -1, POLLIN, 0},
                       {labels_ ? view_changed_.fd() : -1, POLLIN, 0}};
      ::poll(fds, 4, static_cast<int>(std::max<int64_t>(wait_ns / kNsPerMs, 0) + 1));
      if ((fds[0].revents & POLLIN) != 0) return;
      bool changed = (fds[1].revents & POLLIN) != 0 && files_->Reload();
      changed |= (fds[2].revents & POLLIN) != 0 && objects_->Reload();
      if (changed) TakePolicies();
      if ((fds[3].revents & POLLIN) != 0) {
        view_changed_.Clear();
        if (!view_due_ns_) view_due_ns_ = clock_.MonotonicNs() + kViewEveryNs;
      }
      const bool due = schedule_change_ns_ && clock_.WallNs() >= *schedule_change_ns_;
      const bool view_due = view_due_ns_ && clock_.MonotonicNs() >= *view_due_ns_;
      const bool captures = schedule_ && LookAtTriggers();
      if (schedule_ && (due || view_due || captures)) ApplySchedule();
    }
  }

  void Stop() override {
    if (stopped_) return;
    stopped_ = true;
    if (sources_) sources_->SetReady(false);
    if (capture_) capture_->Stop();
    if (pipeline_) pipeline_->Finish();
    if (exporter_) exporter_->Finish();
    if (store_) store_->Finish();
    if (push_) push_->Finish();
    readers_.Stop();
    if (report_) report_->Stop();
    if (cluster_) cluster_->Stop();
    if (http_) http_->Stop();
  }

  std::string url() const override { return http_ ? http_->url() : ""; }

 private:
  Status LoadKernelSide() {
    ASSIGN_OR_RETURN(mounts_, ReadFile(config_.proc_root + "/self/mountinfo"));
    ASSIGN_OR_RETURN(std::string self, ReadFile(config_.proc_root + "/self/cgroup"));
    ASSIGN_OR_RETURN(hierarchy_, ChooseHierarchy(WantedHierarchy(config_.cgroup_hierarchy), mounts_,
                                                 self, config_.cgroup_root));
    SamplerOptions options;
    options.hierarchy = hierarchy_;
    kernel_ = ReadKernelIdentity(config_.proc_root);
    options.user_reads = UserReadsAllowed(kernel_);
    if (!options.user_reads) {
      LOG(kWarn, "user stacks are off: BPF reads of user memory can freeze this kernel",
          {{"kernel", kernel_.release}});
    }
    options.ring_bytes = SampleRingBytes(config_.sample_ring_bytes);
    frequency_hz_ = static_cast<uint32_t>(config_.default_frequency_hertz);
    options.frequency_hz = frequency_hz_;
    Result<std::unique_ptr<BpfSampler>> sampler = BpfSampler::Load(options);
    if (!sampler) return CapabilityError(sampler.error(), PrivilegedCall::kBpf);
    sampler_ = *std::move(sampler);
    user_reads_ = options.user_reads;
    return OkStatus();
  }

  void MakeStages() {
    cgroups_ = std::make_unique<CgroupTree>(hierarchy_.mount);
    processes_ = std::make_unique<ProcessTable>(modules_, ProcFs(config_.proc_root), clock_);
    feed_ = std::make_unique<MetricsFeed>(MetricsFeed::Parts{
        *sampler_, registry_, clock_, config_.proc_root, HotspotOptionsOf(config_)});
    registry_.SetInfo(MetricId::kBuildInfo, {FIRETOWER_VERSION});
    registry_.SetInfo(MetricId::kFeatureInfo,
                      {kernel_.release, hierarchy_.mode + "/" + hierarchy_.Name(),
                       user_reads_ ? "unwind-tables" : "kernel-only"});
    registry_.Set(MetricId::kUserReadsRefused, user_reads_ ? 0 : 1);
    const bool sees_processes = PidNamespaceCheck(config_.proc_root).status == CheckStatus::kOk;
    registry_.Set(MetricId::kHostPidsHidden, sees_processes ? 0 : 1);
    ObjectSink& sink =
        store_->Connect(*feed_, [this](const Outgoing& one) { exporter_->Release(one); });
    exporter_ = std::make_unique<Exporter>(push_->StandBefore(sink), readers_.symbols(),
                                           readers_.cache(), config_.proc_root, *feed_, clock_,
                                           ExportOptionsOf(config_), PodsSource(),
                                           [this](const Container& one) { return Settled(one); });
    pipeline_ = std::make_unique<Pipeline>(
        *sampler_, *cgroups_, *processes_, modules_, readers_.symbols(), readers_.tables(), clock_,
        PipelineOptionsOf(config_), [this] { exporter_->Notify(); });
    MakeTriggers();
  }

  void MakeTriggers() {
    kernel_metrics_ = std::make_unique<KernelMetrics>(
        config_.proc_root, CgroupRootsOf(mounts_, config_.cgroup_root), clock_);
    history_.emplace(StateFolder(config_) + "/captures", clock_.WallNs());
    triggers_ = std::make_unique<TriggerDesk>(TriggerDesk::Parts{
        *kernel_metrics_, registry_, config_.node_name,
        [this](CaptureOrder order) { exporter_->Order(std::move(order)); },
        [this](const Firing& firing, const std::string& text) { TellFiring(firing, text); },
        &*history_});
    triggers_->Remember(clock_.MonotonicNs(), clock_.WallNs());
  }

  // Of a policy of the API server.
  void TellFiring(const Firing& firing, const std::string& text) {
    if (!report_) return;
    const std::shared_ptr<const k8s::PodIndex> pods = pods_.index();
    std::shared_ptr<const k8s::Pod> pod;
    if (pods && firing.container) pod = pods->Find(firing.container->path.pod_uid);
    report_->PostFiring(*firing.policy, pod.get(), text);
  }

  // Every kind of object that is watched is named here, before anything asks how it stands.
  void JoinCluster() {
    if (!access_) return;
    cluster_ = std::make_unique<Cluster>(*access_, config_.node_name, registry_, clock_);
    cluster_->Watch(k8s::PodsOf(config_.node_name), pods_);
    if (files_ || !config_.standalone) {
      labels_ = std::make_unique<ClusterLabels>(config_.node_name, [this] { OnView(); });
      cluster_->Watch(ClusterLabels::Namespaces(), labels_->namespaces());
      cluster_->Watch(labels_->Node(), labels_->nodes());
    }
    if (!config_.standalone) {
      objects_ = std::make_unique<PolicyObjects>(clock_);
      for (const bool of_cluster : {false, true})
        cluster_->Watch(PolicyObjects::ResourceOf(of_cluster), objects_->consumer(of_cluster));
      report_ = std::make_unique<ReportThread>(cluster_->NewClient(), config_.node_name, registry_,
                                               clock_);
      started_ns_ = clock_.WallNs();
      faults_ = ReadCapabilityFaults(config_.proc_root);
      faults_.ceiling_hz = config_.max_frequency_hertz;
      faults_.cpu_end = PossibleCpuEnd(config_.sys_root).value_or(0);
      report_->Start();
    }
    cluster_->Start();
  }

  // What this node's ProfilingNode says. Not before all is known: what is missing would be told as
  // not being here.
  void Report() {
    if (!report_ || !AwaitedWatches(cluster_->watches()).empty()) return;
    const std::optional<ClusterView> view = View();
    faults_.store_fails = feed_->store_fails();
    faults_.opt_outs = config_.ignore_opt_out ? "" : UnknownOptOuts(cluster_->watches());
    k8s::NodeReport report;
    report.node = config_.node_name;
    report.node_uid = view->NodeUid();
    const std::string pod_namespace = access_->in_pod ? access_->default_namespace : "";
    report.agent = {FIRETOWER_VERSION, pod_namespace, "", kernel_.release, hierarchy_.mode, {}};
    report.conditions = {{"Ready", true, "Sampling", "", started_ns_}};
    PolicyFindings findings = triggers_->findings();
    budget_.AddTo(findings);
    report.policies =
        ReportPolicies(objects_->policies(), *view, clock_.WallNs(), findings, faults_);
    report_->Report(std::move(report));
  }

  // The watches' threads.
  void OnView() { view_changed_.Notify(); }

  std::optional<ClusterView> View() const {
    if (!labels_) return std::nullopt;
    ClusterView view = labels_->View(pods_.index());
    view.ignore_opt_out = config_.ignore_opt_out;
    return view;
  }

  // Export thread: of what was sampled while a decision was open, as far as is known by now.
  Decision Settled(const Container& container) const {
    return published_schedule_.Get()->Whenever(*View(), clock_.WallNs())->Decide(container);
  }

  PodSource PodsSource() {
    if (!access_) return nullptr;
    return [this] { return pods_.index(); };
  }

  Status ServeHttp() {
    DoctorInput doctor;
    doctor.proc_root = config_.proc_root;
    doctor.sys_root = config_.sys_root;
    doctor.sideband_ring_bytes = config_.sideband_ring_bytes;
    doctor.cgroup = [this] { return CgroupFacts{hierarchy_.mode, hierarchy_.Name(), ""}; };
    doctor.store = [this] { return ProbeStore(*store_, clock_); };
    doctor.names = [this]() -> std::optional<NameFacts> {
      const std::shared_ptr<const NameFacts> facts = exporter_->name_facts();
      return facts ? std::optional(*facts) : std::nullopt;
    };
    doctor.policies = [this] { return PolicyFactsNow(); };
    std::function<std::vector<std::string>()> awaited;
    if (cluster_) {
      doctor.cluster = [this] {
        std::vector<Check> checks =
            WatchChecks(cluster_->watches(), cluster_->ServerText(), clock_.WallNs());
        if (report_) std::ranges::move(report_->GetChecks(), std::back_inserter(checks));
        return checks;
      };
      awaited = [this] { return AwaitedWatches(cluster_->watches()); };
    }
    sources_ =
        std::make_unique<HttpSources>(*exporter_, registry_, std::move(doctor), std::move(awaited));
    query::ApiParts parts{store_->readable(), *sources_, *sources_,
                          *sources_,          *sources_, authorizer_};
    api_ = std::make_unique<query::Api>(parts);
    net::HttpServerOptions options;
    options.error_format = query::JsonError;
    options.worker_threads = api_->WorkerThreads();
    const std::string& host = config_.listen.host;
    bool v6 = host.find(':') != std::string::npos;
    options.listen =
        fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", config_.listen.port);
    options.host_rule = {config_.allowed_hosts, "add the name to --allowed-hosts"};
    ASSIGN_OR_RETURN(http_,
                     net::HttpServer::Start(options, [this](const net::HttpRequest& request) {
                       return api_->Serve(request);
                     }));
    return OkStatus();
  }

  // Of the API server all policies are there only after its first answers.
  bool KnowsAllPolicies() const { return !objects_ || AwaitedWatches(cluster_->watches()).empty(); }

  // HTTP threads.
  std::optional<PolicyFacts> PolicyFactsNow() const {
    const std::shared_ptr<const PolicySchedule> schedule = published_schedule_.Get();
    if (!schedule || !KnowsAllPolicies()) return std::nullopt;
    return PolicyFacts{schedule->size(), refused_policies_.load(std::memory_order_relaxed)};
  }

  Status StartStages() {
    CaptureOptions options;
    options.sideband_ring_bytes = static_cast<size_t>(config_.sideband_ring_bytes);
    options.sys_root = config_.sys_root;
    ASSIGN_OR_RETURN(capture_,
                     Capture::Create(*sampler_, options, clock_, [this] { pipeline_->Notify(); }));
    // Streams first, then the state there already is: nothing falls between the two.
    Status opened = capture_->OpenSideband();
    if (!opened) return CapabilityError(opened.error(), PrivilegedCall::kPerfEventOpen);
    Status attached = sampler_->AttachCgroups();
    if (!attached) return CapabilityError(attached.error(), PrivilegedCall::kBpf);
    if (Status scanned = cgroups_->Scan(); !scanned) {
      LOG(kWarn, "not all cgroups read", {{"error", scanned.error().message()}});
    }
    processes_->Scan();
    readers_.Start([this] { pipeline_->Notify(); });
    TakePolicies();
    store_->Start();
    exporter_->Start(*pipeline_);
    pipeline_->Start(*capture_);
    Status started = capture_->Start();
    if (!started) return CapabilityError(started.error(), PrivilegedCall::kPerfEventOpen);
    return OkStatus();
  }

  void TakePolicies() {
    if (!files_ && !objects_) {
      pipeline_->SetSelection(SelectEverything(frequency_hz_));
      return;
    }
    PolicySet set = MergePolicies(files_ ? &*files_ : nullptr, objects_.get());
    policy_log_.TakeErrors(set.errors);
    FeedPolicyMetrics(set);
    schedule_ = std::make_shared<const PolicySchedule>(
        std::move(set.policies), static_cast<uint32_t>(config_.max_frequency_hertz));
    published_schedule_.Publish(schedule_);
    std::ranges::copy(schedule_->Warnings(labels_ != nullptr), std::back_inserter(set.warnings));
    policy_log_.TakeWarnings(std::move(set.warnings));
    refused_policies_.store(set.refused, std::memory_order_relaxed);
    LOG(kInfo, "policies", {{"accepted", schedule_->size()}, {"refused", set.refused}});
    if (schedule_->size() == 0 && KnowsAllPolicies())
      LOG(kWarn, "no policy is in force: nothing is profiled", {{"refused", set.refused}});
    ApplySchedule();
  }

  void FeedPolicyMetrics(const PolicySet& set) {
    double kinds[2] = {0, 0};
    for (const LoadedPolicy& loaded : set.policies) ++kinds[loaded.policy.cluster ? 1 : 0];
    registry_.Set(MetricId::kPolicies, kinds[0], {"ProfilingPolicy", "accepted"});
    registry_.Set(MetricId::kPolicies, kinds[1], {"ClusterProfilingPolicy", "accepted"});
    registry_.Set(MetricId::kPolicies, static_cast<double>(set.refused), {"unknown", "refused"});
  }

  void ApplySchedule() {
    int64_t now_ns = clock_.WallNs();
    view_due_ns_.reset();
    Arm();
    std::shared_ptr<const Selection> selection =
        schedule_->At(now_ns, View(), triggers_->moment(), budget_.factors());
    schedule_change_ns_ = schedule_->NextChange(now_ns);
    frequency_hz_ = selection->frequency_hz();
    pipeline_->SetSelection(std::move(selection));
    Report();
  }

  // Once a second; true if containers are to be sampled at another rate now.
  bool LookAtTriggers() {
    const int64_t now_ns = clock_.MonotonicNs();
    const std::vector<OomKill> kills = pipeline_->TakeOomKills();
    triggers_->NoteOomKills(kills);
    if (now_ns < next_triggers_ns_) return false;
    next_triggers_ns_ = now_ns + TriggerDesk::kEveryNs;
    bool changed = false;
    if (auto containers = pipeline_->containers(); containers && containers != armed_containers_) {
      armed_containers_ = std::move(containers);
      changed = Arm();
    }
    if (triggers_->armed()) changed |= triggers_->Evaluate(now_ns, clock_.WallNs());
    return changed;
  }

  bool Arm() {
    if (!armed_containers_) return false;
    const std::optional<ClusterView> view = View();
    return triggers_->Arm(
        schedule_->ArmedAt(clock_.WallNs(), view, *armed_containers_, budget_.factors()),
        view ? view->pods.get() : nullptr);
  }

  // True if policies get other rates now.
  bool LookAtBudget() {
    const int64_t now_ns = clock_.MonotonicNs();
    if (!budget_.IsDue(now_ns)) return false;
    return budget_.Look(
        schedule_->RunningAt(clock_.WallNs(), View(), triggers_->moment(), budget_.factors()),
        feed_->own(), now_ns);
  }

  int64_t UntilScheduleNs() const {
    if (!schedule_change_ns_) return kFeedEveryNs;
    return std::max<int64_t>(*schedule_change_ns_ - clock_.WallNs(), 0);
  }

  Config config_;
  std::optional<k8s::ClientConfig> access_;
  const Clock& clock_;
  ModuleReaders readers_{config_, clock_};
  MetricsRegistry registry_;
  BudgetDesk budget_{registry_, config_.memory_limit_bytes};
  std::string mounts_;  // /proc/self/mountinfo as of the start
  ChosenHierarchy hierarchy_;
  KernelIdentity kernel_;
  bool user_reads_ = true;
  uint32_t frequency_hz_ = 97;
  std::unique_ptr<BpfSampler> sampler_;
  ModuleRegistry modules_{ForgetModulesAfterNs(config_)};
  std::unique_ptr<CgroupTree> cgroups_;
  std::unique_ptr<ProcessTable> processes_;
  std::unique_ptr<MetricsFeed> feed_;
  std::unique_ptr<StoreSide> store_;
  std::unique_ptr<PushSide> push_;
  std::unique_ptr<Exporter> exporter_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Capture> capture_;
  std::optional<PolicyStore> files_;
  std::unique_ptr<PolicyObjects> objects_;
  std::shared_ptr<const PolicySchedule> schedule_;
  std::unique_ptr<KernelMetrics> kernel_metrics_;
  std::optional<CaptureHistory> history_;
  std::unique_ptr<TriggerDesk> triggers_;
  std::shared_ptr<const Pipeline::Containers> armed_containers_;  // as they were armed last
  int64_t next_triggers_ns_ = 0;                                  // monotonic
  SnapshotCell<PolicySchedule> published_schedule_;               // the same, for the export thread
  std::atomic<size_t> refused_policies_{0};
  PolicyLog policy_log_;
  std::optional<int64_t> schedule_change_ns_;
  WakeFd view_changed_;
  std::optional<int64_t> view_due_ns_;  // monotonic
  k8s::PodTracker pods_{clock_, [this] { OnView(); }};
  std::unique_ptr<ClusterLabels> labels_;  // unset: no policy asks for what the API server knows
  std::unique_ptr<Cluster> cluster_;       // unset: no API server is known
  std::unique_ptr<ReportThread> report_;   // unset: policies are no API server's
  int64_t started_ns_ = 0;                 // Unix time
  AgentFaults faults_;
  query::AllowAll authorizer_;
  std::unique_ptr<HttpSources> sources_;
  std::unique_ptr<query::Api> api_;
  std::unique_ptr<net::HttpServer> http_;
  bool stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<Agent>> Agent::Start(const Config& config,
                                            std::optional<k8s::ClientConfig> access,
                                            const Clock& clock, bool& machine_refused) {
  auto agent = std::make_unique<AgentImpl>(config, std::move(access), clock);
  RETURN_IF_ERROR(agent->Start(machine_refused));
  return std::unique_ptr<Agent>(std::move(agent));
}

}  // namespace firetower::daemon
