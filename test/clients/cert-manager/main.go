// Writes and deletes the record of a challenge by cert-manager's solver for RFC 2136, with the settings of an Issuer. These
// are in ISSUER, as JSON; the secret, which cert-manager reads from a Secret, is in SECRET.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	cmacme "github.com/cert-manager/cert-manager/pkg/apis/acme/v1"
	"github.com/cert-manager/cert-manager/pkg/issuer/acme/dns/rfc2136"
)

func main() {
	var settings cmacme.ACMEIssuerDNS01ProviderRFC2136
	must(json.Unmarshal([]byte(os.Getenv("ISSUER")), &settings))
	network := rfc2136.WithNetwork(string(settings.Protocol))
	name, secret := settings.TSIGKeyName, os.Getenv("SECRET")
	solver, err := rfc2136.NewDNSProviderCredentials(settings.Nameserver, settings.TSIGAlgorithm, name, secret, network)
	must(err)
	deed, fqdn, zone, value := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	if deed == "present" {
		must(solver.Present("", fqdn, zone, value))
	} else {
		must(solver.CleanUp("", fqdn, zone, value))
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
