// SPDX-License-Identifier: Apache-2.0

// Writes a CPU and a heap profile with the Go runtime's own writer: main CPU.pb.gz HEAP.pb.gz
package main

import (
	"context"
	"log"
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

var sink [][]byte

//go:noinline
func burn(until time.Time) (n int) {
	for time.Now().Before(until) {
		n++
	}
	return n
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	runtime.MemProfileRate = 1 // Each allocation counts: a sampled sum strays.
	cpu, err := os.Create(os.Args[1])
	must(err)
	must(pprof.StartCPUProfile(cpu))
	pprof.Do(context.Background(), pprof.Labels("stage", "burning"), func(context.Context) {
		burn(time.Now().Add(400 * time.Millisecond))
	})
	pprof.StopCPUProfile()
	must(cpu.Close())

	for i := 0; i < 64; i++ {
		sink = append(sink, make([]byte, 1<<20))
	}
	runtime.GC()
	heap, err := os.Create(os.Args[2])
	must(err)
	must(pprof.Lookup("heap").WriteTo(heap, 0))
	must(heap.Close())
}
