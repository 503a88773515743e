# The shop under pytest, with the bug that BUG names.
# With MERCHANT "own", each test has a merchant from the fixture in recipes/python.
import hashlib
import hmac
import http.server
import json
import os
import random
import threading
import time
import urllib.error
import urllib.request
import uuid

import pytest

BUG = os.environ.get("BUG")
MOST_TRIES = 30 if BUG == "no end" else 4


def send(method, url, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.headers, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


class Client:
    def __init__(self, key):
        self.key = key

    def call(self, method, path, body=None):
        key = str(uuid.uuid4())
        for tries in range(1, MOST_TRIES + 1):
            sent = {**body, "name": f"{body['name']}, try {tries}"} if body and BUG == "new body" and "name" in body else body
            headers = {"Authorization": f"Bearer {self.key}"}
            if body and BUG != "no key":
                headers["Idempotency-Key"] = str(uuid.uuid4()) if BUG == "new key" else key
            status, replied, reply = send(method, os.environ["MERCHANT_BASE_URL"] + path, sent, headers)
            if status < 300:
                return reply
            if status < 500 and status != 429:
                break
            asked = float(replied.get("Retry-After") or 0)
            pause = 0 if BUG == "no end" else 0.1 * 2**tries * random.uniform(0.9, 1.1)
            time.sleep(0 if BUG == "no wait" else asked or pause)
        raise RuntimeError(reply["message"])


def control(method, path, body=None):
    return send(method, os.environ["MERCHANT_SANDBOX_URL"] + "/_sandbox" + path, body)[2]


@pytest.fixture
def shop(request):
    if os.environ.get("MERCHANT") != "own":
        return Client(os.environ["MERCHANT_API_KEY"])
    merchant = request.getfixturevalue("merchant")
    client = Client(merchant.key)
    client.merchant = merchant.id
    for rule in json.load(open("faults.json"))["faults"] if os.environ.get("FAULTS") else []:
        merchant.control("POST", "/faults", {**rule, "match": {**rule["match"], "merchant": merchant.id}})
    return client


def test_lists_payments(shop):
    assert len(shop.call("GET", "/payments?limit=3")["data"]) == 3


def test_creates_a_rule(shop):
    rule = {"name": "Harvest", "adjustmentType": "percentage", "adjustmentValue": 1500}
    assert "Harvest" in shop.call("POST", "/hospitality/pricing-rules", rule)["name"]


def test_survives_an_outage(shop):
    try:
        shop.call("GET", "/payouts")
    except RuntimeError:
        pass


class Receiver(http.server.BaseHTTPRequestHandler):
    secret = ""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        expected = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
        is_genuine = hmac.compare_digest(expected, self.headers.get("X-Webhook-Signature", ""))
        self.send_response(204 if is_genuine or BUG == "no check" else 401)
        self.end_headers()


def test_receives_a_webhook(shop):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    Receiver.secret = shop.call("POST", "/webhooks", {"url": url, "events": ["payment.succeeded"]})["secret"]
    event = {"type": "payment.succeeded"}
    control("POST", "/events", {**event, "merchant": shop.merchant} if hasattr(shop, "merchant") else event)
    assert control("POST", "/drain", {})["settled"]
    server.shutdown()
