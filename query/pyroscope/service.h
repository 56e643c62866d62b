// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "net/message.h"
#include "query/api.h"

namespace firetower::query::pyroscope {

// Whether a path is of Pyroscope's query API, which Grafana's data source asks, also one of a
// method that there is not.
bool IsServicePath(std::string_view path);
// The path as a response has it; "" of a method that there is not.
std::string_view ServiceRoute(std::string_view path);

// POST /querier.v1.QuerierService/METHOD and /settings.v1.SettingsService/Get of Pyroscope, by the
// Connect protocol. Who asks is known already.
net::HttpResponse ServeService(const net::HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query::pyroscope
