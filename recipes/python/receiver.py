# receiver.py
import hashlib
import hmac
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

seen = {}  # in a real service a unique column


class Receiver(BaseHTTPRequestHandler):
    secret = os.environ.get("MERCHANT_WEBHOOK_SECRET", "")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.status_of(body, self.headers.get("X-Webhook-Signature", "")))
        self.end_headers()

    def status_of(self, body, signature):
        expected = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected.encode(), signature.encode()):
            return 401
        try:
            event = json.loads(body)
        except ValueError:
            return 400
        if seen.setdefault(event["id"], self) is self:  # one step: the same event may arrive twice at once
            print(event["type"], event["id"], flush=True)
        return 200


class Server(ThreadingHTTPServer):
    request_queue_size = 256  # a payroll sends hundreds of events at once


if __name__ == "__main__":
    Server(("localhost", 3000), Receiver).serve_forever()
