// SPDX-License-Identifier: Apache-2.0
/*
 * memory exec PROGRAM FD SECONDS   runs a program from a memory file that has at least that number
 * memory load PROGRAM SECONDS LIB  runs it with a library that is in a memory file
 * memory jit SECONDS               burns CPU in code that it wrote into a memory file, mapped twice
 * as runtimes do memory jit-shm SECONDS           the same in a file in /dev/shm
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int fail(const char *what) {
  perror(what);
  return 1;
}

static int copy_of(const char *path, const char *name) {
  static char bytes[1 << 16];
  const int from = open(path, O_RDONLY), to = memfd_create(name, 0);
  ssize_t n;

  if (from < 0 || to < 0) return -1;
  while ((n = read(from, bytes, sizeof(bytes))) > 0)
    if (write(to, bytes, n) != n) return -1;
  close(from);
  return to;
}

static int run_jit(int file, const char *seconds) {
  /* mov $1000000, %ecx; 1: dec %ecx; jnz 1b; ret */
  static const unsigned char code[] = {0xb9, 0x40, 0x42, 0x0f, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
  char *writable;
  void (*call)(void);

  if (file < 0 || ftruncate(file, 65536) != 0) return fail("memory file");
  writable = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  call = (void (*)(void))mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  if (writable == MAP_FAILED || (void *)call == MAP_FAILED) return fail("mmap");
  memcpy(writable, code, sizeof(code));
  for (const time_t end = time(NULL) + atoi(seconds); time(NULL) < end;) call();
  return 0;
}

int main(int argc, char **argv) {
  char path[64];

  if (argc > 2 && strcmp(argv[1], "jit") == 0)
    return run_jit(memfd_create("doublemapper", 0), argv[2]);
  if (argc > 2 && strcmp(argv[1], "jit-shm") == 0) {
    snprintf(path, sizeof(path), "/dev/shm/firetower-jit-%d", getpid());
    int file = open(path, O_RDWR | O_CREAT, 0600);

    unlink(path);
    return run_jit(file, argv[2]);
  }
  if (argc > 4 && strcmp(argv[1], "exec") == 0) {
    /* The process is called after the descriptor, or on newer kernels after the file. */
    fexecve(fcntl(copy_of(argv[2], argv[3]), F_DUPFD, atoi(argv[3])), argv + 3, environ);
    return fail("fexecve");
  }
  if (argc > 4 && strcmp(argv[1], "load") == 0) {
    snprintf(path, sizeof(path), "/proc/self/fd/%d", copy_of(argv[4], "library"));
    execl(argv[2], argv[2], argv[3], path, NULL);
    return fail("exec");
  }
  return 2;
}
