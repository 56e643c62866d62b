// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions of the shared library. Its own calls go through its linkage table, too.
long library_leaf(long x);
long library_middle(long x);
long library_chain(long x);
// Calls functions of other libraries for the first time, and so has the dynamic linker find them.
long library_calls(long x);
