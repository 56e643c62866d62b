// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/selection.h"

namespace firetower::daemon {
namespace {

class Everything : public Selection {
 public:
  explicit Everything(uint32_t frequency_hz) : frequency_hz_(frequency_hz) {}
  uint32_t frequency_hz() const override { return frequency_hz_; }
  bool everything() const override { return true; }

 private:
  Decision DecideOn(const Container&, Type type) const override {
    Decision decision;
    decision.sampled = type == FT_TYPE_CPU;
    decision.frequency_hz = decision.sampled ? frequency_hz_ : 0;
    return decision;
  }

  uint32_t frequency_hz_;
};

}  // namespace

std::shared_ptr<const Selection> SelectEverything(uint32_t frequency_hz) {
  return std::make_shared<Everything>(frequency_hz);
}

}  // namespace firetower::daemon
