# merchant_sandbox.py: a pytest plugin. Copy it beside your tests, and run pytest -p merchant_sandbox under
# merchant-sandbox exec.
import json
import os
import urllib.error
import urllib.request

import pytest


class Merchant:
    """A merchant that only one test uses, named after the test: its ids are the same in every run."""

    def __init__(self, sandbox, name):
        self.sandbox = sandbox
        created = self.control("POST", "/merchants", {"fixture": own_fixture(self), "name": name})
        self.id, self.key = created["id"], created["apiKey"]
        # An app that passes this header on acts as the merchant, with the one key of its environment.
        self.baggage = f"merchant-sandbox={self.id}"

    def api(self, method, path, body=None, headers={}):
        """Calls the API; returns status and body."""
        return self._call(method, "/v1" + path, body, {"Authorization": f"Bearer {self.key}", **headers})

    def control(self, method, path, body=None):
        token = os.environ.get("MERCHANT_SANDBOX_CONTROL_TOKEN", "")
        status, answer = self._call(method, "/_sandbox" + path, body, {"Authorization": f"Bearer {token}"})
        assert status < 300, answer["message"]
        return answer

    def fault(self, operation, action):
        self.control("POST", "/faults", {"match": {"merchant": self.id, "operation": operation}, "action": action})

    def verify(self, *expectations):
        self.control("POST", "/verify?strict=1", {"merchant": self.id, "all": expectations})

    def _call(self, method, path, body, headers):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.sandbox + path, data, {"Content-Type": "application/json", **headers}, method=method)
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


def own_fixture(merchant):
    """The app's own merchant, from whose fixture the test's merchant is created (default: the first merchant)."""
    merchants = merchant.control("GET", "")["merchants"]
    own = [one["id"] for one in merchants if os.environ.get("MERCHANT_API_KEY") in one["apiKeys"]]
    return own[0] if own else merchants[0]["id"]


@pytest.fixture
def merchant(request):
    merchant = Merchant(os.environ["MERCHANT_SANDBOX_URL"], request.node.nodeid[-1000:])
    yield merchant
    merchant.control("DELETE", f"/merchants/{merchant.id}")


@pytest.fixture
def browser_context_args(merchant):
    """For pytest-playwright: the browser names the merchant in each request. An override of yours can extend it."""
    return {"extra_http_headers": {"baggage": merchant.baggage}}
