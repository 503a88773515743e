// The environment variables that point a program to a sandbox.

/** The URL on this machine. A sandbox that listens on all addresses may have a host name that only other machines resolve. */
export const localUrl = ({ url, port }: { url: string; port: number }, host: string | undefined) =>
  host === "0.0.0.0" || host === "::" ? `http://127.0.0.1:${port}` : url;

export function variablesOf(
  { url, controlToken }: { url: string; controlToken?: string | undefined },
  key: string,
): Record<string, string> {
  return {
    MERCHANT_BASE_URL: `${url}/v1`,
    MERCHANT_API_KEY: key,
    MERCHANT_SANDBOX_URL: url,
    ...(controlToken === undefined ? {} : { MERCHANT_SANDBOX_CONTROL_TOKEN: controlToken }),
  };
}
