# receiver.rb
require "json"
require "openssl"
require "webrick" # before Ruby 3.0 a part of Ruby, since then a gem

def listen(port, secret)
  seen = {} # in a real service a unique column
  server = WEBrick::HTTPServer.new(BindAddress: "localhost", Port: port, AccessLog: [])
  server.mount_proc("/") do |request, response|
    body = request.body.to_s
    expected = OpenSSL::HMAC.hexdigest("SHA256", secret, body)
    next response.status = 401 unless OpenSSL.secure_compare(expected, request["X-Webhook-Signature"].to_s)

    event = JSON.parse(body)
    puts "#{event["type"]} #{event["id"]}" unless seen[event["id"]]
    seen[event["id"]] = true
  rescue JSON::ParserError
    response.status = 400
  end
  server
end

listen(3000, ENV.fetch("MERCHANT_WEBHOOK_SECRET")).start if $PROGRAM_NAME == __FILE__
