// Sends what Terraform's provider hashicorp/dns sends, by its library. Each argument is a step, with words: "add" or
// "remove" and a record, "clear" and a record without content, or "read", a name and a type, whose records it prints.
// SERVER, ZONE, KEY, ALGORITHM and SECRET say where.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/miekg/dns"
)

func main() {
	for _, step := range os.Args[1:] {
		word, rest, _ := strings.Cut(step, " ")
		message := new(dns.Msg)
		if word == "read" {
			name, kind, _ := strings.Cut(rest, " ")
			message.SetQuestion(name, dns.StringToType[kind])
			answer := exchange(message)
			for _, record := range append(answer.Answer, answer.Ns...) {
				fmt.Println(strings.ReplaceAll(record.String(), "\t", " "))
			}
			continue
		}
		record, err := dns.NewRR(rest)
		must(err)
		message.SetUpdate(os.Getenv("ZONE"))
		switch word {
		case "add":
			message.Insert([]dns.RR{record})
		case "remove":
			message.Remove([]dns.RR{record})
		case "clear":
			message.RemoveRRset([]dns.RR{record})
		}
		exchange(message)
	}
}

func exchange(message *dns.Msg) *dns.Msg {
	client := &dns.Client{TsigSecret: map[string]string{os.Getenv("KEY"): os.Getenv("SECRET")}}
	message.RecursionDesired = false
	message.SetTsig(os.Getenv("KEY"), dns.Fqdn(os.Getenv("ALGORITHM")), 300, time.Now().Unix())
	answer, _, err := client.Exchange(message, os.Getenv("SERVER"))
	must(err)
	if answer.Rcode != dns.RcodeSuccess {
		must(fmt.Errorf("%s", dns.RcodeToString[answer.Rcode]))
	}
	return answer
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
