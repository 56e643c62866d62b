# SPDX-License-Identifier: Apache-2.0
"""Which stacks are whole: they reach the function that the kernel or the C library started the thread with."""

KERNEL = "[kernel.kallsyms]"
# First functions of threads: the C start files, libc's clone, the Go runtime's entries and goroutines, and the place
# where Go gives up a goroutine for good and uses the thread's own stack, as `go tool pprof` shows its own profiles,
# too. Stripped libraries have no name for theirs; then only the product's own word counts, and how many those are is
# printed.
FIRST = {"_start", "__clone", "__clone3", "clone3", "clone", "thread_start", "_rt0_amd64_linux",
         *(f"runtime.{name}{abi}" for name in ("goexit", "mstart", "rt0_go", "mcall", "morestack")
           for abi in ("", ".abi0"))}


def has_user_part(sample):
    """False for a task that is leaving: there is nothing to be whole."""
    return bool(sample.stack) and (sample.stack[0].module != KERNEL or bool(sample.labels.get("cut")))


def why_not_whole(sample, firsts=FIRST):
    """"" for a whole stack: the product calls it whole (no label `cut`), and so does its first frame."""
    cut = sample.labels.get("cut")
    if cut:
        return f"cut: {cut}"
    first = sample.stack[0]
    return f"begins with {first.name}" if first.is_named and first.name not in firsts else ""
