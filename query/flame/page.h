// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "query/http/message.h"

namespace firetower::query {

// A browser asks for "text/html" by name; curl and scripts do not.
bool WantsPage(const HttpRequest& request);

// The page that draws flame graphs, with headers that let it talk to its own server alone. The same
// for everyone: what it shows it asks of the API, under the reader's rights.
//
// 400 names the parameters of an address that the page does not have.
HttpResponse ServePage(const HttpRequest& request);

// Headers that a page of ours goes with, whoever serves it.
void AddPageHeaders(const std::string& content_security_policy, HttpResponse& response);

}  // namespace firetower::query
