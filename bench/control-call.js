// Calls the control API of a measured sandbox, outside the measurement.

export async function call(port, method, path, body) {
  const headers = { "Content-Type": "application/json", Authorization: "Bearer sk_test_lodge" };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
