// Makes the records of a server those of a file, once, as external-dns does: its own flags, provider (pdns or rfc2136),
// registry and plan, without the sources and the other providers, which need more modules than the module proxy has. The file is in
// RECORDS: endpoints as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider"
	"sigs.k8s.io/external-dns/provider/pdns"
	"sigs.k8s.io/external-dns/provider/rfc2136"
	"sigs.k8s.io/external-dns/registry/txt"
)

func main() {
	ctx := context.Background()
	config := externaldns.NewConfig()
	must(config.ParseFlags(os.Args[1:]))
	filter := endpoint.NewDomainFilter(config.DomainFilter)
	create := map[string]func(context.Context, *externaldns.Config, *endpoint.DomainFilter) (provider.Provider, error){
		"pdns": pdns.New, "rfc2136": rfc2136.New,
	}[config.Provider]
	server, err := create(ctx, config, filter)
	must(err)
	registry, err := txt.New(config, server)
	must(err)
	current, err := registry.Records(ctx)
	must(err)
	desired, err := registry.AdjustEndpoints(wanted(os.Getenv("RECORDS")))
	must(err)
	changes := (&plan.Plan{
		Policies:       []plan.Policy{plan.Policies[config.Policy]},
		Current:        current,
		Desired:        desired,
		DomainFilter:   endpoint.MatchAllDomainFilters{filter, registry.GetDomainFilter()},
		ManagedRecords: config.ManagedDNSRecordTypes,
		ExcludeRecords: config.ExcludeDNSRecordTypes,
		OwnerID:        registry.OwnerID(),
	}).Calculate().Changes
	fmt.Printf("create %d, update %d, delete %d\n", len(changes.Create), len(changes.UpdateNew), len(changes.Delete))
	if changes.HasChanges() {
		must(registry.ApplyChanges(ctx, changes))
	}
}

func wanted(file string) []*endpoint.Endpoint {
	text, err := os.ReadFile(file)
	must(err)
	var endpoints []*endpoint.Endpoint
	must(json.Unmarshal(text, &endpoints))
	return endpoints
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
