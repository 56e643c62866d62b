// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/client/exchange.h"
#include "net/url.h"

// A response's head line by line and its body, as libcurl hands them on: nothing grows beyond its
// bound. The same bytes as a URL: one that is read can be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace net = firetower::net;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const net::ClientRequest request{.max_response_bytes = 100};
  net::Exchange exchange(request);
  std::string_view rest = text;
  bool goes_on = true;
  while (goes_on && !rest.empty() && !exchange.head_done()) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    goes_on = exchange.OnHeadLine(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  if (goes_on) (void)exchange.OnBody(rest);
  const net::HttpResponse response = exchange.TakeResponse();
  CHECK(response.body.size() <= (response.ok() ? 100u : net::kMaxRefusalBytes));
  for (const auto& [name, value] : response.headers)
    CHECK(name.find('\n') == std::string::npos && !value.ends_with('\n'));
  const firetower::Result<net::Url> url = net::ParseUrl(text);
  if (!url) return 0;
  const firetower::Result<net::Url> again = net::ParseUrl(url->Text());
  CHECK(again.has_value() && again->Text() == url->Text());
  return 0;
}
