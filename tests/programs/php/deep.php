<?php
// SPDX-License-Identifier: Apache-2.0
// deep.php DEPTH: computes for ever below so many calls of one function.
function leaf()
{
    for (;;) {
        for ($i = 0, $x = 0; $i < 100000; $i++) {
            $x = ($x + $i) & 0xffff;
        }
    }
}

function down($depth)
{
    return $depth > 0 ? 1 + down($depth - 1) : leaf();
}

down((int) $argv[1]);
