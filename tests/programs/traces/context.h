// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

// OTEP 4947: Thread-Local Context Record.
struct record {
  uint8_t trace_id[16];
  uint8_t span_id[8];
  uint8_t valid;
  uint8_t trace_flags;
  uint16_t attributes_bytes;
};

void publish(struct record *record);
