<?php
// SandboxTest.php
use PHPUnit\Framework\TestCase;

final class SandboxTest extends TestCase
{
    private string $merchant;
    private string $key;

    /** A merchant that only one test uses. */
    protected function setUp(): void
    {
        ["id" => $this->merchant, "apiKey" => $this->key] = $this->control("POST", "/merchants", ["fixture" => "lodge"]);
    }

    protected function tearDown(): void
    {
        $this->control("DELETE", "/merchants/{$this->merchant}");
    }

    public function testListsPayments(): void
    {
        [$status, $payments] = $this->api("GET", "/payments?limit=3");
        $this->assertSame([200, 3], [$status, count($payments["data"])]);
    }

    public function testCreatesOneRuleWhenTheResponseIsLost(): void
    {
        $this->control("POST", "/faults", [
            "match" => ["merchant" => $this->merchant, "operation" => "pricing_rules.create"],
            "action" => ["type" => "lost_response", "as" => "502"],
        ]);
        $this->createRule("Harvest");
        $once = ["kind" => "pricing_rule", "where" => ["/name" => "Harvest"], "count" => ["exactly" => 1]];
        $this->control("POST", "/verify?strict=1", ["merchant" => $this->merchant, "all" => [["records" => $once]]]);
    }

    public function testVerifiesAWebhook(): void
    {
        [, $endpoint] = $this->api("POST", "/webhooks", ["url" => "http://localhost:3000/", "events" => ["payment.succeeded"]]);
        $this->control("POST", "/events", ["type" => "payment.succeeded", "merchant" => $this->merchant]);
        $this->control("POST", "/drain", ["within" => "5s"]);
        [, $log] = $this->api("GET", "/webhook-deliveries?limit=1");
        ["requestBody" => $body, "requestHeaders" => $headers] = $log["data"][0];
        $this->assertTrue($this->isGenuine($body, $headers["X-Webhook-Signature"], $endpoint["secret"]));
        $this->assertFalse($this->isGenuine("$body ", $headers["X-Webhook-Signature"], $endpoint["secret"]));
    }

    /** The client under test: retries a 5xx with the same key. */
    private function createRule(string $name): array
    {
        $key = bin2hex(random_bytes(16));
        $body = ["name" => $name, "adjustmentType" => "percentage", "adjustmentValue" => 1500];
        foreach ([100_000, 200_000, 400_000] as $pause) {
            [$status, $rule] = $this->api("POST", "/hospitality/pricing-rules", $body, ["Idempotency-Key: $key"]);
            if ($status < 500) return $rule;
            usleep($pause);
        }
        throw new RuntimeException("no answer");
    }

    private function isGenuine(string $body, string $signature, string $secret): bool
    {
        return hash_equals(hash_hmac("sha256", $body, $secret), $signature);
    }

    private function api(string $method, string $path, ?array $body = null, array $headers = []): array
    {
        return $this->call($method, "/v1$path", $body, ["Authorization: Bearer {$this->key}", ...$headers]);
    }

    private function control(string $method, string $path, ?array $body = null): array
    {
        $token = getenv("MERCHANT_SANDBOX_CONTROL_TOKEN") ?: "";
        [$status, $answer] = $this->call($method, "/_sandbox$path", $body, ["Authorization: Bearer $token"]);
        $this->assertLessThan(300, $status, $answer["message"] ?? "");
        return $answer;
    }

    private function call(string $method, string $path, ?array $body, array $headers): array
    {
        $options = ["method" => $method, "header" => ["Content-Type: application/json", ...$headers], "ignore_errors" => true];
        if ($body !== null) $options["content"] = json_encode($body);
        $text = file_get_contents(getenv("MERCHANT_SANDBOX_URL") . $path, false, stream_context_create(["http" => $options]));
        preg_match("~ (\d{3})~", $http_response_header[0], $found);
        return [(int) $found[1], json_decode($text, true)];
    }
}
