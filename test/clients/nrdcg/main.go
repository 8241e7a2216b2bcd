// Uses domains, RRsets and tokens through the library of lego, Traefik and others, and prints what it sees. Its
// arguments are the API's URL and a new domain's name; the token's secret is in TOKEN. It exits with 1 at the first
// unexpected result.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	"github.com/nrdcg/desec"
)

var ctx = context.Background()

func main() {
	url, name := os.Args[1], os.Args[2]
	client := connect(url, os.Getenv("TOKEN"))
	domains(client, name)
	rrsets(client, name)
	tokens(client, url, name)
	must(client.Domains.Delete(ctx, name))
	_, err := client.Domains.Get(ctx, name)
	isMissing(err, "domain deleted: "+name)
}

func connect(url, token string) *desec.Client {
	client := desec.New(token, desec.NewDefaultClientOptions())
	client.BaseURL = url
	return client
}

func domains(client *desec.Client, name string) {
	_, err := client.Domains.Get(ctx, name)
	isMissing(err, "no domain "+name)
	domain, err := client.Domains.Create(ctx, name)
	must(err)
	is("domain created", domain.Name, name)
	is("keys of a new domain", len(domain.Keys), 1)
	ds := domain.Keys[0].DS
	if len(ds) == 0 || domain.MinimumTTL == 0 || domain.Created == nil || domain.Published == nil {
		fail("domain: a member is missing")
	}
	again, err := client.Domains.Get(ctx, name)
	must(err)
	is("DS", again.Keys[0].DS, ds)
	all, err := client.Domains.GetAll(ctx)
	must(err)
	var names []string
	for _, each := range all {
		names = append(names, each.Name)
	}
	is("domains", names, []string{name})
	_, err = client.Domains.Create(ctx, name)
	isRefused(err, 400, "domain created twice")
}

func rrsets(client *desec.Client, name string) {
	www, err := client.Records.Create(ctx, desec.RRSet{
		Domain: name, SubName: "www", Type: "A", TTL: 3600, Records: []string{"192.0.2.1"},
	})
	must(err)
	is("RRset created", www.Name+" "+strings.Join(www.Records, ","), "www."+name+". 192.0.2.1")
	_, err = client.Records.Create(ctx, desec.RRSet{
		Domain: name, Type: "TXT", TTL: 3600, Records: []string{`"apex"`},
	})
	must(err)
	apex, err := client.Records.Get(ctx, name, "", "TXT")
	must(err)
	is("RRset of the apex", apex.Records, []string{`"apex"`})
	_, err = client.Records.Create(ctx, desec.RRSet{
		Domain: name, SubName: "www", Type: "A", TTL: 3600, Records: []string{"192.0.2.2"},
	})
	isRefused(err, 400, "RRset created twice")

	updated, err := client.Records.Update(ctx, name, "www", "A", desec.RRSet{Records: []string{"192.0.2.2", "192.0.2.3"}})
	must(err)
	is("RRset updated", updated.Records, []string{"192.0.2.2", "192.0.2.3"})
	is("its TTL, which was not sent", updated.TTL, 3600)
	replaced, err := client.Records.Replace(ctx, name, "www", "A", desec.RRSet{
		SubName: "www", Type: "A", TTL: 300, Records: []string{"192.0.2.4"},
	})
	must(err)
	is("RRset replaced", fmt.Sprint(replaced.TTL, replaced.Records), "300 [192.0.2.4]")

	filtered, err := client.Records.GetAll(ctx, name, &desec.RRSetFilter{Type: "A", SubName: "www"})
	must(err)
	is("RRsets of www, type A", len(filtered), 1)
	all, err := client.Records.GetAll(ctx, name, nil)
	must(err)
	var types []string
	for _, each := range all {
		types = append(types, each.SubName+" "+each.Type)
	}
	sort.Strings(types)
	is("RRsets", types, []string{" NS", " TXT", "www A"})

	emptied, err := client.Records.Update(ctx, name, "www", "A", desec.RRSet{Records: []string{}})
	must(err)
	is("RRset deleted by an update without records", emptied == nil, true)
	_, err = client.Records.Get(ctx, name, "www", "A")
	isMissing(err, "no RRset www A")
	_, err = client.Records.Replace(ctx, name, "", "TXT", desec.RRSet{Type: "TXT", TTL: 300, Records: []string{`"other"`}})
	isRefused(err, 400, "RRset of the apex replaced, for which the library sends no subname")
	must(client.Records.Delete(ctx, name, "", "TXT"))
	_, err = client.Records.Get(ctx, name, "", "TXT")
	isMissing(err, "RRset of the apex deleted")
}

func tokens(client *desec.Client, url, name string) {
	token, err := client.Tokens.Create(ctx, "walk")
	must(err)
	is("token created", token.Name, "walk")
	all, err := client.Tokens.GetAll(ctx)
	must(err)
	is("tokens", len(all), 2)
	other := connect(url, token.Value)
	_, err = other.Domains.Get(ctx, name)
	must(err)
	_, err = other.Tokens.GetAll(ctx)
	isRefused(err, 403, "tokens listed without permission")
	must(client.Tokens.Delete(ctx, token.ID))
	_, err = other.Domains.Get(ctx, name)
	isRefused(err, 401, "domain read with a deleted token")
}

func is(what string, got, want interface{}) {
	if !reflect.DeepEqual(got, want) {
		fail(fmt.Sprintf("%s: %v, not %v", what, got, want))
	}
	fmt.Printf("%s: %v\n", what, got)
}

func isMissing(err error, what string) {
	var missing *desec.NotFoundError
	if !errors.As(err, &missing) {
		fail(fmt.Sprintf("%s: %v, not 404", what, err))
	}
	fmt.Printf("%s: 404, %s\n", what, missing.Detail)
}

func isRefused(err error, status int, what string) {
	var refusal *desec.APIError
	if !errors.As(err, &refusal) || refusal.StatusCode != status {
		fail(fmt.Sprintf("%s: %v, not %d", what, err, status))
	}
	fmt.Printf("%s: %v\n", what, err)
}

func must(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(reason string) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}
