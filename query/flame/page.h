// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "net/message.h"

namespace firetower::query {

// Tells whether the client is a browser: it asks for "text/html" by name; curl and scripts do not.
bool WantsPage(const net::HttpRequest& request);

// Returns the page that draws flame graphs, with headers that let it talk only to its own server.
// It is the same for everyone: it asks the API for its data, with the reader's rights.
//
// Answers 400 when the address has parameters that the page does not know, and names them.
net::HttpResponse ServePage(const net::HttpRequest& request);

// Adds the headers of our pages, for any server that serves them.
void AddPageHeaders(const std::string& content_security_policy, net::HttpResponse& response);

}  // namespace firetower::query
