// The variables by which a program finds a sandbox, and writing them down for whoever is to set them.

interface Place {
  /** Where it listens, as seen from this machine. */
  url: string;
  controlToken?: string | undefined;
}

/** A sandbox that listens everywhere may be called by a name that only others can resolve. */
export const localUrl = ({ url, port }: { url: string; port: number }, host: string | undefined) =>
  host === "0.0.0.0" || host === "::" ? `http://127.0.0.1:${port}` : url;

export function variablesOf({ url, controlToken }: Place, key: string): Record<string, string> {
  return {
    MERCHANT_BASE_URL: `${url}/v1`,
    MERCHANT_API_KEY: key,
    MERCHANT_SANDBOX_URL: url,
    ...(controlToken === undefined ? {} : { MERCHANT_SANDBOX_CONTROL_TOKEN: controlToken }),
  };
}
