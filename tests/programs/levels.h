// SPDX-License-Identifier: Apache-2.0
// A chain of calls as a program has it: functions of their own, with frames of all sizes (104 bytes
// on average). level_entries[n] calls down to level 0, and that calls leaf(char *), which whoever
// includes this defines before.
#pragma once

#include "tests/programs/toy.h"

// Whatever is done after the call keeps it from becoming a jump.
#define TOY_LEVEL(n, below, words)       \
  TOY_FRAME long level_##n(char *data) { \
    volatile long room[words];           \
    room[0] = below(data);               \
    return room[0] + (n);                \
  }
#define FOUR_LEVELS(a, b, c, d, below) \
  TOY_LEVEL(a, below, 1)               \
  TOY_LEVEL(b, level_##a, 5)           \
  TOY_LEVEL(c, level_##b, 13)          \
  TOY_LEVEL(d, level_##c, 25)
FOUR_LEVELS(0, 1, 2, 3, leaf)
FOUR_LEVELS(4, 5, 6, 7, level_3)
FOUR_LEVELS(8, 9, 10, 11, level_7)
FOUR_LEVELS(12, 13, 14, 15, level_11)
FOUR_LEVELS(16, 17, 18, 19, level_15)
FOUR_LEVELS(20, 21, 22, 23, level_19)
FOUR_LEVELS(24, 25, 26, 27, level_23)
FOUR_LEVELS(28, 29, 30, 31, level_27)
FOUR_LEVELS(32, 33, 34, 35, level_31)
FOUR_LEVELS(36, 37, 38, 39, level_35)
FOUR_LEVELS(40, 41, 42, 43, level_39)
FOUR_LEVELS(44, 45, 46, 47, level_43)
FOUR_LEVELS(48, 49, 50, 51, level_47)
FOUR_LEVELS(52, 53, 54, 55, level_51)
FOUR_LEVELS(56, 57, 58, 59, level_55)

#define FOUR_NAMES(a, b, c, d) level_##a, level_##b, level_##c, level_##d
static long (*const level_entries[])(char *) = {
    FOUR_NAMES(0, 1, 2, 3),     FOUR_NAMES(4, 5, 6, 7),     FOUR_NAMES(8, 9, 10, 11),
    FOUR_NAMES(12, 13, 14, 15), FOUR_NAMES(16, 17, 18, 19), FOUR_NAMES(20, 21, 22, 23),
    FOUR_NAMES(24, 25, 26, 27), FOUR_NAMES(28, 29, 30, 31), FOUR_NAMES(32, 33, 34, 35),
    FOUR_NAMES(36, 37, 38, 39), FOUR_NAMES(40, 41, 42, 43), FOUR_NAMES(44, 45, 46, 47),
    FOUR_NAMES(48, 49, 50, 51), FOUR_NAMES(52, 53, 54, 55), FOUR_NAMES(56, 57, 58, 59)};

enum { kMostLevels = sizeof(level_entries) / sizeof(level_entries[0]) };
