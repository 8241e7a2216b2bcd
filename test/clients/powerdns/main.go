// Uses zones and RRsets through two libraries for PowerDNS' API, and prints what it sees: joeig/go-powerdns, of
// external-dns and others, and mittwald/go-powerdns, of dnscontrol. Its arguments are the API's URL and a new zone's name;
// the token's secret is in TOKEN. It exits with 1 at the first unexpected result.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	"github.com/joeig/go-powerdns/v3"
	"github.com/mittwald/go-powerdns"
	"github.com/mittwald/go-powerdns/apis/zones"
	"github.com/mittwald/go-powerdns/pdnshttp"
)

var ctx = context.Background()

func main() {
	url, name, token := os.Args[1], os.Args[2], os.Getenv("TOKEN")
	joeig(url, name, token)
	mittwald(url, name, token)
}

func joeig(url, name, token string) {
	client := powerdns.New(url, "localhost", powerdns.WithAPIKey(token))
	server, err := client.Servers.Get(ctx, "localhost")
	must(err)
	is("server", *server.DaemonType, "authoritative")
	_, err = client.Zones.Get(ctx, name)
	isRefused(err, 404, "no zone "+name)
	zone, err := client.Zones.AddMaster(ctx, name, true, "", false, "", "DEFAULT", true, nil)
	must(err)
	is("zone created", *zone.ID+" "+*zone.URL, name+" /api/v1/servers/localhost/zones/"+name)
	_, err = client.Zones.AddNative(ctx, name, false, "", false, "", "", false, nil)
	isRefused(err, 409, "zone created twice")
	must(client.Records.Add(ctx, name, "www."+name, powerdns.RRTypeA, 300, []string{"192.0.2.1", "192.0.2.2"}))
	must(client.Records.Add(ctx, name, "alias."+name, powerdns.RRTypeCNAME, 300, []string{"www." + name}))
	comment := powerdns.WithComments(powerdns.Comment{Content: powerdns.String("dropped")})
	must(client.Records.Change(ctx, name, "www."+name, powerdns.RRTypeA, 300, []string{"192.0.2.3"}, comment))
	sets, err := client.Records.Get(ctx, name, "www."+name, powerdns.RRTypePtr(powerdns.RRTypeA))
	must(err)
	is("RRsets of a name and type", len(sets), 1)
	is("RRset replaced", fmt.Sprint(*sets[0].TTL, " ", *sets[0].Records[0].Content), "300 192.0.2.3")
	err = client.Records.Add(ctx, name, "apex."+name, "ALIAS", 300, []string{"www." + name})
	isRefused(err, 422, "ALIAS")
	must(client.Records.Delete(ctx, name, "www."+name, powerdns.RRTypeA))
	zone, err = client.Zones.Get(ctx, name)
	must(err)
	var types []string
	for _, each := range zone.RRsets {
		types = append(types, string(*each.Type))
	}
	sort.Strings(types)
	is("types", types, []string{"CNAME", "NS", "SOA"})
	before := *zone.Serial
	zone.RRsets = nil
	must(client.Zones.Change(ctx, name, zone))
	zone, err = client.Zones.Get(ctx, name)
	must(err)
	is("serial after a change of nothing", *zone.Serial, before)
	slave := powerdns.Zone{Kind: powerdns.ZoneKindPtr(powerdns.SlaveZoneKind)}
	isRefused(client.Zones.Change(ctx, name, &slave), 422, "another kind")
	_, err = client.Zones.Notify(ctx, name)
	must(err)
	text, err := client.Zones.Export(ctx, name)
	must(err)
	is("zone file", strings.Contains(string(text), "CNAME"), true)
	keys, err := client.Cryptokeys.List(ctx, name)
	must(err)
	is("key", fmt.Sprint(len(keys), " ", *keys[0].KeyType, " ", len(keys[0].DS) > 0), "1 csk true")
	metadata, err := client.Metadata.List(ctx, name)
	must(err)
	is("metadata", len(metadata), 0)
	found, err := client.Search.Data(ctx, "alias."+strings.TrimSuffix(name, "."), 10, powerdns.SearchObjectTypeRecord)
	must(err)
	is("records found", fmt.Sprint(len(found), " ", *found[0].Type), "1 CNAME")
	_, err = client.Statistics.List(ctx)
	must(err)
	must(client.Zones.Delete(ctx, name))
	list, err := client.Zones.List(ctx)
	must(err)
	for _, each := range list {
		is("another zone", *each.Name != name, true)
	}
	_, err = powerdns.New(url, "localhost", powerdns.WithAPIKey("wrong")).Zones.List(ctx)
	isRefused(err, 401, "wrong key")
}

func mittwald(url, name, token string) {
	client, err := pdns.New(pdns.WithBaseURL(url), pdns.WithAPIKeyAuthentication(token))
	must(err)
	must(client.Status())
	_, err = client.Zones().GetZone(ctx, "localhost", name)
	is("no zone "+name, pdnshttp.IsNotFound(err), true)
	zone, err := client.Zones().CreateZone(ctx, "localhost", zones.Zone{Name: name, SOAEditAPI: zones.ZoneSOAEditAPIDefault})
	must(err)
	is("zone created", zone.ID, name)
	must(client.Zones().AddRecordSetsToZone(ctx, "localhost", name, []zones.ResourceRecordSet{
		{Name: "www." + name, Type: "A", TTL: 300, Records: []zones.Record{{Content: "192.0.2.1"}}},
		{Name: "web." + name, Type: "HTTPS", TTL: 300, Records: []zones.Record{{Content: "1 . alpn=h3,h2"}}},
	}))
	err = client.Zones().AddRecordSetToZone(ctx, "localhost", name, zones.ResourceRecordSet{
		Name: "www." + name, Type: "A", TTL: 300, Records: []zones.Record{{Content: "192.0.2.1", Disabled: true}},
	})
	is("disabled record", strings.Contains(fmt.Sprint(err), "422"), true)
	zone, err = client.Zones().GetZone(ctx, "localhost", name)
	must(err)
	is("RRset", zone.GetRecordSet("www."+name, "A").Records[0].Content, "192.0.2.1")
	is("HTTPS", zone.GetRecordSet("web."+name, "HTTPS").Records[0].Content, "1 . alpn=h3,h2")
	must(client.Zones().RemoveRecordSetFromZone(ctx, "localhost", name, "www."+name, "A"))
	zone, err = client.Zones().GetZone(ctx, "localhost", name, zones.WithResourceRecordSetFilter("www."+name, "A"))
	must(err)
	is("RRsets of a name and type", len(zone.ResourceRecordSets), 0)
	zone, err = client.Zones().GetZone(ctx, "localhost", name, zones.WithoutResourceRecordSets())
	must(err)
	is("RRsets, not asked for", len(zone.ResourceRecordSets), 0)
	yes := true
	update := zones.ZoneBasicDataUpdate{Kind: zones.ZoneKindNative, DNSSec: &yes, APIRectify: &yes}
	must(client.Zones().ModifyBasicZoneData(ctx, "localhost", name, update))
	must(client.Zones().NotifySlaves(ctx, "localhost", name))
	keys, err := client.Cryptokeys().ListCryptokeys(ctx, "localhost", name)
	must(err)
	is("an active key", keys[0].Active && keys[0].Published, true)
	must(client.Zones().RectifyZone(ctx, "localhost", name))
	must(client.Zones().DeleteZone(ctx, "localhost", name))
}

func is(what string, got, want interface{}) {
	if !reflect.DeepEqual(got, want) {
		fail(fmt.Sprintf("%s: %v, not %v", what, got, want))
	}
	fmt.Printf("%s: %v\n", what, got)
}

func isRefused(err error, status int, what string) {
	var refusal *powerdns.Error
	if !errors.As(err, &refusal) || refusal.StatusCode != status {
		fail(fmt.Sprintf("%s: %v, not %d", what, err, status))
	}
	fmt.Printf("%s: %d, %s\n", what, status, refusal.Message)
}

func must(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}
