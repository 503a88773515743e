# receiver.rb
require "json"
require "openssl"
require "webrick" # before Ruby 3.0 a part of Ruby, since then a gem

def listen(port, secret)
  seen = {} # in a real service a unique column
  one_at_a_time = Mutex.new # the same event may arrive twice at once
  server = WEBrick::HTTPServer.new(BindAddress: "localhost", Port: port, AccessLog: [])
  server.mount_proc("/") do |request, response|
    body = request.body.to_s
    expected = OpenSSL::HMAC.hexdigest("SHA256", secret, body)
    next response.status = 401 unless OpenSSL.secure_compare(expected, request["X-Webhook-Signature"].to_s)

    event = JSON.parse(body)
    one_at_a_time.synchronize do
      puts "#{event["type"]} #{event["id"]}" unless seen[event["id"]]
      seen[event["id"]] = true
    end
  rescue JSON::ParserError
    response.status = 400
  end
  server
end

$stdout.sync = true
listen(3000, ENV.fetch("MERCHANT_WEBHOOK_SECRET")).start if $PROGRAM_NAME == __FILE__
