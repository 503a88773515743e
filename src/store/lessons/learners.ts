// The learners and their progress, stored in the database so that a restart keeps it.

import type { FinishedStep } from "../../contracts/lesson.ts";
import type { Database } from "../sqlite/database.ts";

export interface Learner {
  merchant: string;
  name: string;
  /** Null before the first lesson. */
  lesson: string | null;
  /** Starts at one; after the last step, one more than the number of steps. */
  step: number;
  hints: number;
  /** Sandbox milliseconds. */
  began: number;
  /** The state before the step began, as JSON. */
  mark: string;
}

export function openLearners({ sql }: Database) {
  const columns = "merchant, name, lesson, step, hints, began, mark";
  const list = sql.prepare<[], Learner>(`select ${columns} from learners order by sequence`);
  const named = sql.prepare<[string], Learner>(`select ${columns} from learners where name = ?`);
  const exists = sql.prepare<[string], number>("select 1 from learners where merchant = ?").pluck();
  const put = sql.prepare<[Learner]>(
    `insert into learners (${columns}) values (@merchant, @name, @lesson, @step, @hints, @began, @mark)
     on conflict (merchant) do update set lesson = @lesson, step = @step, hints = @hints, began = @began, mark = @mark`,
  );
  const remove = sql.prepare<[string]>("delete from learners where merchant = ?");
  const removeSteps = sql.prepare<[string]>("delete from finished_steps where merchant = ?");
  const finished = sql.prepare<[string], FinishedStep>(
    "select lesson, step, how, hints, ended as at from finished_steps where merchant = ? order by place",
  );
  const finish = sql.prepare<[FinishedStep & { merchant: string }]>(
    `insert or replace into finished_steps (merchant, lesson, step, how, hints, ended, place)
     values (@merchant, @lesson, @step, @how, @hints, @at,
       (select coalesce(max(place), 0) + 1 from finished_steps where merchant = @merchant))`,
  );
  const forget = sql.prepare<[string, string]>("delete from finished_steps where merchant = ? and lesson = ?");
  return {
    /** All learners, in the order in which they joined. */
    list: () => list.all(),
    has: (merchant: string) => exists.get(merchant) !== undefined,
    named: (name: string) => named.get(name),
    /** Adds a learner, or replaces the learner of the same merchant. */
    put: (learner: Learner) => void put.run(learner),
    remove(merchant: string) {
      removeSteps.run(merchant);
      remove.run(merchant);
    },
    /** The finished steps, in order. */
    finished: (merchant: string) => finished.all(merchant),
    finish: (merchant: string, step: FinishedStep) => void finish.run({ ...step, merchant }),
    /** Deletes the finished steps of a lesson that starts again. */
    forget: (merchant: string, lesson: string) => void forget.run(merchant, lesson),
  };
}
