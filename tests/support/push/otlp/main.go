// SPDX-License-Identifier: Apache-2.0

// OpenTelemetry Collector's OTLP receiver over HTTP. Each request's profiles are a line of OTLP/JSON on standard
// output, as the Collector's own marshaler writes them. -unavailable N: so the first N requests end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configgrpc"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "where to listen")
	unavailable := flag.Int("unavailable", 0, "how many requests are refused at first")
	flag.Parse()

	var mutex sync.Mutex
	marshaler := &pprofile.JSONMarshaler{}
	next, err := xconsumer.NewProfiles(func(_ context.Context, profiles pprofile.Profiles) error {
		mutex.Lock()
		defer mutex.Unlock()
		if *unavailable > 0 {
			*unavailable--
			return errors.New("not now")
		}
		line, err := marshaler.MarshalProfiles(profiles)
		if err == nil {
			_, err = fmt.Fprintf(os.Stdout, "%s\n", line)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}

	factory := otlpreceiver.NewFactory().(xreceiver.Factory)
	config := factory.CreateDefaultConfig().(*otlpreceiver.Config)
	config.Protocols.GRPC = configoptional.None[configgrpc.ServerConfig]()
	config.Protocols.HTTP.GetOrInsertDefault().ServerConfig.NetAddr.Endpoint = *listen
	settings := receiver.Settings{
		ID:                component.NewID(factory.Type()),
		TelemetrySettings: componenttest.NewNopTelemetrySettings(),
		BuildInfo:         component.NewDefaultBuildInfo(),
	}
	profiles, err := factory.CreateProfiles(context.Background(), settings, config, next)
	if err == nil {
		err = profiles.Start(context.Background(), componenttest.NewNopHost())
	}
	if err != nil {
		log.Fatal(err)
	}
	select {}
}
