// SPDX-License-Identifier: Apache-2.0

// The peer of pprof_bench: the same modes and the same line, with pprof's own Go library.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
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

// A profile of folded text, `root;…;leaf count` a line.
func readFolded(path string) *profile.Profile {
	file, err := os.Open(path)
	must(err)
	defer file.Close()
	cpu := &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	p := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "samples", Unit: "count"}, cpu},
		DefaultSampleType: "cpu",
		PeriodType:        cpu,
		Period:            1_000_000_000 / 99,
		TimeNanos:         1_700_000_000_000_000_000,
		DurationNanos:     60_000_000_000,
	}
	known := map[string]*profile.Location{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		stack, number, _ := strings.Cut(lines.Text(), " ")
		count, err := strconv.ParseInt(number, 10, 64)
		must(err)
		names := strings.Split(stack, ";")
		slices.Reverse(names)
		sample := &profile.Sample{
			Location: make([]*profile.Location, len(names)),
			Value:    []int64{count, count * 10_101_010},
		}
		for i, name := range names {
			location := known[name]
			if location == nil {
				id := uint64(len(known) + 1)
				function := &profile.Function{ID: id, Name: strings.Clone(name)}
				function.SystemName = function.Name
				location = &profile.Location{ID: id, Line: []profile.Line{{Function: function}}}
				p.Function = append(p.Function, function)
				p.Location = append(p.Location, location)
				known[function.Name] = location
			}
			sample.Location[i] = location
		}
		p.Sample = append(p.Sample, sample)
	}
	must(lines.Err())
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
		p := readFolded(os.Args[2])
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
