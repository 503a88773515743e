// Asks for the control token, which a sandbox requires once other machines can reach it. It is kept until the tab is
// closed.

const STORED = "merchant-sandbox control token";

export const readToken = (): string | undefined => sessionStorage.getItem(STORED) ?? undefined;

function storeToken(event: SubmitEvent): void {
  event.preventDefault();
  const token = new FormData(event.currentTarget as HTMLFormElement).get("token");
  sessionStorage.setItem(STORED, String(token).trim());
  location.reload();
}

export const TokenView = ({ reason }: { reason: string }) => (
  <main class="token">
    <form onSubmit={storeToken}>
      <h1>Connect to the sandbox</h1>
      <p>{reason}</p>
      <label for="token">Control token</label>
      <input id="token" name="token" type="password" autocomplete="off" required />
      <p class="hint">The program printed it at start. This tab keeps it until it is closed.</p>
      <button type="submit" class="primary">
        Connect
      </button>
    </form>
  </main>
);
