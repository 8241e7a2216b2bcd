// A receiver of webhooks that accepts what the library of Standard Webhooks verifies.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	verifier, err := standardwebhooks.NewWebhook(os.Getenv("SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/\n", listener.Addr())
	log.Fatal(http.Serve(listener, http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = verifier.Verify(body, request.Header)
		}
		if err != nil {
			answer.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Printf("%s %s\n", request.Header.Get("webhook-id"), body)
		answer.WriteHeader(http.StatusNoContent)
	})))
}
