// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "net/message.h"

namespace firetower::query {

// Tells whether the client is a browser: it asks for "text/html" by name; curl and scripts do not.
bool WantsPage(const net::HttpRequest& request);

// Returns a page of the web application, with headers that let it talk only to its own server. All
// pages are the same document: the script reads the path, and asks the API with the reader's
// rights.
//
// `trace_url`: the address of a page of traces, with {trace_id} in it, to which the pages lead;
// empty: none. It has no character that HTML knows.
//
// Answers 400 when the address has parameters that the application does not know, and names them.
net::HttpResponse ServePage(const net::HttpRequest& request, std::string_view trace_url);

// Returns the home page. Until pages had paths of their own, `/` showed flame graphs: an address
// that searches one is led to where they are now.
net::HttpResponse ServeHome(const net::HttpRequest& request, std::string_view trace_url);

// Returns the application's script or style. Its address has the hash of the content as `v`; with
// the right one the answer may be kept for ever.
net::HttpResponse ServeAppScript(const net::HttpRequest& request);
net::HttpResponse ServeAppStyle(const net::HttpRequest& request);

// Adds the headers of our pages, for any server that serves them.
void AddPageHeaders(const std::string& content_security_policy, net::HttpResponse& response);

}  // namespace firetower::query
