<?php
// receiver.php
$body = file_get_contents("php://input");
$expected = hash_hmac("sha256", $body, getenv("MERCHANT_WEBHOOK_SECRET"));
if (!hash_equals($expected, $_SERVER["HTTP_X_WEBHOOK_SIGNATURE"] ?? "")) return http_response_code(401);

$event = json_decode($body, true);
if ($event === null) return http_response_code(400);

// A file that can be created once; in a real service a unique column.
if (@fopen(sys_get_temp_dir() . "/" . $event["id"], "x")) error_log("{$event["type"]} {$event["id"]}");
