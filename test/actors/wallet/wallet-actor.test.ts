/**
 * How the wallet actor takes turns: what it asks of the store, whom it resumes, which slots it returns, and which failures blame a command.
 *
 * The store is a list of outcomes, so each kind of failure is tried in milliseconds. test/actors/turns.test.ts does it with PostgreSQL.
 */
import { describe, expect } from "bun:test"
import { Cause, Effect, Exit, Fiber, Layer, Logger } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { DirectCommands, type Offered } from "../../../src/actors/mailbox/DirectCommands.ts"
import { RunSlots } from "../../../src/actors/runs/RunSlots.ts"
import { WalletActor } from "../../../src/actors/wallet/WalletActor.ts"
import type { DirectCommand } from "../../../src/layers/ledger/DirectCommands.ts"
import { MailStore } from "../../../src/layers/ledger/MailStore.ts"
import type { TurnView } from "../../../src/layers/ledger/Turn.ts"
import { TurnConflict, TurnStore } from "../../../src/layers/ledger/TurnStore.ts"
import { seriesText } from "../../../src/layers/observability/series.ts"
import { effect } from "../../kit/effect-tests.ts"
import { cancel, credit, newRun, org_id, reportOf, reserve, runningRun, settle, turnView } from "../../kit/turn-view.ts"

const at = new Date("2026-11-25T12:00:00Z")

/** What the store does with a turn. */
type Outcome =
  /** It commits what the turn decides of this view. `started: false`: the runs that it leased have ended in it. */
  | { readonly view: TurnView; readonly started?: false; readonly rejects?: ReadonlyArray<DirectCommand> }
  | { readonly conflict: { readonly read: boolean } }
  | { readonly dies: unknown }
  /** The view is decided, and then the statement fails. */
  | { readonly view: TurnView; readonly dies: unknown }
  | "no command"
  | "interrupted"

interface Asked {
  readonly lane: number
  readonly max: number
  readonly direct: ReadonlyArray<DirectCommand>
  readonly mayRecall: boolean
}

const directSettle = (run_id: string): DirectCommand => ({
  ...{ _tag: "Settle", run: runningRun(run_id), report: reportOf(run_id), result: null }
})

interface World {
  readonly outcomes: ReadonlyArray<Outcome>
  readonly direct?: ReadonlyArray<DirectCommand>
  readonly fate?: "kept" | "dead_lettered"
  readonly ended?: string | null
  /** Whether this process has a slot for each run. */
  readonly hasSlot?: boolean
  readonly onTake?: () => void
}

/** An actor whose store has these outcomes, one after the other, and what it did. */
const worldOf = ({ outcomes, direct = [], fate = "kept", ended = null, hasSlot = true, onTake }: World) => {
  const left = [...outcomes]
  const asked: Array<Asked> = []
  const failures: Array<readonly [lane: number, max: number, why: string]> = []
  const taken: Array<string> = []
  const returned: Array<string> = []
  const queued: Array<ReadonlyArray<string>> = []
  const logs: Array<string> = []
  /** What the sender of each direct command heard first. */
  const heard = new Map<DirectCommand, Date | null>()
  const offered = direct.map(
    (command): Offered => ({ command, resume: (at) => void (heard.has(command) || heard.set(command, at)) })
  )
  const store = TurnStore.of({
    turn: (lane, max, commands, mayRecall, decide) =>
      Effect.gen(function* () {
        asked.push({ lane, max, direct: commands, mayRecall })
        yield* TestClock.adjust("2 seconds")
        const outcome = left.shift()
        if (outcome === undefined) throw new Error("The test names no outcome for this turn.")
        if (outcome === "no command") return null
        if (outcome === "interrupted") return yield* Effect.interrupt
        if ("conflict" in outcome) return yield* new TurnConflict(outcome.conflict)
        const decided = "view" in outcome ? decide(outcome.view) : null
        if ("dies" in outcome || decided === null) return yield* Effect.die("dies" in outcome ? outcome.dies : outcome)
        const started = outcome.started === false ? { started: [] } : {}
        return { ...decided.answer, ...started, at, rejected: outcome.rejects ?? [], orgs: [org_id] }
      })
  })
  const layer = WalletActor.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(TurnStore, store),
        Layer.mock(MailStore, {
          recordFailure: (lane, max, why) => {
            failures.push([lane, max, why])
            return Effect.succeed({ fate, command: "Credit of org_a", ended })
          }
        }),
        Layer.mock(RunSlots, {
          workerId: () => "worker_a",
          tryTake: (run_id) => {
            if (hasSlot) taken.push(run_id)
            return hasSlot
          },
          giveBack: (run_id) => void returned.push(run_id),
          queued: (org_ids) => void queued.push([...org_ids]),
          reserve: () => null,
          assign: () => {},
          release: () => {},
          room: () => 0,
          running: () => [],
          enter: () => true,
          beginJob: () => {},
          leave: () => {},
          claimed: () => {},
          listed: () => {},
          mayWait: () => false,
          onRoom: () => {}
        }),
        Layer.mock(DirectCommands, {
          take: () => {
            onTake?.()
            return offered
          },
          learn: () => {},
          open: () => {},
          pause: () => {},
          waiting: () => false
        })
      )
    ),
    Layer.provideMerge(Logger.layer([Logger.make(({ message }) => void logs.push(String(message)))]))
  )
  const turn = (mayRecall?: boolean) =>
    Effect.provide(
      Effect.flatMap(WalletActor, (actor) => Effect.exit(actor.turn(7, mayRecall))),
      layer
    )
  return { turn, asked, failures, taken, returned, queued, logs, heardBy: (one: DirectCommand) => heard.get(one) }
}

const answerOf = <A>(exit: Exit.Exit<A>): A => {
  if (Exit.isFailure(exit)) throw new Error(Cause.pretty(exit.cause))
  return exit.value
}
const credits = (count: number) => turnView(Array.from({ length: count }, () => credit("0.01")))

const sqlError = (
  code: string | null,
  make: typeof SqlError.UnknownError | typeof SqlError.SqlSyntaxError = SqlError.UnknownError
) => new SqlError.SqlError({ reason: new make({ cause: code === null ? new Error("lost") : { code } }) })

describe("a turn", () => {
  effect("takes at most 500 commands, and asks for another turn only if there may be more", () =>
    Effect.gen(function* () {
      const world = worldOf({ outcomes: [{ view: credits(500) }, { view: credits(499) }, { view: credits(1) }] })
      const answers = []
      while (answers.length < 3) answers.push(answerOf(yield* world.turn()))
      expect(answers.map(({ taken, more, direct }) => [taken, more, direct])).toEqual([
        [500, true, false],
        [499, false, false],
        [1, false, false]
      ])
      expect(world.asked[0]).toEqual({ lane: 7, max: 500, direct: [], mayRecall: false })
      expect(answers[0]).toMatchObject({ at, orgs: [org_id] })
    })
  )

  effect("asks for another turn if a run of this one must be decided again", () =>
    Effect.gen(function* () {
      const reuses = { reuses: true, plan: { reuse: { mode: "prefer", max_age_seconds: 60 } } } as const
      const runs = [
        runningRun("run_a", { input_hash: "hash", buys: true }),
        newRun("run_b", { input_hash: "hash", ...reuses })
      ]
      const world = worldOf({ outcomes: [{ view: turnView([settle("run_a"), reserve("run_b")], { runs }) }] })
      expect(answerOf(yield* world.turn())).toMatchObject({ taken: 2, requeued: true, more: true })
    })
  )

  effect("without a command does nothing", () =>
    Effect.gen(function* () {
      const world = worldOf({ outcomes: ["no command"] })
      expect(answerOf(yield* world.turn())).toEqual({
        ...{ taken: 0, more: false, started: [], queued: [], ended: [], losses: [], charges: false, mismatches: [] },
        ...{ signals: [], orgs: [], available: new Map(), at: new Date(0), direct: false, requeued: false }
      })
    })
  )

  effect("after another turn of the lane has committed first is tried again later", () =>
    Effect.gen(function* () {
      const world = worldOf({ outcomes: [{ conflict: { read: true } }] })
      expect(answerOf(yield* world.turn())).toMatchObject({ taken: 0, more: true, direct: false })
      expect(world.asked).toHaveLength(1)
    })
  )

  effect("that trusted what this process remembers reads at once if that has changed", () =>
    Effect.gen(function* () {
      const world = worldOf({ outcomes: [{ conflict: { read: false } }, { view: credits(1) }] })
      expect(answerOf(yield* world.turn(true))).toMatchObject({ taken: 1, more: false })
      expect(world.asked.map(({ mayRecall }) => mayRecall)).toEqual([true, false])
    })
  )

  effect("counts its commands and seconds for the operator's metrics", () =>
    Effect.gen(function* () {
      const sumOf = (name: string) => Number(new RegExp(`^${name}_sum(?:{.*})? (.*)$`, "m").exec(seriesText())?.[1])
      const counted = () => [sumOf("rungate_turn_commands"), sumOf("rungate_turn_duration_seconds")]
      const before = counted()
      yield* TestClock.adjust("1 minute")
      const direct = ["run_a", "run_b", "run_c"].map(directSettle)
      const runs = direct.map(({ run }) => runningRun(run.run_id))
      const view = turnView([credit("1.00"), credit("1.00")], { runs })
      yield* worldOf({ outcomes: [{ view, rejects: direct.slice(0, 1) }], direct }).turn()
      // Two stored commands and two of three direct ones, in a turn of two seconds.
      expect(counted().map((sum, at) => Number((sum - (before[at] ?? 0)).toFixed(6)))).toEqual([4, 2])
      yield* worldOf({ outcomes: ["no command"] }).turn()
      expect(counted().map((sum, at) => Number((sum - (before[at] ?? 0)).toFixed(6)))).toEqual([4, 2])
    })
  )
})

describe("the slot of a run", () => {
  const view = turnView([reserve("run_a"), reserve("run_b")], { runs: [newRun("run_a"), newRun("run_b")] })

  effect("stays taken when the turn starts the run", () =>
    Effect.gen(function* () {
      const world = worldOf({ outcomes: [{ view }] })
      const { started } = answerOf(yield* world.turn())
      expect(started.map(({ run_id }) => run_id)).toEqual(["run_a", "run_b"])
      expect([world.taken, world.returned, world.queued]).toEqual([["run_a", "run_b"], [], [[]]])
    })
  )

  effect("is returned when the turn is rolled back, or the run has ended in it", () =>
    Effect.gen(function* () {
      const failed = worldOf({ outcomes: [{ view, dies: sqlError("40001") }] })
      yield* failed.turn()
      expect([failed.returned, failed.queued]).toEqual([["run_a", "run_b"], [[]]])
      const ended = worldOf({ outcomes: [{ view, started: false }] })
      yield* ended.turn()
      expect(ended.returned).toEqual(["run_a", "run_b"])
    })
  )

  effect("is not taken when none is free: the run waits in the queue", () =>
    Effect.gen(function* () {
      const world = worldOf({ outcomes: [{ view }], hasSlot: false })
      expect(answerOf(yield* world.turn())).toMatchObject({ started: [], queued: [org_id, org_id] })
      expect([world.queued, world.returned]).toEqual([[[org_id, org_id]], []])
    })
  )
})

describe("the sender of a direct command", () => {
  const [taken, rejected] = [directSettle("run_a"), directSettle("run_b")]
  const direct = [taken, rejected]
  const view = turnView([cancel("run_c")], { runs: [runningRun("run_c")] })

  effect("hears the time of the turn, or that the turn did not take it", () =>
    Effect.gen(function* () {
      const world = worldOf({ outcomes: [{ view, rejects: [rejected] }], direct })
      expect(answerOf(yield* world.turn())).toMatchObject({ direct: true })
      expect(world.asked[0]?.direct).toEqual(direct)
      expect([world.heardBy(taken), world.heardBy(rejected)]).toEqual([at, null])
      expect(answerOf(yield* worldOf({ outcomes: [{ view }], direct: [taken] }).turn())).toMatchObject({ direct: true })
    })
  )

  effect("hears that it was not taken if the turn fails, and stores it: then each command is tried alone", () =>
    Effect.gen(function* () {
      const world = worldOf({ outcomes: [{ dies: new Error("a bug") }], direct: [taken] })
      expect(answerOf(yield* world.turn())).toMatchObject({ taken: 0, more: true, direct: false })
      expect([world.heardBy(taken), world.failures, world.asked.length]).toEqual([null, [], 1])
    })
  )

  effect("hears so too if its turn is interrupted before it begins", () =>
    Effect.gen(function* () {
      const fibers: Array<Fiber.Fiber<unknown>> = []
      const world = worldOf({ outcomes: [], direct, onTake: () => fibers[0]?.interruptUnsafe() })
      fibers.push(yield* Effect.forkChild(world.turn()))
      yield* Fiber.await(fibers[0] ?? (yield* Effect.die("no fiber")))
      expect([world.heardBy(taken), world.heardBy(rejected), world.asked]).toEqual([null, null, []])
    })
  )
})

describe("a turn that fails", () => {
  const harmless: ReadonlyArray<readonly [string, unknown]> = [
    ["the connection was lost", sqlError(null)],
    ["it met a deadlock", sqlError("40P01")],
    ["the database has no memory left", sqlError("53200")]
  ]
  for (const [why, dies] of harmless)
    effect(`blames no command if ${why}`, () =>
      Effect.gen(function* () {
        const world = worldOf({ outcomes: [{ dies }] })
        expect(Exit.isFailure(yield* world.turn())).toBe(true)
        expect([world.asked.length, world.failures]).toEqual([1, []])
        const alone = worldOf({ outcomes: [{ dies: new Error("a bug") }, { dies }] })
        expect(Exit.isFailure(yield* alone.turn())).toBe(true)
        expect([alone.asked.map(({ max }) => max), alone.failures]).toEqual([[500, 1], []])
      })
    )

  effect("blames no command if it was interrupted", () =>
    Effect.gen(function* () {
      const world = worldOf({ outcomes: ["interrupted"] })
      const exit = yield* world.turn()
      expect(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)).toBe(true)
      expect(world.asked).toHaveLength(1)
    })
  )

  const blaming: ReadonlyArray<readonly [string, unknown]> = [
    ["it is a bug", new Error("a bug")],
    ["the database can't read a text of it", sqlError("22P02")],
    ["it breaks a rule of the database", sqlError("23514")],
    ["a trigger of the database refuses it", sqlError("P0001")],
    ["the statement is wrong", sqlError("42601", SqlError.SqlSyntaxError)],
    ["the statement is wrong, and the database does not say how", sqlError(null, SqlError.SqlSyntaxError)]
  ]
  for (const [why, dies] of blaming)
    effect(`is tried again one command at a time if ${why}`, () =>
      Effect.gen(function* () {
        const world = worldOf({ outcomes: [{ dies }, { view: credits(1) }] })
        expect(answerOf(yield* world.turn(true))).toMatchObject({ taken: 1, more: true, at })
        expect(world.asked.slice(1)).toEqual([{ lane: 7, max: 1, direct: [], mayRecall: false }])
        expect(world.failures).toEqual([])
        expect(world.logs[0]).toStartWith("lane 7: a turn failed; retrying it one command at a time: ")
      })
    )

  effect("leaves the lane alone if its commands are gone meanwhile", () =>
    Effect.gen(function* () {
      const world = worldOf({ outcomes: [{ dies: new Error("a bug") }, "no command"] })
      expect(answerOf(yield* world.turn())).toMatchObject({ taken: 0, more: false })
    })
  )

  effect("goes on at once if another turn has committed first meanwhile", () =>
    Effect.gen(function* () {
      const world = worldOf({ outcomes: [{ dies: new Error("a bug") }, { conflict: { read: true } }] })
      expect(answerOf(yield* world.turn())).toMatchObject({ taken: 0, more: true })
      expect(world.failures).toEqual([])
    })
  )

  const fates = [
    ["kept", null, "will be retried", []],
    ["dead_lettered", "run_a", "is dead-lettered; see rungate audit", ["run_a"]]
  ] as const
  for (const [fate, ended, log, signals] of fates)
    effect(
      `because of a command that fails alone goes on with the lane; the command is ${fate.replace("_", "-")}`,
      () =>
        Effect.gen(function* () {
          const bug = { dies: new Error("a bug") }
          const world = worldOf({ outcomes: [bug, bug], fate, ended })
          expect(answerOf(yield* world.turn())).toMatchObject({ taken: 0, more: true, signals, direct: false })
          expect(world.failures).toEqual([[7, 5, expect.stringContaining("a bug")]])
          expect(world.logs[1]).toStartWith(`lane 7: Credit of org_a failed alone and ${log}: `)
        })
    )
})
