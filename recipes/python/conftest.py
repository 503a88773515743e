# conftest.py
import json
import os
import urllib.error
import urllib.request

import pytest


class Merchant:
    """A merchant that only one test uses."""

    def __init__(self, sandbox, name):
        self.sandbox = sandbox
        created = self.control("POST", "/merchants", {"fixture": "lodge", "name": name})
        self.id, self.key = created["merchant"], created["apiKey"]

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


@pytest.fixture
def merchant(request):
    merchant = Merchant(os.environ["MERCHANT_SANDBOX_URL"], request.node.nodeid)
    yield merchant
    merchant.control("DELETE", f"/merchants/{merchant.id}")
