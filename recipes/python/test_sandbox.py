# test_sandbox.py
import threading
import time
import uuid

from receiver import Receiver, Server


def create_rule(merchant, name):
    """The client under test: retries a 5xx with the same key."""
    key = str(uuid.uuid4())
    body = {"name": name, "adjustmentType": "percentage", "adjustmentValue": 1500}
    for pause in (0.1, 0.2, 0.4):
        status, answer = merchant.api("POST", "/hospitality/pricing-rules", body, {"Idempotency-Key": key})
        if status < 500:
            return answer
        time.sleep(pause)
    raise RuntimeError(answer["message"])


def test_lists_payments(merchant):
    status, payments = merchant.api("GET", "/payments?limit=3")
    assert (status, len(payments["data"])) == (200, 3)


def test_creates_one_rule_when_the_response_is_lost(merchant):
    merchant.fault("pricing_rules.create", {"type": "lost_response", "as": "502"})
    create_rule(merchant, "Harvest")
    merchant.verify({"records": {"kind": "pricing_rule", "where": {"/name": "Harvest"}, "count": {"exactly": 1}}})


def test_receiver_passes_the_audit(merchant):
    Receiver.secret = "whsec_test"
    with Server(("localhost", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever).start()
        found = merchant.control("POST", "/audit", {"url": f"http://localhost:{server.server_port}/", "secret": Receiver.secret})
        server.shutdown()
    # It stays inconclusive, because a response does not show what the receiver did: audit --effects counts that.
    assert found["verdict"] != "fail", found["probes"]
