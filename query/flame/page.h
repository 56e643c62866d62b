// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "net/message.h"

namespace firetower::query {

// A browser asks for "text/html" by name; curl and scripts do not.
bool WantsPage(const net::HttpRequest& request);

// The page that draws flame graphs, with headers that let it talk to its own server alone. The same
// for everyone: what it shows it asks of the API, under the reader's rights.
//
// 400 names the parameters of an address that the page does not have.
net::HttpResponse ServePage(const net::HttpRequest& request);

// Headers that a page of ours goes with, whoever serves it.
void AddPageHeaders(const std::string& content_security_policy, net::HttpResponse& response);

}  // namespace firetower::query
