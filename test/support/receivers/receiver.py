# A webhook receiver that records each event once. BUG names its only bug, if it has one.
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, SECRET, BUG, FOLDER = (os.environ[name] for name in ("PORT", "SECRET", "BUG", "FOLDER"))
OLDEST = 3 * 24 * 3600  # seconds


def remember(event_id):
    try:
        os.close(os.open(os.path.join(FOLDER, event_id), os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


def status_for(body, signature):
    secret = "whsec_of_another_shop" if BUG == "secret" else SECRET
    signed = json.dumps(json.loads(body)).encode() if BUG == "reserialised" else body
    digest = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if BUG != "unsigned" and not hmac.compare_digest(digest.encode(), signature.encode()):
        return 401
    event = json.loads(body)
    if BUG != "old" and time.time() - event["created"] > OLDEST:
        return 400
    if BUG == "slow":
        time.sleep(7)
    is_new = remember(event["id"])
    is_lost = BUG == "lost" and ord(event["id"][-1]) % 2 == 0
    if (is_new and not is_lost) or BUG in ("twice", "error"):
        with open(os.path.join(FOLDER, "orders"), "a") as orders:
            orders.write(event["id"] + "\n")
    return 500 if BUG == "error" and is_new else 200


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            status = status_for(body, self.headers.get("X-Webhook-Signature", ""))
        except ValueError:
            status = 400
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256


Server(("127.0.0.1", int(PORT)), Receiver).serve_forever()
