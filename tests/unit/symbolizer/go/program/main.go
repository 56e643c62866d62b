// SPDX-License-Identifier: Apache-2.0

// A program with a bit of everything that the compiler makes frames of. It says of itself what the
// runtime knows: with "pcs", the function, file and line of addresses all over its code; with
// "calls", those of the calls that are open at one point, inlined ones among them.
package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strings"
)

type shape interface{ area(scale int) int }

type square struct{ side int }
type circle struct{ radius int }

func (s square) area(scale int) int  { return total(s.side*s.side, scale) }
func (c *circle) area(scale int) int { return total(c.radius*3, scale) }

//go:noinline
func total[T int | float64](value T, times int) T {
	var sum T
	for i := 0; i < times; i++ {
		sum += value
	}
	return sum
}

//go:noinline
func recurse(depth int, visit func()) [64]int {
	var frame [64]int
	if depth == 0 {
		visit()
		return frame
	}
	frame = recurse(depth-1, visit)
	frame[depth%64]++
	return frame
}

// Small enough to be inlined, each into the one before.
func middle(pcs []uintptr) int { return inner(pcs) }
func inner(pcs []uintptr) int  { return runtime.Callers(1, pcs) }

//go:noinline
func outer(pcs []uintptr) int { return middle(pcs) }

// base is the lowest address of the executable's mappings, whose file offset is 0.
func base() uint64 {
	path, _ := os.Executable()
	maps, _ := os.ReadFile("/proc/self/maps")
	var start uint64
	for _, line := range strings.Split(string(maps), "\n") {
		if strings.HasSuffix(line, path) {
			fmt.Sscanf(line, "%x", &start)
			break
		}
	}
	return start
}

func printFrame(out *bufio.Writer, offset uint64, frame runtime.Frame) {
	fmt.Fprintf(out, "%x %s %s %d\n", offset, strings.ReplaceAll(frame.Function, " ", ""),
		frame.File, frame.Line)
}

func printPcs(out *bufio.Writer) {
	start := base()
	begin := uint64(reflect.ValueOf(main).Pointer())
	// Back and forth from main until the runtime knows no function.
	for step := -61; step <= 61; step += 122 {
		for pc := begin; ; pc += uint64(step) {
			function := runtime.FuncForPC(uintptr(pc))
			if function == nil {
				break
			}
			// Frames take return addresses, and look one byte before, in the same function only.
			next := runtime.FuncForPC(uintptr(pc) + 1)
			if next == nil || next.Entry() != function.Entry() {
				continue
			}
			frame, _ := runtime.CallersFrames([]uintptr{uintptr(pc) + 1}).Next()
			// The runtime takes the name at offset 0 for none.
			if frame.Function != "" {
				printFrame(out, pc-start, frame)
			}
		}
	}
}

func printCalls(out *bufio.Writer) {
	start := base()
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:outer(pcs)])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		printFrame(out, uint64(frame.PC)-start, frame)
	}
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	recurse(100, func() {
		for _, s := range []shape{square{2}, &circle{3}} {
			fmt.Fprint(os.Stderr, s.area(4))
		}
	})
	words := map[string]int{"b": 1, "a": 2}
	keys := make([]string, 0)
	for key := range words {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(a, b int) bool { return keys[a] < keys[b] })
	for _, argument := range os.Args[1:] {
		switch argument {
		case "pcs":
			printPcs(out)
		case "calls":
			printCalls(out)
		}
	}
}
