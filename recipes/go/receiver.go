// receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

func receiver(secret string) http.HandlerFunc {
	var seen sync.Map // in a real service a unique column
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		var event struct{ ID, Type string }
		switch {
		case !hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(r.Header.Get("X-Webhook-Signature"))):
			w.WriteHeader(http.StatusUnauthorized)
		case json.Unmarshal(body, &event) != nil:
			w.WriteHeader(http.StatusBadRequest)
		default:
			if _, known := seen.LoadOrStore(event.ID, true); !known {
				fmt.Println(event.Type, event.ID)
			}
		}
	}
}

func main() {
	http.ListenAndServe("localhost:3000", receiver(os.Getenv("MERCHANT_WEBHOOK_SECRET")))
}
