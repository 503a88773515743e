// A webhook receiver that records each event once. BUG names its only bug, if it has one.
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Receiver {
  static final String SECRET = System.getenv("SECRET");
  static final String BUG = System.getenv("BUG");
  static final Path FOLDER = Path.of(System.getenv("FOLDER"));
  static final long OLDEST = 3 * 24 * 3600; // seconds

  public static void main(String[] arguments) throws IOException {
    var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT")));
    HttpServer server = HttpServer.create(address, 256);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/", exchange -> {
      byte[] body = exchange.getRequestBody().readAllBytes();
      String signature = exchange.getRequestHeaders().getFirst("X-Webhook-Signature");
      int status;
      try {
        status = statusFor(body, signature == null ? "" : signature);
      } catch (Exception broken) {
        status = 400;
      }
      exchange.sendResponseHeaders(status, -1);
      exchange.close();
    });
    server.start();
  }

  static int statusFor(byte[] body, String signature) throws Exception {
    byte[] signed = BUG.equals("reserialised") ? rewritten(body) : body;
    Mac mac = Mac.getInstance("HmacSHA256");
    String secret = BUG.equals("secret") ? "whsec_of_another_shop" : SECRET;
    mac.init(new SecretKeySpec(secret.getBytes(), "HmacSHA256"));
    byte[] digest = HexFormat.of().formatHex(mac.doFinal(signed)).getBytes();
    if (!BUG.equals("unsigned") && !MessageDigest.isEqual(digest, signature.getBytes())) return 401;
    String text = new String(body, StandardCharsets.UTF_8);
    if (!text.strip().endsWith("}")) return 400;
    String id = field(text, "\"id\"\\s*:\\s*\"(\\w+)\"");
    long created = Long.parseLong(field(text, "\"created\"\\s*:\\s*(\\d+)"));
    if (!BUG.equals("old") && System.currentTimeMillis() / 1000 - created > OLDEST) return 400;
    if (BUG.equals("slow")) Thread.sleep(7000);
    boolean isNew = remember(id);
    boolean isLost = BUG.equals("lost") && id.charAt(id.length() - 1) % 2 == 0;
    if ((isNew && !isLost) || BUG.equals("twice") || BUG.equals("error"))
      Files.writeString(FOLDER.resolve("orders"), id + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    return BUG.equals("error") && isNew ? 500 : 200;
  }

  /** The body on one line, as Jackson would write it after parsing. */
  static byte[] rewritten(byte[] body) {
    String text = new String(body, StandardCharsets.UTF_8);
    Matcher token = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"|\\S").matcher(text);
    StringBuilder written = new StringBuilder();
    while (token.find()) written.append(token.group());
    return written.toString().getBytes(StandardCharsets.UTF_8);
  }

  static String field(String text, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    if (!found.find()) throw new IllegalArgumentException(pattern);
    return found.group(1);
  }

  static boolean remember(String id) throws IOException {
    try {
      Files.createFile(FOLDER.resolve(id));
      return true;
    } catch (FileAlreadyExistsException known) {
      return false;
    }
  }
}
