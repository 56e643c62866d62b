# SPDX-License-Identifier: Apache-2.0
"""Expected stacks of the toys, with the frames that the kernel may put above them."""

USER = ("_start", "main", "hot_read")
ENTRY = ("entry_SYSCALL_64_after_hwframe", "do_syscall_64")
# Entry points of an interrupt or of its return; they may come on top of anything.
INTERRUPTS = ("asm_", "irq_", "ret_from_intr", "common_interrupt")
# do_syscall_64 ends with this call; where the compiler made it a jump (5.10), its own frame is gone by then.
TAIL = (ENTRY[0], "syscall_exit_to_user_mode")
RETPOLINES = ("__x86_indirect_thunk", "__pi___x86_indirect_thunk")


def counts(profile):
    """Samples by stack of names, root first."""
    tally = {}
    for sample in profile.samples:
        key = tuple(sample.names)
        tally[key] = tally.get(key, 0) + sample.values[0]
    return tally


def is_exactly(stack, wanted):
    """`wanted` and nothing else, but for an interrupt on top."""
    above = stack[len(wanted):]
    return stack[:len(wanted)] == wanted and (not above or above[0].startswith(INTERRUPTS))


def judge_syscalls(case, tally, least):
    """toy_syscall: its system call's kernel frames in their order above its own."""
    reads = {stack: n for stack, n in tally.items() if "hot_read" in stack}
    total = sum(reads.values())
    case.at_least("samples below hot_read", total, least)
    inside = in_call = exact = 0
    strange = {}
    for stack, n in reads.items():
        kernel = stack[stack.index("hot_read") + 1:]
        inside += n * bool(kernel)
        in_call += n * (kernel[:2] == ENTRY)
        # On its way out a call may give up its CPU.
        exact += n * (stack[:3] == USER and kernel[:2] == ENTRY and ("vfs_read" in kernel or "schedule" in kernel))
        # Else an interrupt came between two instructions of the loop: that is right too. From inside a
        # retpoline, which moves the return address, the kernel's own walk shows nothing further.
        known = not kernel or kernel[:2] in (ENTRY, TAIL) or kernel[0].startswith(INTERRUPTS + RETPOLINES)
        if stack[:3] != USER or not known:
            strange[stack] = n
    case.at_least("share of hot_read inside the kernel", inside / max(total, 1), 0.8)
    case.at_least(f"share of system calls with exactly {' '.join(USER + ENTRY)} … vfs_read", exact / max(in_call, 1), 0.85)
    case.check("hot_read shows no stack that it cannot have", sum(strange.values()) <= 0.01 * total,
               [f"{n} × {' '.join(stack)}" for stack, n in strange.items()][:3] or "")
    if reads:
        case.figure("the stack seen most often", " ".join(max(reads, key=reads.get)))
