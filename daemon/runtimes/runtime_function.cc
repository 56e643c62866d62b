// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/runtime_function.h"

#include <algorithm>

namespace firetower::daemon {

void KeepCommon(std::vector<RuntimePlace>& chain, const std::vector<RuntimePlace>& other) {
  const auto at = [](const std::vector<RuntimePlace>& of, size_t depth) -> const RuntimePlace& {
    return of[of.size() - 1 - depth];
  };
  const size_t most = std::min(chain.size(), other.size());
  size_t same = 1;
  while (same < most && at(chain, same).function == at(other, same).function &&
         at(chain, same - 1).line == at(other, same - 1).line)
    ++same;
  chain.erase(chain.begin(), chain.end() - static_cast<ptrdiff_t>(same));
}

}  // namespace firetower::daemon
