// Sends the requests that it reads from stdin, one JSON object a line, with net/http's default client; prints a line after each.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

type call struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
}

func send(sent call) {
	request, err := http.NewRequest(sent.Method, sent.URL, bytes.NewReader(sent.Body))
	if err != nil {
		return
	}
	for name, value := range sent.Headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var sent call
		if json.Unmarshal(lines.Bytes(), &sent) == nil {
			send(sent)
		}
		fmt.Println("done")
	}
}
