// SandboxTest.java
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SandboxTest {
  static final String SANDBOX = System.getenv("MERCHANT_SANDBOX_URL");
  static final String TOKEN = System.getenv().getOrDefault("MERCHANT_SANDBOX_CONTROL_TOKEN", "");
  static final HttpClient http = HttpClient.newHttpClient();
  String merchant;
  String key;

  /** A merchant that only one test uses. */
  @BeforeEach
  void createMerchant() throws Exception {
    String created = control("POST", "/merchants", "{\"fixture\": \"lodge\"}");
    merchant = field(created, "id");
    key = field(created, "apiKey");
  }

  @AfterEach
  void removeMerchant() throws Exception {
    control("DELETE", "/merchants/" + merchant, "");
  }

  @Test
  void listsPayments() throws Exception {
    HttpResponse<String> payments = api("GET", "/payments?limit=3", "", UUID.randomUUID().toString());
    assertEquals(200, payments.statusCode());
  }

  @Test
  void createsOneRuleWhenTheResponseIsLost() throws Exception {
    control("POST", "/faults", """
        {"match": {"merchant": "%s", "operation": "pricing_rules.create"}, "action": {"type": "lost_response", "as": "502"}}""".formatted(merchant));
    createRule("Harvest");
    control("POST", "/verify?strict=1", """
        {"merchant": "%s", "all": [{"records": {"kind": "pricing_rule", "where": {"/name": "Harvest"}, "count": {"exactly": 1}}}]}""".formatted(merchant));
  }

  @Test
  void receiverPassesTheAudit() throws Exception {
    var receiver = Receiver.listen(0, "whsec_test");
    String found = control("POST", "/audit", """
        {"url": "http://localhost:%d/", "secret": "whsec_test"}""".formatted(receiver.getAddress().getPort()));
    receiver.stop(0);
    // It stays inconclusive, because a response does not show what the receiver did: audit --effects counts that.
    assertFalse(found.contains("\"verdict\":\"fail\""), found);
  }

  /** The client under test: retries a 5xx with the same key. */
  void createRule(String name) throws Exception {
    String idempotencyKey = UUID.randomUUID().toString();
    String body = "{\"name\": \"" + name + "\", \"adjustmentType\": \"percentage\", \"adjustmentValue\": 1500}";
    for (int pause = 100; pause < 1000; pause *= 2) {
      if (api("POST", "/hospitality/pricing-rules", body, idempotencyKey).statusCode() < 500) return;
      Thread.sleep(pause);
    }
    throw new IllegalStateException("no answer");
  }

  HttpResponse<String> api(String method, String path, String body, String idempotencyKey) throws Exception {
    var request = request(method, "/v1" + path, body).header("Authorization", "Bearer " + key);
    if (method.equals("POST") && !idempotencyKey.isEmpty()) request.header("Idempotency-Key", idempotencyKey);
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  static String control(String method, String path, String body) throws Exception {
    var request = request(method, "/_sandbox" + path, body).header("Authorization", "Bearer " + TOKEN).build();
    var response = http.send(request, HttpResponse.BodyHandlers.ofString());
    assertTrue(response.statusCode() < 300, response.body());
    return response.body();
  }

  static HttpRequest.Builder request(String method, String path, String body) {
    return HttpRequest.newBuilder(URI.create(SANDBOX + path))
        .header("Content-Type", "application/json")
        .method(method, HttpRequest.BodyPublishers.ofString(body));
  }

  static String field(String json, String name) {
    var found = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json);
    assertTrue(found.find(), json);
    return found.group(1);
  }
}
