// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "k8s/client/websocket.h"

namespace {

namespace k8s = firetower::k8s;

struct Messages {
  std::vector<std::string> payloads;
  bool failed = false;
};

void Drain(k8s::WebSocketReader& reader, Messages& messages) {
  while (!messages.failed) {
    auto next = reader.Next();
    messages.failed = !next;
    if (!next || !*next) return;
    CHECK((*next)->payload.size() <= k8s::WebSocketReader::kMaxMessageBytes);
    messages.payloads.push_back(std::move((*next)->payload));
  }
}

}  // namespace

// The first byte says how long the pieces are in which the rest arrives, which must not matter.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const size_t piece = 1 + data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);

  Messages at_once, in_pieces;
  k8s::WebSocketReader whole, cut;
  whole.Feed(bytes);
  Drain(whole, at_once);
  for (size_t at = 0; at < bytes.size() && !in_pieces.failed; at += piece) {
    cut.Feed(bytes.substr(at, piece));
    Drain(cut, in_pieces);
  }
  CHECK(at_once.payloads == in_pieces.payloads);
  CHECK(at_once.failed == in_pieces.failed);
  return 0;
}
