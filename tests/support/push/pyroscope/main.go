// SPDX-License-Identifier: Apache-2.0

// A receiver of Pyroscope's Push API by Pyroscope's own API module: its handler reads the requests, Go's pprof library
// the profiles. Each profile it got is a line of JSON on standard output. -unavailable N: so the first N requests are
// answered.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"sync"
	"unicode/utf8"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	"github.com/google/uuid"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
)

type sampleLine struct {
	Stack  []string `json:"stack"` // leaf first
	Values []int64  `json:"values"`
	Labels int      `json:"labels"`
}

type profileLine struct {
	Labels      map[string]string `json:"labels"`
	Tenant      string            `json:"tenant"`
	ID          string            `json:"id"`
	SampleTypes []string          `json:"sample_types"`
	PeriodType  string            `json:"period_type"`
	Period      int64             `json:"period"`
	TimeNanos   int64             `json:"time_nanos"`
	Duration    int64             `json:"duration_nanos"`
	Samples     []sampleLine      `json:"samples"`
}

type pusher struct {
	pushv1connect.UnimplementedPusherServiceHandler
	mutex       sync.Mutex
	unavailable int
	out         *json.Encoder
}

func typeText(t *profile.ValueType) string {
	if t == nil {
		return ""
	}
	return t.Type + "/" + t.Unit
}

// Of labels, and of metrics without colons, which would not fit a type's id.
var validName = regexp.MustCompile("^[a-zA-Z_][a-zA-Z0-9_]*$")

// What Pyroscope's distributor refuses a request for.
func labelsOf(series *pushv1.RawProfileSeries) (map[string]string, error) {
	labels := map[string]string{}
	for _, pair := range series.Labels {
		if _, there := labels[pair.Name]; there {
			return nil, errors.New("duplicate label " + pair.Name)
		}
		if !validName.MatchString(pair.Name) || !utf8.ValidString(pair.Value) {
			return nil, errors.New("invalid label " + pair.Name)
		}
		labels[pair.Name] = pair.Value
	}
	if !validName.MatchString(labels["__name__"]) || labels["service_name"] == "" {
		return nil, errors.New("no valid __name__ or service_name")
	}
	return labels, nil
}

func lineOf(raw []byte) (*profileLine, error) {
	parsed, err := profile.Parse(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if err := parsed.CheckValid(); err != nil {
		return nil, err
	}
	line := &profileLine{PeriodType: typeText(parsed.PeriodType), Period: parsed.Period,
		TimeNanos: parsed.TimeNanos, Duration: parsed.DurationNanos}
	for _, t := range parsed.SampleType {
		line.SampleTypes = append(line.SampleTypes, typeText(t))
	}
	for _, sample := range parsed.Sample {
		one := sampleLine{Values: sample.Value, Labels: len(sample.Label) + len(sample.NumLabel)}
		for _, location := range sample.Location {
			for _, l := range location.Line {
				one.Stack = append(one.Stack, l.Function.Name)
			}
		}
		line.Samples = append(line.Samples, one)
	}
	return line, nil
}

func (p *pusher) Push(_ context.Context, request *connect.Request[pushv1.PushRequest]) (
	*connect.Response[pushv1.PushResponse], error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.unavailable > 0 {
		p.unavailable--
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("not now"))
	}
	var lines []*profileLine
	for _, series := range request.Msg.Series {
		labels, err := labelsOf(series)
		if err != nil {
			return nil, connect.NewError(connect.CodeInvalidArgument, err)
		}
		for _, sample := range series.Samples {
			line, err := lineOf(sample.RawProfile)
			if err == nil {
				_, err = uuid.Parse(sample.ID)
			}
			if err != nil {
				return nil, connect.NewError(connect.CodeInvalidArgument, err)
			}
			line.Labels, line.Tenant, line.ID = labels, request.Header().Get("X-Scope-OrgID"), sample.ID
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		if err := p.out.Encode(line); err != nil {
			return nil, connect.NewError(connect.CodeInternal, err)
		}
	}
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "where to listen")
	unavailable := flag.Int("unavailable", 0, "how many requests are refused at first")
	flag.Parse()
	mux := http.NewServeMux()
	mux.Handle(pushv1connect.NewPusherServiceHandler(
		&pusher{unavailable: *unavailable, out: json.NewEncoder(os.Stdout)}))
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(listener, mux))
}
