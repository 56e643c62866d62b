# SPDX-License-Identifier: Apache-2.0
"""python_paths.py NAME SECONDS [threads|count]: a program in which every path ends in a function of its own.

So the leaf of a stack tells the whole of it. PATHS has the functions below `main` by leaf. Writes NAME as the name of
its threads, and its paths, by leaf, as JSON to standard output; with `count`, at its end the number of turns it made.
"""

import ctypes
import functools
import json
import re
import sys
import threading
import time

END = 0.0


PATHS = {}


def path(*functions):
    """The decorated one leads to its leaf by these, `main` before and the leaf behind them."""

    def note(entry):
        PATHS["leaf_" + entry.__name__[2:]] = [entry.__qualname__, *functions]
        return entry

    return note


def leaf_plain():
    for _ in range(20000):
        pass
    return 0


def second():
    return leaf_plain()


@path("second")
def p_plain():
    return second()


class Cart:
    def add(self):
        return leaf_method()

    @property
    def price(self):
        return leaf_property()

    def __lt__(self, other):
        return leaf_compare() < 0


def leaf_method():
    for _ in range(20000):
        pass
    return 0


def leaf_property():
    for _ in range(20000):
        pass
    return 0


def leaf_compare():
    for _ in range(20000):
        pass
    return 0


CART = Cart()


@path("Cart.add")
def p_method():
    return CART.add()


@path("Cart.price")
def p_property():
    return CART.price


@path("Cart.__lt__")
def p_compare():
    return sorted([CART, CART])


def leaf_key():
    for _ in range(20000):
        pass
    return 0


@path("p_key.<locals>.<lambda>")
def p_key():
    return sorted([1], key=lambda _: leaf_key())


def leaf_reduce():
    for _ in range(20000):
        pass
    return 0


@path("p_reduce.<locals>.<lambda>")
def p_reduce():
    return functools.reduce(lambda left, right: leaf_reduce(), [1, 2])


def leaf_generator():
    for _ in range(20000):
        pass
    return 0


def generate():
    yield leaf_generator()


@path("generate")
def p_generator():
    for _ in generate():
        pass


def leaf_inner():
    for _ in range(20000):
        pass
    return 0


@path("p_inner.<locals>.inner")
def p_inner():
    def inner():
        return leaf_inner()

    return inner()


def leaf_deep():
    for _ in range(20000):
        pass
    return 0


def deeper(left):
    return deeper(left - 1) if left else leaf_deep()


@path(*["deeper"] * 61)
def p_deep():
    return deeper(60)


def leaf_coroutine():
    for _ in range(20000):
        pass
    return 0


async def awaited():
    return leaf_coroutine()


async def outer():
    return await awaited()


@path("outer", "awaited")
def p_coroutine():
    try:
        outer().send(None)
    except StopIteration:
        pass


def leaf_made():
    for _ in range(20000):
        pass
    return 0


MADE = compile("leaf_made()", "<made>", "exec")


@path("<module>")
def p_made():
    exec(MADE, {"leaf_made": leaf_made})


def leaf_pattern():
    for _ in range(20000):
        pass
    return ""


PATTERN = re.compile("x")


@path("p_pattern.<locals>.<lambda>")
def p_pattern():
    return PATTERN.sub(lambda match: leaf_pattern(), "x")


def leaf_callback():
    for _ in range(20000):
        pass
    return 0


COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
LIBC = ctypes.CDLL(None)
QSORT = LIBC.qsort  # the first look at a name is a call of its own


def compare(left, right):
    return leaf_callback()


CALLED = COMPARE(compare)


@path("compare")
def p_callback():
    QSORT((ctypes.c_int * 2)(2, 1), 2, 4, CALLED)


# A name that is not ASCII, and one of two bytes a character.
def leaf_größe():
    for _ in range(20000):
        pass
    return 0


@path("größe_漢字")
def p_größe():
    return größe_漢字()


def größe_漢字():
    return leaf_größe()


TURNS = 0
# A comprehension is a function of its own before 3.12, and below main it would be a path without a leaf.
ENTRIES = [value for name, value in list(globals().items()) if name.startswith("p_")]


def main():
    global TURNS
    while time.monotonic() < END:
        for one in ENTRIES:
            one()
        TURNS += 1


def name_thread(name):
    with open("/proc/thread-self/comm", "w") as file:
        file.write(name)


if __name__ == "__main__":
    END = time.monotonic() + float(sys.argv[2])
    name_thread(sys.argv[1])
    print(json.dumps(PATHS), flush=True)
    if sys.argv[3:] == ["threads"]:

        def run():
            name_thread(sys.argv[1])
            main()

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        main()
    if sys.argv[3:] == ["count"]:
        print(json.dumps(TURNS))
