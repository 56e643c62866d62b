// SPDX-License-Identifier: Apache-2.0
/*
 * Library that moves its program's code out of its file before main, as programs do for huge pages.
 * How, is in $REMAP:
 *
 *   fixed    copies it, puts anonymous memory in its place, copies it back (iodlr, BOLT's hugify,
 * Node.js) mremap   copies it to anonymous memory, and moves that into its place (iodlr's preload
 * library): no record tells hugetlb  as fixed, with memory of hugetlbfs other    as fixed, and puts
 * other code at its end: that is no copy any more
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct text {
  char *begin, *end;
};

static int find_text(struct dl_phdr_info *info, size_t size, void *out) {
  struct text *text = out;

  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];

    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
    text->begin = (char *)info->dlpi_addr + header->p_vaddr;
    text->end = text->begin + header->p_memsz;
  }
  return 1; /* The first is the program. */
}

static void require(int holds, const char *what) {
  if (holds) return;
  perror(what);
  _exit(77);
}

__attribute__((constructor)) static void move_text(void) {
  const char *how = getenv("REMAP");
  struct text text = {0};
  const int huge = how && strcmp(how, "hugetlb") == 0;
  const uintptr_t page = huge ? 2 << 20 : 4096;
  char *begin, *copy;
  size_t bytes, code;
  void *there;

  if (!how || (strcmp(how, "fixed") != 0 && strcmp(how, "mremap") != 0 && !huge)) return;
  dl_iterate_phdr(find_text, &text);
  begin = (char *)((uintptr_t)text.begin & ~(page - 1));
  code = text.end - begin;
  bytes = (code + page - 1) & ~(page - 1);
  copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(copy != MAP_FAILED, "mmap");
  memcpy(copy, begin, code);
  if (strcmp(how, "mremap") == 0) {
    require(mprotect(copy, bytes, PROT_READ | PROT_EXEC) == 0, "mprotect");
    there = mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, begin);
    require(there == begin, "mremap");
    return;
  }
  there = mmap(begin, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | (huge ? MAP_HUGETLB : 0), -1, 0);
  require(there == begin, "mmap in its place");
  memcpy(begin, copy, code);
  require(mprotect(begin, bytes, PROT_READ | PROT_EXEC) == 0, "mprotect");
  munmap(copy, bytes);
}
