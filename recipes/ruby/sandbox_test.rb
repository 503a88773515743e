# sandbox_test.rb
require "json"
require "minitest/autorun"
require "net/http"
require "securerandom"
require_relative "receiver"

class SandboxTest < Minitest::Test
  SANDBOX = ENV.fetch("MERCHANT_SANDBOX_URL")

  # A merchant that only one test uses.
  def setup
    created = control("POST", "/merchants", { fixture: "lodge", name: "#{self.class} #{name}" })
    @merchant, @key = created.values_at("id", "apiKey")
  end

  def teardown
    control("DELETE", "/merchants/#{@merchant}")
  end

  def test_lists_payments
    status, payments = api("GET", "/payments?limit=3")
    assert_equal [200, 3], [status, payments["data"].length]
  end

  def test_creates_one_rule_when_the_response_is_lost
    control("POST", "/faults", { match: { merchant: @merchant, operation: "pricing_rules.create" }, action: { type: "lost_response", as: "502" } })
    create_rule("Harvest")
    once = { kind: "pricing_rule", where: { "/name" => "Harvest" }, count: { exactly: 1 } }
    control("POST", "/verify?strict=1", { merchant: @merchant, all: [{ records: once }] })
  end

  def test_receiver_passes_the_audit
    server = listen(0, "whsec_test")
    Thread.new { server.start }
    found = control("POST", "/audit", { url: "http://localhost:#{server.config[:Port]}/", secret: "whsec_test" })
    server.shutdown
    # It stays inconclusive, because a response does not show what the receiver did: audit --effects counts that.
    refute_equal "fail", found["verdict"], found["probes"]
  end

  private

  # The client under test: retries a 5xx with the same key.
  def create_rule(name)
    key = SecureRandom.uuid
    body = { name: name, adjustmentType: "percentage", adjustmentValue: 1500 }
    [0.1, 0.2, 0.4].each do |pause|
      status, rule = api("POST", "/hospitality/pricing-rules", body, { "Idempotency-Key" => key })
      return rule if status < 500
      sleep pause
    end
    raise "no answer"
  end

  def api(method, path, body = nil, headers = {})
    call(method, "/v1#{path}", body, { "Authorization" => "Bearer #{@key}", **headers })
  end

  def control(method, path, body = nil)
    status, answer = call(method, "/_sandbox#{path}", body, { "Authorization" => "Bearer #{ENV["MERCHANT_SANDBOX_CONTROL_TOKEN"]}" })
    assert_operator status, :<, 300, answer["message"]
    answer
  end

  def call(method, path, body, headers)
    uri = URI(SANDBOX + path)
    sent = { "Content-Type" => "application/json", **headers }
    response = Net::HTTP.start(uri.host, uri.port) { |http| http.send_request(method, uri.request_uri, body && JSON.generate(body), sent) }
    [response.code.to_i, JSON.parse(response.body)]
  end
end
