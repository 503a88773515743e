# sandbox.sh
set -eu
json="Content-Type: application/json"
auth="Authorization: Bearer $MERCHANT_API_KEY"
token="Authorization: Bearer ${MERCHANT_SANDBOX_CONTROL_TOKEN:-}"

# The first call.
curl -sf "$MERCHANT_BASE_URL/payments?limit=3" -H "$auth" -o payments.json

# The response of a write is lost; curl retries with the same key.
npx merchant-sandbox fault add lost-response=502 pricing_rules.create
curl -sf --retry 3 --retry-all-errors "$MERCHANT_BASE_URL/hospitality/pricing-rules" -H "$auth" -H "$json" -H "Idempotency-Key: harvest" \
  -d '{"name": "Harvest", "adjustmentType": "percentage", "adjustmentValue": 1500}' -o rule.json
curl -sf "$MERCHANT_SANDBOX_URL/_sandbox/verify?strict=1" -H "$token" -H "$json" -o verdict.json \
  -d '{"all": [{"records": {"kind": "pricing_rule", "where": {"/name": "Harvest"}, "count": {"exactly": 1}}}]}'

# A webhook, and its signature.
curl -sf "$MERCHANT_BASE_URL/webhooks" -H "$auth" -H "$json" -d '{"url": "http://localhost:3000/", "events": ["payment.succeeded"]}' > endpoint.json
npx merchant-sandbox trigger payment.succeeded
curl -sf "$MERCHANT_SANDBOX_URL/_sandbox/drain" -H "$token" -H "$json" -d '{}' -o drained.json
curl -sf "$MERCHANT_BASE_URL/webhook-deliveries?limit=1" -H "$auth" > log.json
secret=$(node -p 'require("./endpoint.json").secret')
sent=$(node -p 'require("./log.json").data[0].requestHeaders["X-Webhook-Signature"]')
node -e 'process.stdout.write(require("./log.json").data[0].requestBody)' > body.json
test "$(openssl dgst -sha256 -hmac "$secret" -r body.json | cut -d " " -f 1)" = "$sent"
echo "3 passed"
