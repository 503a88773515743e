# A webhook receiver that records each event once. BUG names its only bug, if it has one.
require "json"
require "openssl"
require "webrick"

PORT, SECRET, BUG, FOLDER = %w[PORT SECRET BUG FOLDER].map { |name| ENV.fetch(name) }
OLDEST = 3 * 24 * 3600 # seconds

def remember(id)
  File.open(File.join(FOLDER, id), File::CREAT | File::EXCL | File::WRONLY).close
  true
rescue Errno::EEXIST
  false
end

def status_for(body, signature)
  secret = BUG == "secret" ? "whsec_of_another_shop" : SECRET
  signed = BUG == "reserialised" ? JSON.generate(JSON.parse(body)) : body
  digest = OpenSSL::HMAC.hexdigest("SHA256", secret, signed)
  return 401 unless BUG == "unsigned" || OpenSSL.secure_compare(digest, signature)

  event = JSON.parse(body)
  return 400 if BUG != "old" && Time.now.to_i - event["created"] > OLDEST

  sleep 7 if BUG == "slow"
  is_new = remember(event["id"])
  is_lost = BUG == "lost" && event["id"][-1].ord.even?
  if (is_new && !is_lost) || %w[twice error].include?(BUG)
    File.open(File.join(FOLDER, "orders"), "a") { |orders| orders.write("#{event["id"]}\n") }
  end
  BUG == "error" && is_new ? 500 : 200
rescue JSON::ParserError
  400
end

server = WEBrick::HTTPServer.new(
  BindAddress: "127.0.0.1", Port: PORT.to_i, AccessLog: [], Logger: WEBrick::Log.new(File::NULL), MaxClients: 300
)
server.mount_proc("/") do |request, response|
  response.status = status_for(request.body.to_s, request["X-Webhook-Signature"].to_s)
end
server.start
