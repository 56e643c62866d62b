// SPDX-License-Identifier: Apache-2.0
// A function made at run time, with a frame pointer and no call frame information, between
// functions of the program, named in a perf map.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/programs/truth/truth.h"

static volatile long sum;

FRAME static void jit_callback(void) {
  for (long i = 0; i < 2000; ++i) sum = sum + 1;
}

// push rbp; mov rbp, rsp; mov eax, 20000; L: dec eax; jne L; call rdi; pop rbp; ret
static const unsigned char kCode[] = {0x55, 0x48, 0x89, 0xe5, 0xb8, 0x20, 0x4e, 0x00, 0x00,
                                      0xff, 0xc8, 0x75, 0xfc, 0xff, 0xd7, 0x5d, 0xc3};

FRAME static void jit_run(void) {
  static void (*island)(void (*)(void));
  if (island == NULL) {
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) abort();
    memcpy(page, kCode, sizeof(kCode));
    memcpy(&island, &page, sizeof(island));
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    if (map == NULL) abort();
    fprintf(map, "%lx %zx jit_island\n", (unsigned long)page, sizeof(kCode));
    fclose(map);
  }
  for (int i = 0; i < 500; ++i) island(jit_callback);
}
static void jit_state(void) { STATE("jit_run jit_island jit_callback"); }
const struct Shape kJit = {"jit", jit_state, jit_run};
