// The seeded world: filled when it is empty, put back on request, and grown by merchants that somebody wants for himself.

import { fail } from "../kernel/errors.ts";
import { didYouMean } from "../kernel/nearest.ts";
import type { Dice } from "../kernel/random.ts";
import { openEraser } from "./erase.ts";
import type { Fixture } from "./fixtures.ts";
import type { SeededIdentity, Seeder } from "./seed.ts";
import type { Stores } from "./stores.ts";

export interface Minted {
  merchant: string;
  apiKey: string;
}

export interface World {
  /** Seeds the fixtures into a database that has no merchant yet. */
  fill(): void;
  /** Back to the fixtures, ids and all: everything, or one merchant. */
  reset(merchant?: string): void;
  /** A new merchant with everything that a fixture has, under an identity of its own. */
  mint(fixture: string): Minted;
  remove(merchant: string): void;
}

interface Origin extends SeededIdentity {
  fixture: string;
}

/** The owner of the counters that belong to no merchant. */
const NOBODY = "sandbox";
const KEY_LENGTH = 24;

/** `renew` is called after things went away, so that nothing held in memory outlives them. */
export function openWorld(
  stores: Stores,
  seeder: Seeder,
  fixtures: readonly Fixture[],
  dice: Dice,
  renew: (merchant?: string) => void,
): World {
  const { database, counters } = stores;
  const { sql } = database;
  const eraser = openEraser(database);
  const isEmpty = sql.prepare("select not exists (select 1 from documents where kind = 'merchant')").pluck();
  const exists = sql.prepare<[string]>("select 1 from documents where merchant = ? and kind = 'merchant'");
  const noteOrigin = sql.prepare("insert into origins (merchant, fixture, key, email) values (@id, @fixture, @key, @email)");
  const originOf = sql.prepare<[string], Origin>("select merchant as id, fixture, key, email from origins where merchant = ?");

  const named = (name: string) => {
    const names = fixtures.map((fixture) => fixture.name);
    const known = fixtures.find((fixture) => fixture.name === name);
    return (
      known ?? fail("validation_failed", `There is no fixture ${name}.${didYouMean(name, names) || ` There are ${names.join(", ")}.`}`)
    );
  };
  const bring = (origin: Origin) => {
    seeder.seedMerchant(named(origin.fixture), origin);
    noteOrigin.run(origin);
  };
  const bringAll = () => {
    for (const { name, merchant } of fixtures) bring({ id: merchant.id, key: merchant.apiKey, email: merchant.email, fixture: name });
  };
  const known = (merchant: string) => {
    if (!exists.get(merchant)) fail("resource_not_found", `There is no merchant ${merchant}. GET /_sandbox lists them.`);
  };

  return {
    fill() {
      if (isEmpty.get() === 1) database.commitNow(bringAll);
    },
    reset(merchant) {
      database.commitNow(() => {
        if (merchant === undefined) {
          eraser.everything();
          bringAll();
          return;
        }
        known(merchant);
        const origin =
          originOf.get(merchant) ??
          fail("validation_failed", `${merchant} was created through the API and came from no fixture. Reset everything, or remove it.`);
        eraser.merchant(merchant);
        bring(origin);
      });
      renew(merchant);
    },
    mint(fixture) {
      const { email } = named(fixture).merchant;
      return database.commitNow(() => {
        const id = counters.mint(NOBODY, "mer");
        const key = `sk_test_${dice.text(KEY_LENGTH, "key", id)}`;
        bring({ id, key, email: email.replace("@", `+${id.slice("mer_".length)}@`), fixture });
        return { merchant: id, apiKey: key };
      });
    },
    remove(merchant) {
      known(merchant);
      database.commitNow(() => eraser.merchant(merchant));
      renew(merchant);
    },
  };
}
