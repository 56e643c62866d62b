// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "daemon/capture/events/event_source.h"

namespace firetower::daemon {

// Fills config, config1 and config2 from the terms of an event in sysfs:
// "event=0x3c,umask=0x1,edge". `format` returns the bits of a term, "config:0-7,32-35" or
// "config1:0-63" as sysfs has them; unset: there is no such term. A term "config" sets that field
// as a whole. kCorrupt names what is no term. The format:
// Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format} in Linux.
Status ApplyTerms(std::string_view terms,
                  const std::function<std::optional<std::string>(const std::string&)>& format,
                  EventSource& source);

// Returns an event that the drivers of the CPU's counters have by that name. kNotFound: none has.
Result<EventSource> FindCpuEvent(const std::string& name, const std::string& sys_root);

// Tells whether the kernel has a driver for the CPU's counters.
bool HasCpuDriver(const std::string& sys_root);

}  // namespace firetower::daemon
