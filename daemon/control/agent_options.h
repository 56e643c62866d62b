// SPDX-License-Identifier: Apache-2.0
// What the parts of the daemon are told of its configuration.
#pragma once

#include <string>

#include "daemon/config/config.h"
#include "daemon/export/exporter.h"
#include "daemon/metrics/hotspot_tracker.h"
#include "daemon/outbox/store_side.h"
#include "daemon/pipeline/pipeline.h"
#include "daemon/push/push_side.h"
#include "symbolizer/debuginfod/client.h"

namespace firetower::daemon {

// As ChooseHierarchy takes it.
std::string WantedHierarchy(const CgroupHierarchy& wanted);
PipelineOptions PipelineOptionsOf(const Config& config);
// As configured; else room for what each CPU can send between two rounds, cold stacks included.
size_t SampleRingBytes(int64_t configured);
// Where what outlives the daemon is kept: in its store's folder, or the spool's.
std::string StateFolder(const Config& config);
// With a name of this run of the daemon that no other has.
ExportOptions ExportOptionsOf(const Config& config);
StoreSideOptions StoreSideOptionsOf(const Config& config);
PushOptions PushOptionsOf(const Config& config);
HotspotTracker::Options HotspotOptionsOf(const Config& config);
// Open windows, the flight recorder and slices on their way to them hold frames by module id.
int64_t ForgetModulesAfterNs(const Config& config);
symbolizer::DebuginfodOptions DebuginfodOptionsOf(const Config& config);

}  // namespace firetower::daemon
