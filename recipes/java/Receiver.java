// Receiver.java
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Receiver {
  static final Set<String> seen = ConcurrentHashMap.newKeySet(); // in a real service a unique column

  static HttpServer listen(int port, String secret) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("localhost", port), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/", exchange -> {
      byte[] body = exchange.getRequestBody().readAllBytes();
      String signature = exchange.getRequestHeaders().getFirst("X-Webhook-Signature");
      exchange.sendResponseHeaders(statusOf(body, signature == null ? "" : signature, secret), -1);
    });
    server.start();
    return server;
  }

  static int statusOf(byte[] body, String signature, String secret) {
    if (!isGenuine(body, signature, secret)) return 401;
    // The records in its data have ids as well.
    var id = Pattern.compile("\"id\"\\s*:\\s*\"(evt_\\w+)\"").matcher(new String(body));
    if (!id.find()) return 400;
    if (seen.add(id.group(1))) System.out.println(id.group(1));
    return 200;
  }

  static boolean isGenuine(byte[] body, String signature, String secret) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(), "HmacSHA256"));
      return MessageDigest.isEqual(HexFormat.of().formatHex(mac.doFinal(body)).getBytes(), signature.getBytes());
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  public static void main(String[] arguments) throws IOException {
    listen(3000, System.getenv("MERCHANT_WEBHOOK_SECRET"));
  }
}
