// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "daemon/capture/events/event_names.h"
#include "daemon/capture/events/pmu_event.h"

// The first line holds the terms of an event, each further line is a format: the n-th one that is
// asked for. The same bytes as the name of an event, on a machine without counters.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace daemon = firetower::daemon;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string_view rest = text;
  const auto line = [&] {
    const size_t end = rest.find('\n');
    const std::string_view taken = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return taken;
  };
  const std::string_view terms = line();
  daemon::EventSource source;
  const auto format = [&](const std::string&) -> std::optional<std::string> {
    if (rest.empty()) return std::nullopt;
    return std::string(line());
  };
  const firetower::Status applied = daemon::ApplyTerms(terms, format, source);
  CHECK(applied || applied.error().code() == firetower::ErrorCode::kCorrupt);
  CHECK(source.type == 0 && source.tracepoint.empty());
  if (const auto event = daemon::ResolveEvent(text, "/nowhere")) {
    CHECK(event->tracepoint.empty() != daemon::IsTracepointName(text));
    CHECK(!event->tracepoint.empty() || event->type == 1);
  }
  return 0;
}
