// SPDX-License-Identifier: Apache-2.0
// The options of the daemon's parts, made from its configuration.
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

// Returns the argument of ChooseHierarchy.
std::string WantedHierarchy(const CgroupHierarchy& wanted);
PipelineOptions PipelineOptionsOf(const Config& config);
// Returns the configured size; 0: room for the records of each CPU between two rounds, including
// cold stacks.
size_t SampleRingBytes(int64_t configured);
// The folder for data that survives a restart: in the store's folder, or else in the spool's.
std::string StateFolder(const Config& config);
// The options have a random name of this run of the daemon.
ExportOptions ExportOptionsOf(const Config& config);
StoreSideOptions StoreSideOptionsOf(const Config& config);
PushOptions PushOptionsOf(const Config& config);
HotspotTracker::Options HotspotOptionsOf(const Config& config);
// How long modules are kept: open windows, the flight recorder and slices on their way to them
// refer to modules by id.
int64_t ForgetModulesAfterNs(const Config& config);
symbolizer::DebuginfodOptions DebuginfodOptionsOf(const Config& config);

}  // namespace firetower::daemon
