// SPDX-License-Identifier: Apache-2.0
// Readers and writers of values that the daemon's options alone have; see service/options/values.h.
#pragma once

#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "service/options/option.h"

namespace firetower::daemon {

using service::ValueType;

ValueType StoreValue(std::string& url);
ValueType ListenValue(ListenAddress& listen);
ValueType HostNamesValue(std::vector<std::string>& names);
ValueType SampleLabelsValue(SampleLabels& labels);
ValueType CgroupHierarchyValue(CgroupHierarchy& hierarchy);
ValueType SymbolsValue(SymbolMode& mode);
ValueType DebuginfodValue(std::vector<std::string>& urls);
ValueType PushValue(std::vector<std::string>& urls);

}  // namespace firetower::daemon
