# The shop as a shell script, with the bug that BUG names.
# With MERCHANT "own", the script creates a merchant, and removes the merchant at the end.
set -eu
json="Content-Type: application/json"
control() { curl -sf -X "$1" "$MERCHANT_SANDBOX_URL/_sandbox$2" -H "$json" ${3:+-d "$3"}; }
field() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
new_key() { cat /proc/sys/kernel/random/uuid 2>/dev/null || uuidgen; }

merchant=""
if [ "${MERCHANT:-}" = own ]; then
  created=$(control POST /merchants '{"fixture": "lodge"}')
  merchant=$(echo "$created" | field id)
  MERCHANT_API_KEY=$(echo "$created" | field apiKey)
  if [ -n "${FAULTS:-}" ]; then
    node -p 'require("./faults.json").faults.map((rule) => JSON.stringify({ ...rule, match: { ...rule.match, merchant: process.argv[1] } })).join("\n")' \
      "$merchant" > rules
    while read -r rule; do control POST /faults "$rule" > /dev/null; done < rules
  fi
fi

most=4
[ "${BUG:-}" = "no end" ] && most=30

# call METHOD PATH [NAME REST] prints the response body. NAME is the name in the request body, REST its other fields.
call() {
  key=$(new_key)
  tries=1
  while :; do
    name="${3:-}"
    [ "${BUG:-}" = "new body" ] && name="${3:-}, try $tries"
    [ "${BUG:-}" = "new key" ] && key=$(new_key)
    header="Idempotency-Key: $key"
    [ "${BUG:-}" = "no key" ] && header="X-No-Key: 1"
    status=$(curl -s -X "$1" "$MERCHANT_BASE_URL$2" -o reply -D headers -w '%{http_code}' -H "Authorization: Bearer $MERCHANT_API_KEY" \
      -H "$json" -H "$header" ${4:+-d "{\"name\": \"$name\", $4}"})
    [ "$status" -lt 300 ] && cat reply && return 0
    [ "$tries" -eq "$most" ] && return 1
    [ "$status" -lt 500 ] && [ "$status" -ne 429 ] && return 1
    asked=$(tr -d '\r' < headers | sed -n 's/^[Rr]etry-[Aa]fter: //p')
    pause=$(awk "BEGIN { print 0.1 * 2 ^ $tries }")
    [ "${BUG:-}" = "no end" ] && pause=0
    [ "${BUG:-}" = "no wait" ] || sleep "${asked:-$pause}"
    tries=$((tries + 1))
  done
}

call GET "/payments?limit=3" > payments
call POST /hospitality/pricing-rules Harvest '"adjustmentType": "percentage", "adjustmentValue": 1500' > rule
call GET /payouts > payouts || true

node --input-type=module -e '
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { openReceiver } from "./shop.js";
const receiver = await openReceiver();
writeFileSync("url", receiver.url);
const waiting = setInterval(() => {
  if (!existsSync("secret")) return;
  receiver.trust(readFileSync("secret", "utf8").trim());
  writeFileSync("trusted", "");
  clearInterval(waiting);
}, 20);' &
receiver=$!
while [ ! -s url ]; do sleep 0.05; done
curl -sf "$MERCHANT_BASE_URL/webhooks" -H "Authorization: Bearer $MERCHANT_API_KEY" -H "$json" \
  -d "{\"url\": \"$(cat url)\", \"events\": [\"payment.succeeded\"]}" | field secret > new-secret
mv new-secret secret
while [ ! -e trusted ]; do sleep 0.05; done
control POST /events "{\"type\": \"payment.succeeded\"${merchant:+, \"merchant\": \"$merchant\"}}" > event
control POST /drain '{}' | grep -q '"settled":true'
kill $receiver
[ -z "$merchant" ] || control DELETE "/merchants/$merchant" > removed
