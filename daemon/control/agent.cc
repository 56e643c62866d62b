// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/agent.h"

#include <malloc.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "daemon/control/store_probe.h"
#include "daemon/health/capabilities.h"
#include "daemon/health/kernel_version.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kFeedEveryNs = 5 * kNsPerSecond;

}  // namespace

Result<std::unique_ptr<Agent>> Agent::Start(const Config& config,
                                            std::optional<k8s::ClientConfig> access,
                                            const Clock& clock, bool& machine_refused) {
  std::unique_ptr<Agent> agent(new Agent(config, clock));
  RETURN_IF_ERROR(agent->Start(std::move(access), machine_refused));
  return agent;
}

Status Agent::Start(std::optional<k8s::ClientConfig> access, bool& machine_refused) {
  ASSIGN_OR_RETURN(store_, StoreSide::Open(StoreSideOptionsOf(config_), clock_));
  ASSIGN_OR_RETURN(push_, PushSide::Open(PushOptionsOf(config_), registry_, clock_));
  std::optional<PolicyStore> files;
  if (!config_.policy_path.empty()) {
    ASSIGN_OR_RETURN(PolicyStore opened, PolicyStore::Open(config_.policy_path, clock_));
    files.emplace(std::move(opened));
  }
  machine_refused = true;
  ASSIGN_OR_RETURN(kernel_, KernelSide::Load(config_));
  machine_refused = false;
  kernel_.Show(config_.proc_root, registry_);
  cluster_ = std::make_unique<ClusterSide>(config_, std::move(access), kernel_, registry_, clock_);
  MakeStages();
  cluster_->Join();
  policies_ = std::make_unique<PolicyController>(
      PolicyController::Parts{config_, clock_, registry_, *feed_, *cluster_, *kernel_metrics_,
                              *exporter_, *pipeline_, *waits_, *events_, *allocations_},
      std::move(files));
  ASSIGN_OR_RETURN(http_, HttpSide::Start({config_, store_->readable(), *exporter_, registry_,
                                           Doctor(), [this] { return cluster_->Awaited(); },
                                           [this] { return policies_->States(); },
                                           cluster_->ReviewClient(), cluster_->token_file()}));
  machine_refused = true;
  RETURN_IF_ERROR(StartStages());
  machine_refused = false;
  http_->SetReady(true);
  // Loading takes the kernel's BTF apart, some 10 MB that are free now: the node gets them back.
  ::malloc_trim(0);
  LOG(kInfo, "sampling",
      {{"hertz", policies_->frequency_hz()},
       {"cgroups", kernel_.hierarchy.Name()},
       {"store", store_->Describe()},
       {"listen", http_->address()},
       {"verified_instructions", kernel_.sampler->VerifiedInstructions()}});
  return OkStatus();
}

void Agent::MakeStages() {
  cgroups_ = std::make_unique<CgroupTree>(kernel_.hierarchy.mount);
  processes_ = std::make_unique<ProcessTable>(modules_, ProcFs(config_.proc_root), clock_);
  waits_ = std::make_unique<WaitSide>(*kernel_.sampler);
  events_ = std::make_unique<EventSide>(*kernel_.sampler, clock_, config_.sys_root);
  allocations_ = std::make_unique<AllocationSide>(
      AllocationSide::Parts{*kernel_.sampler, clock_, config_.proc_root, config_.sys_root,
                            kernel_.hierarchy.mount, [this] { return pipeline_->containers(); },
                            [this](uint32_t pid) { exporter_->EndHeap(pid, clock_.MonotonicNs()); },
                            ReturnProbesAllowed(kernel_.identity)});
  feed_ = std::make_unique<MetricsFeed>(
      MetricsFeed::Parts{*kernel_.sampler, *waits_, *events_, *allocations_, registry_, clock_,
                         config_.proc_root, HotspotOptionsOf(config_)});
  ObjectSink& sink = store_->Connect(*feed_);
  exporter_ = std::make_unique<Exporter>(
      push_->ForwardTo(sink), readers_.symbols(), readers_.cache(), config_.proc_root, *feed_,
      clock_, ExportOptionsOf(config_), cluster_->Pods(),
      [this](const Container& one) { return policies_->Settled(one); },
      &readers_.tables().runtimes());
  pipeline_ = std::make_unique<Pipeline>(
      *kernel_.sampler, *cgroups_, *processes_, modules_, readers_.symbols(), readers_.tables(),
      clock_, PipelineOptionsOf(config_), [this] { exporter_->Notify(); });
  kernel_metrics_ = std::make_unique<KernelMetrics>(
      config_.proc_root, CgroupRootsOf(kernel_.mounts, config_.cgroup_root), clock_);
}

DoctorInput Agent::Doctor() {
  DoctorInput doctor;
  doctor.proc_root = config_.proc_root;
  doctor.sys_root = config_.sys_root;
  doctor.sideband_ring_bytes = config_.sideband_ring_bytes;
  doctor.cgroup = [this] {
    return CgroupFacts{kernel_.hierarchy.mode, kernel_.hierarchy.Name(), ""};
  };
  doctor.store = [this] { return ProbeStore(*store_, clock_); };
  doctor.names = [this]() -> std::optional<NameFacts> {
    const std::shared_ptr<const NameFacts> facts = exporter_->name_facts();
    return facts ? std::optional(*facts) : std::nullopt;
  };
  doctor.runtimes = [this]() -> std::optional<RuntimeFacts> {
    const std::shared_ptr<const RuntimeFacts> facts = exporter_->runtime_facts();
    return facts ? std::optional(*facts) : std::nullopt;
  };
  doctor.policies = [this] { return policies_->Facts(); };
  if (cluster_->joined()) doctor.cluster = [this] { return cluster_->Checks(); };
  return doctor;
}

Status Agent::StartStages() {
  CaptureOptions options;
  options.sideband_ring_bytes = static_cast<size_t>(config_.sideband_ring_bytes);
  options.sys_root = config_.sys_root;
  ASSIGN_OR_RETURN(capture_, Capture::Create(*kernel_.sampler, options, clock_,
                                             [this] { pipeline_->Notify(); }));
  // Streams first, then the state there already is: nothing falls between the two.
  Status opened = capture_->OpenSideband();
  if (!opened) return CapabilityError(opened.error(), PrivilegedCall::kPerfEventOpen);
  Status attached = kernel_.sampler->AttachCgroups();
  if (!attached) return CapabilityError(attached.error(), PrivilegedCall::kBpf);
  if (Status scanned = cgroups_->Scan(); !scanned) {
    LOG(kWarn, "not all cgroups read", {{"error", scanned.error().message()}});
  }
  processes_->Scan();
  readers_.Start([this] { pipeline_->Notify(); });
  policies_->TakePolicies();
  store_->Start();
  exporter_->Start(*pipeline_);
  pipeline_->Start(*capture_, waits_.get());
  Status started = capture_->Start();
  if (!started) return CapabilityError(started.error(), PrivilegedCall::kPerfEventOpen);
  return OkStatus();
}

void Agent::Run(int stop_fd) {
  int64_t next_feed_ns = 0;
  for (;;) {
    const int64_t now_ns = clock_.MonotonicNs();
    if (now_ns >= next_feed_ns) {
      next_feed_ns = now_ns + kFeedEveryNs;
      PipelineFigures figures = pipeline_->figures();
      feed_->Update(capture_.get(), &figures, exporter_.get(), store_.get(),
                    policies_->frequency_hz());
      cluster_->UpdateMetrics();
      policies_->Refresh();
    }
    const int64_t wait_ns = std::min(next_feed_ns - now_ns, policies_->WaitNs());
    PolicyController::PollSet policies = policies_->GetPollSet();
    pollfd fds[] = {{stop_fd, POLLIN, 0}, policies[0], policies[1], policies[2]};
    ::poll(fds, std::size(fds), static_cast<int>(std::max<int64_t>(wait_ns / kNsPerMs, 0) + 1));
    if ((fds[0].revents & POLLIN) != 0) return;
    std::copy(fds + 1, std::end(fds), policies.begin());
    policies_->Step(policies);
  }
}

void Agent::Stop() {
  if (stopped_) return;
  stopped_ = true;
  if (http_) http_->SetReady(false);
  if (allocations_) allocations_->Stop();
  if (capture_) capture_->Stop();
  if (pipeline_) pipeline_->Finish();
  if (exporter_) exporter_->Finish();
  if (store_) store_->Finish();
  if (push_) push_->Finish();
  readers_.Stop();
  if (cluster_) cluster_->Stop();
  if (http_) http_->Stop();
}

}  // namespace firetower::daemon
