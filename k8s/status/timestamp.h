// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace firetower::k8s {

// Formats times as Kubernetes does (RFC 3339, UTC); ParseTimestampNs of exec_plugin.h reads both.
// metav1.Time: "2026-11-21T19:43:27Z".
std::string TimeText(int64_t wall_ns);
// metav1.MicroTime: "2026-11-21T19:43:27.000123Z".
std::string MicroTimeText(int64_t wall_ns);

}  // namespace firetower::k8s
