// SPDX-License-Identifier: Apache-2.0
// truth.h in Rust: the same statements, without the runtime's own main.
#![no_main]
use std::collections::BTreeMap;
use std::hint::black_box;

#[inline(never)]
#[no_mangle]
pub extern "C" fn rust_leaf(x: u64) -> u64 {
    black_box(x.wrapping_mul(3) + 1)
}

#[inline(never)]
#[no_mangle]
pub extern "C" fn rust_middle(a: u64, b: u64, c: u64) -> u64 {
    let (d, e) = (rust_leaf(a), rust_leaf(b));
    rust_leaf(c).wrapping_add(d.wrapping_mul(e)) ^ a
}

// Allocates, and unwinds through what it has to drop.
#[inline(never)]
#[no_mangle]
pub extern "C" fn rust_tree(x: u64) -> u64 {
    let mut words = BTreeMap::new();
    for i in 0..16 {
        words.insert(rust_middle(i, x, 7) % 100, i.to_string());
    }
    words.values().map(|word| word.len() as u64).sum()
}

#[inline(never)]
#[no_mangle]
pub extern "C" fn rust_run() -> u64 {
    let mut sum = 0u64;
    for i in 0..5000 {
        sum = sum.wrapping_add(rust_tree(i));
    }
    black_box(sum)
}

#[no_mangle]
pub extern "C" fn main(_argc: i32, _argv: *const *const u8) -> i32 {
    for line in ["rust_run rust_tree rust_middle rust_leaf", "rust_run rust_tree *", "*"] {
        println!("stack _start . . main {line}");
    }
    let begin = std::time::Instant::now();
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(3600);
    while begin.elapsed().as_secs() < seconds {
        black_box(rust_run());
    }
    0
}
