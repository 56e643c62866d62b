# SPDX-License-Identifier: Apache-2.0
"""The call chains of tests/programs."""


def toy_levels(count):
    """The frames of tests/programs/levels.h, outermost first."""
    return [f"level_{level}" for level in reversed(range(count))]
