# SPDX-License-Identifier: Apache-2.0
"""Programs as distributions and compilers make them, most without frame pointers: what unwinding is judged by."""

import contextlib
import dataclasses
import subprocess
import typing

from daemon import free_port

PYTHON = """
import json, re
document = {"a": list(range(100)), "b": {"x": [str(i) for i in range(50)]}}
while True:
    re.findall("[a-z]+", json.dumps(json.loads(json.dumps(document, indent=1))))
"""

BURNER = """
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
struct Shape { virtual ~Shape() = default; virtual double Area(int depth) const = 0; };
template <int N> struct Nested : Shape {
  double Area(int depth) const override {
    std::map<std::string, double> areas;
    for (int i = 0; i < 40; ++i) areas[std::to_string(i * N + depth)] += std::sqrt(i + depth);
    double sum = Nested<N - 1>().Area(depth + 1);
    for (auto& [name, area] : areas) sum += area * static_cast<double>(name.size());
    if (depth % 7 == 6) { try { throw std::runtime_error(std::to_string(sum)); } catch (const std::exception& e) { sum += e.what()[0]; } }
    return sum;
  }
};
template <> struct Nested<0> : Shape { double Area(int depth) const override { return std::sin(depth); } };
int main() { volatile double sum = 0; for (;;) sum = sum + Nested<12>().Area(0); }
"""

GO = """
package main

import (
	"fmt"
	"sort"
	"strings"
)

type node struct{ left, right *node }

func grow(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{grow(depth - 1), grow(depth - 1)}
}

func work(results chan<- int) {
	words := map[string]int{}
	for i := 0; ; i++ {
		words[fmt.Sprintf("word-%d", i%1000)]++
		keys := make([]string, 0, len(words))
		for key := range words {
			keys = append(keys, strings.ToUpper(key))
		}
		sort.Strings(keys)
		grow(8)
		if i%100 == 0 {
			results <- len(keys)
		}
	}
}

func main() {
	results := make(chan int)
	go work(results)
	for range results {
	}
}
"""

RUST = """
use std::collections::{BTreeMap, HashMap};
fn parse(text: &str, depth: u32) -> u64 {
    let mut words: HashMap<String, u64> = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) { *words.entry(word.to_uppercase()).or_default() += 1; }
    let sorted: BTreeMap<_, _> = words.into_iter().collect();
    let sum = sorted.iter().map(|(word, n)| word.len() as u64 * n).sum::<u64>();
    if depth > 0 { sum + parse(&format!("{text} {sum}"), depth - 1) } else { sum }
}
fn main() {
    let text = "the quick brown fox jumps over the lazy dog ".repeat(20);
    let mut sum = 0u64;
    loop { sum = sum.wrapping_add(parse(&text, 5)); std::hint::black_box(sum); }
}
"""

# Compiled again and again. Small enough that gcc collects no garbage: its collector's recursion passes the 3,840 frames
# that a stack may have (with <regex>: 11 samples of 2,028, cut as `depth`).
SOURCE = """
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>
int main() {
  std::map<std::string, std::vector<int>> found;
  for (std::string word; std::cin >> word;) found[word].push_back(static_cast<int>(word.size()));
  std::vector<std::pair<std::string, std::vector<int>>> sorted(found.begin(), found.end());
  std::sort(sorted.begin(), sorted.end());
  for (auto& [word, sizes] : sorted) std::cout << word << sizes.size() << '\\n';
}
"""

PERL = """
while (1) {
  my %count;
  for my $i (1 .. 1000) { $count{"key" . $i % 100} .= substr("abc$i", 0, 2); }
  my $text = join(",", sort { $count{$a} cmp $count{$b} } keys %count);
  $text =~ s/key(\\d)/[$1]/g;
}
"""

# Compiled at run time by V8; its own code keeps frame pointers, what it calls in C++ does not.
NODE = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const thing = {a: [...Array(100).keys()], b: {x: [...Array(50).keys()].map(String)}};
for (let sum = 0; ; ) {
  sum += fib(18) + "abcabc".replace(/[a-c]/g, "x").length;
  JSON.parse(JSON.stringify(thing));
  [3, 1, 2].sort((a, b) => a - b);
}
"""

NGINX = """daemon off; pid {work}/nginx.pid; error_log {work}/error.log; worker_processes 1;
events {{ worker_connections 128; }}
http {{ access_log off; client_body_temp_path {work}/b; proxy_temp_path {work}/p; fastcgi_temp_path {work}/f;
uwsgi_temp_path {work}/u; scgi_temp_path {work}/s; gzip on; gzip_min_length 1; gzip_types *; gzip_comp_level 6;
server {{ listen 127.0.0.1:{port}; location / {{ root {work}/www; }} }} }}
"""


@contextlib.contextmanager
def running(*commands, **more):
    """The commands, each with its helpers in a session of its own that ends with it."""
    started = [subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, start_new_session=True, **more) for command in commands]
    try:
        yield started
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                subprocess.run(["kill", "-KILL", "--", f"-{process.pid}"], check=False, capture_output=True)
            process.wait()


def _compiled(work, name, text, command):
    source = work / name
    source.write_text(text)
    subprocess.run([str(word) for word in command], check=True, capture_output=True, timeout=300, cwd=work)


def start_python(work):
    return running(["/usr/bin/python3", "-c", PYTHON]), {"python3"}


def start_openssl(work):
    return running(["openssl", "speed", "-seconds", "600", "rsa2048"]), {"openssl"}


def start_burner(work):
    _compiled(work, "burner.cc", BURNER, ["g++", "-O2", "-std=c++17", "-o", "toy-burner", "burner.cc"])
    return running([work / "toy-burner"]), {"toy-burner"}


def start_gcc(work):
    (work / "unit.cc").write_text(SOURCE)
    loop = "while :; do g++ -O2 -std=c++17 -c unit.cc -o unit.o; done"
    return running(["sh", "-c", loop], cwd=work), {"cc1plus"}


def start_perl(work):
    return running(["/usr/bin/perl", "-e", PERL]), {"perl"}


def start_node(work):
    return running(["node", "-e", NODE]), {"node"}


def start_stress(work):
    return running(["stress-ng", "--cpu", "1", "--cpu-method", "all", "--timeout", "600"]), {"stress-ng-cpu"}


def start_nginx(work):
    port = free_port()
    (work / "www").mkdir(mode=0o755)
    (work / "www" / "page").write_text("".join(f"line {i} of a page that is worth packing\n" for i in range(4000)))
    for folder in (work, *work.parents[:-1]):
        if folder.name.startswith("firetower-"):
            folder.chmod(0o755)
    (work / "nginx.conf").write_text(NGINX.format(work=work, port=port))
    ask = f"while :; do curl -s -o /dev/null -H 'Accept-Encoding: gzip' http://127.0.0.1:{port}/page#[1-200]; done"
    return running(["nginx", "-c", work / "nginx.conf", "-p", work], ["sh", "-c", ask]), {"nginx"}


def start_go(work):
    (work / "go.mod").write_text("module burner\n\ngo 1.19\n")
    _compiled(work, "main.go", GO, ["go", "build", "-o", "toy-go", "main.go"])
    return running([work / "toy-go"]), {"toy-go"}


def start_rust(work):
    _compiled(work, "burner.rs", RUST, ["rustc", "-O", "-o", "toy-rust", "burner.rs"])
    return running([work / "toy-rust"]), {"toy-rust"}


@dataclasses.dataclass(frozen=True)
class Load:
    # Called with a folder of its own; returns a context in which it runs, and what its threads are called.
    start: typing.Callable
    needs: tuple


LOADS = {
    "python": Load(start_python, ("/usr/bin/python3",)),
    "openssl": Load(start_openssl, ("openssl",)),
    "burner": Load(start_burner, ("g++",)),
    "gcc": Load(start_gcc, ("g++",)),
    "nginx": Load(start_nginx, ("nginx", "curl")),
    "go": Load(start_go, ("go",)),
    "rust": Load(start_rust, ("rustc",)),
    "perl": Load(start_perl, ("/usr/bin/perl",)),
    "node": Load(start_node, ("node",)),
    "stress": Load(start_stress, ("stress-ng",)),
}
