<?php
// A webhook receiver that records each event once. BUG names its only bug, if it has one.

const OLDEST = 3 * 24 * 3600; // seconds

function status_for(string $body, string $signature): int
{
    $bug = getenv("BUG");
    $folder = getenv("FOLDER");
    $secret = $bug === "secret" ? "whsec_of_another_shop" : getenv("SECRET");
    $signed = $bug === "reserialised" ? json_encode(json_decode($body, true)) : $body;
    if ($bug !== "unsigned" && !hash_equals(hash_hmac("sha256", $signed, $secret), $signature)) return 401;
    $event = json_decode($body, true);
    if ($event === null) return 400;
    if ($bug !== "old" && time() - $event["created"] > OLDEST) return 400;
    if ($bug === "slow") sleep(7);
    $file = @fopen("$folder/{$event["id"]}", "x");
    $isNew = $file !== false;
    if ($isNew) fclose($file);
    $isLost = $bug === "lost" && ord(substr($event["id"], -1)) % 2 === 0;
    if (($isNew && !$isLost) || $bug === "twice" || $bug === "error")
        file_put_contents("$folder/orders", "{$event["id"]}\n", FILE_APPEND | LOCK_EX);
    return $bug === "error" && $isNew ? 500 : 200;
}

http_response_code(status_for(file_get_contents("php://input"), $_SERVER["HTTP_X_WEBHOOK_SIGNATURE"] ?? ""));
