// The logins of merchants: e-mail addresses, compared without regard to case, and hashed passwords.

import { scryptSync, timingSafeEqual } from "node:crypto";
import { fail } from "../../kernel/errors.ts";
import type { Random } from "../../kernel/random.ts";
import type { Behaviour } from "../../schema/assumed.ts";
import type { Database } from "../sqlite/database.ts";

/** Weak on purpose (0.1 ms per hash): hashing delays the start, and these passwords protect nothing real. */
const SCRYPT = { N: 64, r: 8, p: 1 };

/** An e-mail address as logins store and compare it. */
export const emailKey = (email: string) => email.toLowerCase();

export function openLogins({ sql }: Database, random: Random) {
  const insertLogin = sql.insert("insert or ignore into logins", "email, merchant, password");
  const byEmail = sql.prepare<[string], { merchant: string; password: string | null }>(
    "select merchant, password from logins where email = ?",
  );

  return {
    addLogin(email: string, merchant: string, password: string | undefined) {
      const stored = password === undefined ? null : hash(password, random.hex(16, "salt", merchant));
      const { changes } = insertLogin({ email: emailKey(email), merchant, password: stored });
      if (changes === 0)
        fail("already_exists", `A merchant with the e-mail address ${email} exists already.`, { fields: ["email"], values: { email } });
    },
    /** The merchant of this e-mail address and password; otherwise 401, with one message for a wrong address and a wrong password. */
    checkLogin(email: string | undefined, password: string | undefined) {
      const login = email === undefined ? undefined : byEmail.get(emailKey(email));
      if (!login?.password || password === undefined || !matches(password, login.password))
        fail(
          "invalid_credentials",
          "E-mail address or password are wrong. GET /_sandbox lists the addresses; the password of lodge is lodge-password, and so on.",
        );
      return login.merchant;
    },
  };
}

const hash = (password: string, salt: string) => `${salt}$${scryptSync(password, salt, 32, SCRYPT).toString("hex")}`;

function matches(password: string, stored: string): boolean {
  return timingSafeEqual(Buffer.from(hash(password, stored.split("$")[0] ?? "")), Buffer.from(stored));
}

export const behaviours: Behaviour[] = [
  {
    id: "logins.email",
    fact: "E-mail addresses of merchants are compared without regard to case, at login and for uniqueness; a response shows the address as it was sent.",
    why: "The service's documentation does not say; mail providers ignore case, and most services compare addresses so.",
  },
];
