// The types of a resource's declaration: its fields, its states and their effects, its rules, and its sample record.
// `areas/declare/` has the function that declares one.

import type { Draws } from "../kernel/random.ts";
import type { Static, TObject, TProperties, TUnsafe } from "../schema/shapes.ts";

/** The statuses that may follow each status. */
export type Transitions = Readonly<Record<string, readonly string[]>>;

/** The states that set each time. */
export type ArrivalTimes = ReadonlyMap<string, readonly string[]>;

/** The fields that every record has. */
export interface RecordBase {
  id: string;
  object: string;
  merchantId: string;
  metadata: Record<string, unknown>;
  created: number;
  status?: string | undefined;
}

/** A record of any kind. */
export type AnyRecord = RecordBase & Readonly<Record<string, unknown>>;

/** Fields of a record, including unknown ones. In a new record, null means the default. */
export type RecordFields<R> = { [Name in keyof R]?: R[Name] | null | undefined } & Record<string, unknown>;

/** One merchant's records of a kind, in the same transaction as the change that uses them. */
export interface Records<R extends RecordBase> {
  find(id: string): R | undefined;
  /** The record. Fails with the same 404 if no record has the id, and if the record belongs to another merchant. */
  require(id: string): R;
  /** The newest record, for kinds with one record per merchant. */
  newest(): R | undefined;
  /** The newest records, the newest first. */
  newestOf(count: number): R[];
  /** All records, the oldest first. */
  all(): R[];
  /**
   * The records that the kind declares outstanding, the oldest first. An index finds them among any number of records.
   */
  outstanding(): R[];
  /**
   * Creates a record and moves it through its states up to `status` (default: the first), each with its values,
   * consequences and event.
   */
  create(fields: RecordFields<R>): R;
  /**
   * Changes fields but not the state. Null sets a field to null. Emits `event` (default: the declared one; null: none).
   */
  update(record: R, changes: RecordFields<R>, event?: string | null): R;
  /**
   * Changes the state. If the kind's transitions do not allow the change, fails with a 409 that lists the states in
   * which it is allowed.
   */
  move(record: R, status: string, changes?: RecordFields<R>): R;
}

/** The merchant's records of a kind. */
export type OwnRecords = <R extends RecordBase>(resource: Resource<R>) => Records<R>;

/** A record that arrives in a state. */
export interface Arrival<R> {
  record: R;
  /** Unix seconds on the sandbox clock, and never before the record was created. */
  now: number;
  own: OwnRecords;
}

export interface State<R, S extends string = string> {
  /** The states that may follow. */
  to: readonly S[];
  /** The event of the arrival. */
  event?: string;
  /** The fields that get the time of the arrival, unless they have a time already. */
  at?: string | readonly string[];
  /** Values for fields without a value. */
  fills?: RecordFields<R>;
  /** Values for fields that the caller left out. May read other records, but not change them. */
  sets?(arrival: Arrival<R>): RecordFields<R>;
  /**
   * Consequences for other records. Runs after the record is stored and its event emitted. Returns true if it changed
   * the record itself.
   */
  arrive?(arrival: Arrival<R>): unknown;
  /**
   * The next state that the clock causes, and its time in sandbox milliseconds, from the record or its merchant's
   * settings.
   */
  next?(state: Pick<Arrival<R>, "record" | "own">): { at: number; status: NoInfer<S> } | undefined;
  /**
   * Whether `next` follows within minutes. If so, it happens even if its time had passed when the record was created or
   * seeded.
   */
  isBrief?: boolean;
}

/**
 * The input of a sample. A random value depends only on the seed, the merchant, the kind, the record's number and the
 * word that names the value.
 */
export interface SampleContext extends Draws {
  /** The fields that the creator gave. */
  given: Readonly<Record<string, unknown>>;
  /** The status that the record will reach; undefined for kinds without a status. */
  status: string | undefined;
  merchant: AnyRecord;
  own: OwnRecords;
  /** Unix seconds on the sandbox clock, or the earliest of the given times. */
  now: number;
  /** The number of this record among the merchant's samples of the kind. */
  number: number;
  /** The calendar day this many days from `now`, in the time zone of the merchant. */
  day(offset: number): string;
  /** The merchant's newest records of a kind, at most one page. */
  newest(kind: string): readonly AnyRecord[];
  /** The merchant's outstanding records of a kind: those that a change of another record may need. */
  outstanding(kind: string): readonly AnyRecord[];
  /** The merchant's newest record of a kind that meets the condition, or a new one. */
  someOf(kind: string, meets?: (record: AnyRecord) => boolean): AnyRecord;
  /** A new id for a part of the record. */
  mint(prefix: string): string;
}

/** Returns realistic values for fields that the creator of a record left out. */
export type Sample = (context: SampleContext) => Record<string, unknown>;

export interface RuleProblem {
  /** The field, or a path such as `items/0/amount`. */
  field: string;
  code: string;
  message: string;
}

/** The context in which a rule checks a record. */
export interface RuleContext<R> {
  /** The record before the change; undefined for a new record. */
  before: R | undefined;
  /** Unix seconds on the sandbox clock. */
  now: number;
  own: OwnRecords;
}

/** A condition that every record must meet. A record that breaks it is malformed, or in an impossible state. */
export type Rule<R> = { check(record: R, context: RuleContext<R>): RuleProblem | undefined }["check"];

/**
 * One sentence about what is unlikely in a record, such as a stay in a full room. The record is written all the same:
 * a test may want exactly that.
 */
export type Warning<R> = { check(record: R, context: RuleContext<R>): string | undefined }["check"];

/** A merchant's records by kind, the oldest first. */
export type RecordsByKind = ReadonlyMap<string, readonly AnyRecord[]>;

/** A contradiction within a record or with other records. */
export interface WorldViolation {
  kind: string;
  id: string;
  /** The field, or a path such as `items/0/amount`; undefined if no single field is wrong. */
  field?: string;
  message: string;
}

/** The events of changes that keep the state, by type. A change emits the first one whose condition holds. */
export type UpdateEvents<R> = Readonly<Record<string, UpdateEvent<R>>>;

interface UpdateEvent<R> {
  /** Whether a change emits the event (default: every change). */
  when?(before: R, after: R): boolean;
  /** How `trigger` causes the event (default: it changes the metadata of a new record). */
  trigger?: UpdateTrigger<R>;
}

export interface UpdateTrigger<R> {
  /** The status in which the record is created. */
  status: string | undefined;
  /** The changes to the new record. */
  change(record: R): RecordFields<R>;
  /** `change` as flags of the command `move`. */
  flags: string;
}

export interface Resource<R extends RecordBase = RecordBase> {
  readonly kind: string;
  readonly prefix: string;
  /** The name of the SQL view of these records. */
  readonly view: string;
  readonly schema: TUnsafe<R> & { properties: TProperties; required?: readonly string[] };
  /** The states by name, the initial one first; empty for resources without a status. */
  readonly states: Readonly<Record<string, State<R>>>;
  /** Whether the clock alone can change the state of its records. */
  readonly changesWithTime: boolean;
  readonly transitions: Transitions;
  /** The event types by new status, by `created` for a new record, or by the name of a change that keeps the state. */
  readonly events: Readonly<Record<string, string>>;
  readonly updates: UpdateEvents<R>;
  /** The states that set each time of an arrival. */
  readonly arrivalTimes: ArrivalTimes;
  readonly rules: readonly Rule<R>[];
  readonly warnings: readonly Warning<R>[];
  /**
   * Checks that these records agree with others. Operations keep records in agreement, so only fixtures and tests use
   * these checks.
   */
  readonly worldChecks: readonly ((world: RecordsByKind, own: OwnRecords) => WorldViolation[])[];
  /** Returns corrected values, instead of rejecting the record. */
  corrects?(record: R, context: RuleContext<R>): RecordFields<R> | undefined;
  /** Consequences of a change that keeps the state. Runs after the record is stored and its event emitted. */
  changed?(change: Arrival<R>): void;
  /** The kind of record that each of these fields refers to. */
  readonly references: Readonly<Record<string, string>>;
  /**
   * For each of these fields, the values that the merchant's profile lists; an empty list allows every value. The
   * control API rejects any other value as unknown.
   */
  readonly listed: Readonly<Record<string, (merchant: AnyRecord) => readonly string[]>>;
  /** Unique constraints: sets of fields whose combined values must be unique among a merchant's records. */
  readonly unique: readonly (readonly string[])[];
  /** Fields that are stored but never returned. */
  readonly hidden: readonly string[];
  /** Fields computed from other records. Fixtures may contain them, but no caller may set them. */
  readonly derived: readonly string[];
  /** Whether every merchant has exactly one record of the kind. */
  readonly onePerMerchant?: boolean;
  /** Whether a later change of another record may need this one. */
  outstanding?(record: R): boolean;
  /** Default values of a new record. */
  readonly defaults: Partial<R>;
  /**
   * A field that numbers the merchant's records, one series for each prefix. A record without a number gets the next
   * one, when it is created or arrives `at` a state.
   */
  readonly series: readonly {
    readonly field: string;
    readonly at?: string;
    prefix(record: R, own: OwnRecords): string;
  }[];
  /** The unit by which seeding shifts the dates of a record. */
  readonly datesMoveBy: DateUnit | ((record: Readonly<Record<string, unknown>>) => DateUnit);
  /** Corrects fields after seeding has moved the dates of a record: a date may have to be a business day. */
  fitDates?(dates: ShiftedDates): Readonly<Record<string, unknown>>;
  /** Realistic fields for a new record (default: its default values). */
  readonly sample?: Sample | undefined;
}

/** A record before and after the shift, and the merchant's statutory settings. */
export type ShiftedDates = Readonly<Record<"written" | "settings", Readonly<Record<string, unknown>>>> & {
  readonly moved: AnyRecord;
};

/**
 * Weeks keep the day of the week, months the day of the month, quarters and half-years also the labels of those
 * periods.
 */
export type DateUnit = "days" | "weeks" | "months" | "quarters" | "half-years";

/** The parts of a resource that its declaration gives unchanged, or leaves out. */
export type DeclaredParts<R extends RecordBase> = Partial<
  Pick<
    Resource<R>,
    | "worldChecks"
    | "warnings"
    | "corrects"
    | "changed"
    | "unique"
    | "hidden"
    | "derived"
    | "onePerMerchant"
    | "outstanding"
    | "datesMoveBy"
    | "series"
    | "fitDates"
    | "sample"
  >
>;

export interface ResourceDeclaration<F extends TProperties, S extends string> extends DeclaredParts<RecordOf<F>> {
  kind: string;
  prefix: string;
  view: string;
  fields: F;
  /** The states, the initial one first. */
  states?: {
    readonly [Name in S]: State<RecordOf<F>, NoInfer<S>> & { at?: NoInfer<keyof F> | readonly NoInfer<keyof F>[] };
  };
  /** The event of a new record (default: the first state's event; null: none). */
  created?: string | null;
  /** The event of a change that keeps the state, or several with their conditions (default: none). */
  updated?: string | UpdateEvents<RecordOf<F>>;
  rules?: readonly Rule<RecordOf<F>>[];
  references?: { readonly [Name in keyof F]?: string };
  listed?: { readonly [Name in keyof F]?: (merchant: AnyRecord) => readonly string[] };
  defaults?: Record<string, unknown>;
  /** False if the service's documentation lists the fields of the resource without `livemode`. */
  livemode?: false;
}

export type RecordOf<F extends TProperties> = RecordBase & Static<TObject<F>>;

export type RecordShape<F extends TProperties, S extends string> = RecordOf<F> &
  (string extends S ? unknown : { status: S });
