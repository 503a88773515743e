// A webhook receiver that records each event once. BUG names its only bug, if it has one.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

var secret, bug, folder = os.Getenv("SECRET"), os.Getenv("BUG"), os.Getenv("FOLDER")

const oldest = 3 * 24 * time.Hour

func rewritten(body []byte) []byte {
	var value map[string]any
	if json.Unmarshal(body, &value) != nil {
		return nil
	}
	written, _ := json.Marshal(value)
	return written
}

func remember(id string) bool {
	file, err := os.OpenFile(filepath.Join(folder, id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		file.Close()
	}
	return err == nil
}

func recordOrder(id string) {
	file, _ := os.OpenFile(filepath.Join(folder, "orders"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	io.WriteString(file, id+"\n")
	file.Close()
}

func statusFor(body []byte, signature string) int {
	signed, key := body, secret
	if bug == "reserialised" {
		signed = rewritten(body)
	}
	if bug == "secret" {
		key = "whsec_of_another_shop"
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(signed)
	if bug != "unsigned" && !hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(signature)) {
		return 401
	}
	var event struct {
		ID      string
		Created int64
	}
	if json.Unmarshal(body, &event) != nil || event.ID == "" {
		return 400
	}
	if bug != "old" && time.Since(time.Unix(event.Created, 0)) > oldest {
		return 400
	}
	if bug == "slow" {
		time.Sleep(7 * time.Second)
	}
	isNew := remember(event.ID)
	isLost := bug == "lost" && event.ID[len(event.ID)-1]%2 == 0
	if (isNew && !isLost) || bug == "twice" || bug == "error" {
		recordOrder(event.ID)
	}
	if bug == "error" && isNew {
		return 500
	}
	return 200
}

func main() {
	http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(statusFor(body, r.Header.Get("X-Webhook-Signature")))
	}))
}
