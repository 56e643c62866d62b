// SPDX-License-Identifier: Apache-2.0

// pyroscope_client METHOD REQUEST: one call of querier.v1, or settings.v1 (Get), by the generated client that Grafana's
// Pyroscope data source has. The request and what is printed are Protobuf JSON; of an error, {"code", "message"}, and
// the exit status is 3.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"connectrpc.com/connect"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	"github.com/grafana/pyroscope/api/gen/proto/go/settings/v1/settingsv1connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

type call func(ctx context.Context, body []byte) (proto.Message, error)

func of[Request, Reply any](
	method func(context.Context, *connect.Request[Request]) (*connect.Response[Reply], error)) call {
	return func(ctx context.Context, body []byte) (proto.Message, error) {
		request := new(Request)
		if err := protojson.Unmarshal(body, any(request).(proto.Message)); err != nil {
			return nil, err
		}
		reply, err := method(ctx, connect.NewRequest(request))
		if err != nil {
			return nil, err
		}
		return any(reply.Msg).(proto.Message), nil
	}
}

// What a data source adds to each request, and what older clients do with bodies.
type transport struct {
	token   string
	chunked bool
}

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.token != "" {
		request.Header.Set("Authorization", "Bearer "+t.token)
	}
	request.Header.Set("X-Scope-OrgID", "anonymous")
	if t.chunked {
		request.ContentLength = -1
	}
	return http.DefaultTransport.RoundTrip(request)
}

func main() {
	url := flag.String("url", "http://127.0.0.1:7080", "the server")
	token := flag.String("token", "", "for Authorization: Bearer")
	asJSON := flag.Bool("json", false, "JSON instead of protobuf")
	gzip := flag.Bool("gzip", false, "compress requests")
	chunked := flag.Bool("chunked", false, "send bodies in chunks, as connect-go did up to 1.11")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: pyroscope_client [flags] METHOD REQUEST")
	}
	var options []connect.ClientOption
	if *asJSON {
		options = append(options, connect.WithProtoJSON())
	}
	if *gzip {
		options = append(options, connect.WithSendGzip())
	}
	http := &http.Client{Transport: transport{*token, *chunked}}
	querier := querierv1connect.NewQuerierServiceClient(http, *url, options...)
	settings := settingsv1connect.NewSettingsServiceClient(http, *url, options...)
	calls := map[string]call{
		"ProfileTypes":           of(querier.ProfileTypes),
		"LabelNames":             of(querier.LabelNames),
		"LabelValues":            of(querier.LabelValues),
		"Series":                 of(querier.Series),
		"GetProfileStats":        of(querier.GetProfileStats),
		"SelectSeries":           of(querier.SelectSeries),
		"SelectMergeStacktraces": of(querier.SelectMergeStacktraces),
		"SelectMergeSpanProfile": of(querier.SelectMergeSpanProfile),
		"SelectMergeProfile":     of(querier.SelectMergeProfile),
		"SelectHeatmap":          of(querier.SelectHeatmap),
		"Diff":                   of(querier.Diff),
		"Get":                    of(settings.Get),
	}
	run, known := calls[flag.Arg(0)]
	if !known {
		log.Fatalf("no method is called %s", flag.Arg(0))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	reply, err := run(ctx, []byte(flag.Arg(1)))
	if err != nil {
		var failed *connect.Error
		if !errors.As(err, &failed) {
			log.Fatal(err)
		}
		out, _ := json.Marshal(map[string]string{"code": failed.Code().String(), "message": failed.Message()})
		fmt.Println(string(out))
		os.Exit(3)
	}
	out, err := protojson.Marshal(reply)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(out))
}
