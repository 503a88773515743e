<?php
// Sends the requests that it reads from stdin, one JSON object a line, with the curl extension's defaults; prints a line after each.
// By default, reads fail after a minute without input.
stream_set_timeout(STDIN, 86400);
$handle = curl_init();
while (($line = fgets(STDIN)) !== false) {
    $call = json_decode($line, true);
    $headers = [];
    foreach ($call["headers"] as $name => $value) {
        $headers[] = "$name: $value";
    }
    curl_reset($handle);
    curl_setopt_array($handle, [
        CURLOPT_URL => $call["url"],
        CURLOPT_CUSTOMREQUEST => $call["method"],
        CURLOPT_HTTPHEADER => $headers,
        CURLOPT_RETURNTRANSFER => true,
    ]);
    if (isset($call["body"])) {
        curl_setopt($handle, CURLOPT_POSTFIELDS, json_encode($call["body"]));
    }
    curl_exec($handle);
    echo "done\n";
}
