// SPDX-License-Identifier: Apache-2.0
#include "service/metrics/label_text.h"

#include "base/json.h"

namespace firetower::service {

void AppendLabelValue(std::string& out, std::string_view value) {
  for (char c : ToValidUtf8(value)) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\\\"";
        break;
      case '\n':
        out += "\\n";
        break;
      default:
        out += c;
    }
  }
}

}  // namespace firetower::service
