// SPDX-License-Identifier: Apache-2.0

// The peer of pprof_bench: the same modes and the same line, with pprof's own Go library.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"syscall"

	"github.com/google/pprof/profile"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func usage() (ms float64, peakKiB int64) {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Sec+u.Stime.Sec)*1e3 + float64(u.Utime.Usec+u.Stime.Usec)/1e3, u.Maxrss
}

func read(path string) *profile.Profile {
	data, err := os.ReadFile(path)
	must(err)
	p, err := profile.ParseData(data)
	must(err)
	return p
}

func finish(before float64, p *profile.Profile, out string) {
	var buffer bytes.Buffer
	must(p.Write(&buffer))
	after, peak := usage()
	fmt.Printf("%.3f %d %d\n", after-before, buffer.Len(), peak)
	must(os.WriteFile(out, buffer.Bytes(), 0o644))
}

func main() {
	switch os.Args[1] {
	case "encode":
		p := read(os.Args[2])
		before, _ := usage()
		finish(before, p, os.Args[3])
	case "merge":
		before, _ := usage()
		var all []*profile.Profile
		for _, path := range os.Args[3:] {
			all = append(all, read(path))
		}
		p, err := profile.Merge(all)
		must(err)
		finish(before, p, os.Args[2])
	case "diff":
		before, _ := usage()
		base, p := read(os.Args[3]), read(os.Args[4])
		base.SetLabel("pprof::base", []string{"true"})
		base.Scale(-1)
		p, err := profile.Merge([]*profile.Profile{p, base})
		must(err)
		finish(before, p, os.Args[2])
	}
}
