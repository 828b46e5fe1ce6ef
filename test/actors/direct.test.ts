/**
 * Direct commands: a turn takes runs and settlements from the memory of its process. What it can't take is not applied at all, so that
 * its sender can store it in the mailbox.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect, Fiber, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import { encodeCredit } from "../../src/actors/mailbox/Commands.ts"
import { DirectCommands } from "../../src/actors/mailbox/DirectCommands.ts"
import { RunSlots } from "../../src/actors/runs/RunSlots.ts"
import { WalletActor } from "../../src/actors/wallet/WalletActor.ts"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { Audit } from "../../src/layers/audit/Audit.ts"
import type { DirectCommand } from "../../src/layers/ledger/DirectCommands.ts"
import { WalletLimits } from "../../src/layers/ledger/WalletLimits.ts"
import { RecallMillis } from "../../src/layers/ledger/WalletMemory.ts"
import { MailStore } from "../../src/layers/ledger/MailStore.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import type { LeasedRun } from "../../src/layers/runs/Leases.ts"
import { RunStore } from "../../src/layers/runs/RunStore.ts"
import type { NewRun } from "../../src/layers/runs/NewRuns.ts"
import { Storage } from "../../src/layers/Storage.ts"
import { freeLimitOf } from "../../src/schema/wallet/FreeStorage.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { until } from "../kit/app.ts"
import { newRun as freeRun, planOfOne as plan } from "../kit/new-runs.ts"
import { preparedDatabase } from "../kit/postgres.ts"

let databaseUrl = ""
const build = () => {
  return ManagedRuntime.make(
    WalletActor.layer.pipe(
      Layer.provideMerge(Layer.merge(RunSlots.layer, DirectCommands.layer)),
      Layer.provideMerge(Storage),
      Layer.provideMerge(Settings.layerFrom({ DATABASE_URL: databaseUrl, RUNGATE_ORG_QUEUE: "200" })),
      // A slow test remembers for as long as it takes.
      Layer.provideMerge(Layer.succeed(RecallMillis, 60_000))
    )
  )
}
let runtime: ReturnType<typeof build>
/** Another process on the same database. */
let other: ReturnType<typeof build>
beforeAll(async () => {
  databaseUrl = await preparedDatabase()
  runtime = build()
  other = build()
})
afterAll(async () => {
  const { violations } = await other.runPromise(Effect.flatMap(Audit, (books) => books.run))
  expect(violations).toEqual([])
  await Promise.all([runtime.dispose(), other.dispose()])
})

const newRun = (org_id: string, changed: Partial<NewRun> = {}) =>
  freeRun(org_id, { hold: dollars("0.10"), quoted: dollars("0.10"), ...changed })
const reserve = (run: NewRun): DirectCommand => ({ _tag: "Reserve", run })
const settle = (run: LeasedRun, charge: string, result: string): DirectCommand => ({
  _tag: "Settle",
  run: { ...run, hold: dollars("0.10"), status: "running", method: null, reuses: false, buys: false, plan: () => plan },
  report: {
    ...{ lease_token: run.lease_token, status: "succeeded", charge: dollars(charge), billed: true },
    ...{ provider: "hunter", attempts: [], hints: [], error: null }
  },
  result
})

/** A funded organization, and a turn of its lane that takes these commands. Answers when each was committed; null: not applied. */
const organization = Effect.fnUntraced(function* (amount: string, mayRecall = false) {
  const accounts = yield* Accounts
  const mail = yield* MailStore
  const wallet = yield* WalletActor
  const direct = yield* DirectCommands
  const org_id = yield* accounts.createOrganization("direct", null)
  const reference = newId("cs")
  const payload = encodeCredit({ type: "bonus", amount: dollars(amount), reference, note: "test" })
  const lane = yield* mail.enqueue({
    command_id: reference,
    org_id,
    run_id: null,
    tag: "Credit",
    payload,
    result: null
  })
  yield* wallet.turn(lane)
  direct.learn(org_id, lane)
  const turn = Effect.fnUntraced(function* (...commands: ReadonlyArray<DirectCommand>) {
    direct.open(lane, () => {})
    const fibers = yield* Effect.forEach(commands, (one) =>
      Effect.forkDetach(direct.apply(one), { startImmediately: true })
    )
    const answer = yield* wallet.turn(lane, mayRecall)
    const applied = yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
    direct.pause(lane, false)
    return { ...answer, applied: applied.map((date) => date !== null) }
  })
  return { org_id, lane, turn }
})

const runRow = Effect.fnUntraced(function* ({ org_id, run_id }: NewRun) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`
    SELECT r.status, o.state, r.charged, r.result::text AS result, r.error_code FROM runs r LEFT JOIN open_runs o USING (run_id)
    WHERE r.org_id = ${org_id} AND r.run_id = ${run_id}`
  return row ?? null
})
const mailboxOf = (org_id: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT id FROM mailbox WHERE org_id = ${org_id}`)
const walletOf = (org_id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`SELECT balance, reserved, open_runs FROM wallets WHERE org_id = ${org_id}`
  )

/** A turn that has just read and written the wallet is remembered, so the next one need not read. */
describe.each([
  ["that reads the mailbox", false],
  ["that may recall its wallets", true]
])("a turn with direct commands %s", (_name, mayRecall) => {
  test("admits and settles runs in one commit each, without the mailbox, and the books are right", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, turn } = yield* organization("5.00", mayRecall)
        const runs = [newRun(org_id), newRun(org_id), newRun(org_id)]
        const { applied, started } = yield* turn(...runs.map(reserve))
        expect(applied).toEqual([true, true, true])
        expect(started.map((run) => run.run_id).sort()).toEqual(runs.map((run) => run.run_id).sort())
        expect(yield* walletOf(org_id)).toEqual([{ balance: 5_000_000n, reserved: 300_000n, open_runs: 3n }])
        const more = newRun(org_id)
        const settled = yield* turn(...started.map((run) => settle(run, "0.02", '{"a": 1.0}')), reserve(more))
        expect(settled.applied).toEqual([true, true, true, true])
        expect(settled.ended.length).toBe(3)
        expect(yield* runRow(runs[0] ?? more)).toEqual({
          ...{ status: "succeeded", state: null, charged: 20_000n, error_code: null },
          // The provider's text, byte for byte.
          result: '{"a": 1.0}'
        })
        expect(yield* runRow(more)).toMatchObject({ status: "created", state: "running" })
        expect(yield* walletOf(org_id)).toEqual([{ balance: 4_940_000n, reserved: 100_000n, open_runs: 1n }])
        expect(yield* mailboxOf(org_id)).toEqual([])
        const audit = yield* Effect.flatMap(Audit, (books) => books.run)
        expect(audit.violations).toEqual([])
      })
    ))

  test("stores a refused run with its end", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, turn } = yield* organization("0.15", mayRecall)
        const [first, second] = [newRun(org_id), newRun(org_id)]
        const { applied, ended } = yield* turn(reserve(first), reserve(second))
        expect(applied).toEqual([true, true])
        expect(ended.map((run) => [run.run_id, run.error_code])).toEqual([[second.run_id, "insufficient_balance"]])
        expect(yield* runRow(second)).toMatchObject({
          status: "failed",
          state: null,
          error_code: "insufficient_balance"
        })
        expect(yield* walletOf(org_id)).toEqual([{ balance: 150_000n, reserved: 100_000n, open_runs: 1n }])
      })
    ))

  test("stores a refused run with its end, also when it came alone", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, turn } = yield* organization("0.05", mayRecall)
        const only = newRun(org_id)
        const { applied, ended } = yield* turn(reserve(only))
        expect([applied, ended.map((run) => run.run_id)]).toEqual([[true], [only.run_id]])
        expect(yield* runRow(only)).toMatchObject({ status: "failed", error_code: "insufficient_balance" })
      })
    ))

  test("admits nothing with an API key that was revoked, and others beside it", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, turn } = yield* organization("5.00", mayRecall)
        const accounts = yield* Accounts
        const { id: key_id } = yield* accounts.createKey(org_id, "a key", "test")
        const good = newRun(org_id, { key_id, key_version: 0n })
        expect((yield* turn(reserve(good))).applied).toEqual([true])
        yield* accounts.revokeKey(org_id, key_id)
        const [revoked, other] = [newRun(org_id, { key_id, key_version: 0n }), newRun(org_id)]
        expect((yield* turn(reserve(revoked), reserve(other))).applied).toEqual([false, true])
        expect([yield* runRow(revoked), (yield* runRow(other))?.["state"]]).toEqual([null, "running"])
        // The mailbox's way says why.
        expect(yield* (yield* RunStore).admit(revoked)).toEqual({ _tag: "Revoked" })
      })
    ))

  test.each([
    ["revoked", "revoked_at = now()"],
    ["changed", `allow = '{"raw": true}'`]
  ])("is undone when a key that it has read as live is %s before its commit", (_how, change) =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, turn } = yield* organization("5.00", mayRecall)
        const { id: key_id } = yield* (yield* Accounts).createKey(org_id, "a key", "test")
        const revoker = new Client({ connectionString: databaseUrl })
        const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        yield* Effect.promise(async () => {
          await revoker.connect()
          await revoker.query("BEGIN")
          await revoker.query(`UPDATE api_keys SET ${change} WHERE key_id = $1`, [key_id])
        })
        const run = newRun(org_id, { key_id, key_version: 0n })
        const turning = yield* Effect.forkDetach(turn(reserve(run)), { startImmediately: true })
        yield* Effect.promise(async () => {
          await until(
            "the turn waits for the key",
            () => revoker.query(waiting),
            ({ rowCount }) => rowCount === 1
          )
          await revoker.query("COMMIT")
          await revoker.end()
        })
        expect((yield* Fiber.join(turning)).applied).toEqual([false])
        expect(yield* runRow(run)).toBeNull()
        expect(yield* walletOf(org_id)).toEqual([{ balance: 5_000_000n, reserved: 0n, open_runs: 0n }])
      })
    )
  )

  test("leaves a run with a used Idempotency-Key to the mailbox, which returns the first one", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, turn } = yield* organization("5.00", mayRecall)
        const [first, twin, later] = [1, 2, 3].map(() => newRun(org_id, { idempotency_key: "one", fingerprint: "f" }))
        if (first === undefined || twin === undefined || later === undefined) throw new Error()
        expect((yield* turn(reserve(first), reserve(twin))).applied).toEqual([true, false])
        expect((yield* turn(reserve(later))).applied).toEqual([false])
        const store = yield* RunStore
        expect(yield* store.admit(later)).toMatchObject({ _tag: "Existing", run_id: first.run_id })
        // The answer of the first one's turn was lost: it is still itself, and no replay.
        expect(yield* store.admit(first)).toMatchObject({ _tag: "Admitted" })
        expect(yield* walletOf(org_id)).toEqual([{ balance: 5_000_000n, reserved: 100_000n, open_runs: 1n }])
      })
    ))

  test("leaves runs to the mailbox when a quarter of the organization's open runs is used", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, turn } = yield* organization("5.00", mayRecall)
        const runs = Array.from({ length: 53 }, () => newRun(org_id, { hold: dollars("0.01") }))
        const { applied } = yield* turn(...runs.map(reserve))
        expect([applied.indexOf(false), applied.filter((one) => !one).length]).toEqual([50, 3])
      })
    ))

  test("counts open runs once, however many stored commands it takes too", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, turn } = yield* organization("5.00", mayRecall)
        yield* turn(...Array.from({ length: 20 }, () => reserve(newRun(org_id, { hold: dollars("0.01") }))))
        const mail = yield* MailStore
        for (const _ of [1, 2, 3]) {
          const reference = newId("cs")
          const payload = encodeCredit({ type: "bonus", amount: dollars("1.00"), reference, note: "test" })
          yield* mail.enqueue({ command_id: reference, org_id, run_id: null, tag: "Credit", payload, result: null })
        }
        const { applied } = yield* turn(reserve(newRun(org_id, { hold: dollars("0.01") })))
        expect(applied).toEqual([true])
      })
    ))

  test("gives what it settles to the runs that wait for its result", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, lane, turn } = yield* organization("5.00", mayRecall)
        const wallet = yield* WalletActor
        const reuse = { mode: "prefer", max_age_seconds: 3600 } as const
        const asking = () => newRun(org_id, { input_hash: "shared", plan: { ...plan, reuse } })
        const [buys, waits] = [asking(), asking()]
        yield* (yield* RunStore).admit(buys)
        yield* (yield* RunStore).admit(waits)
        const { started } = yield* wallet.turn(lane)
        expect(started.map(({ run_id }) => run_id)).toEqual([buys.run_id])
        const [leased = expect.unreachable("nothing was started")] = started
        const command = settle(leased, "0.05", '{"email":"ada@example.com"}')
        yield* turn({ ...command, run: { ...command.run, reuses: true, buys: true } } as DirectCommand)
        const result = '{"email":"ada@example.com"}'
        expect(yield* runRow(buys)).toMatchObject({ status: "succeeded", charged: 50_000n, result })
        expect(yield* runRow(waits)).toMatchObject({ status: "succeeded", charged: 0n, result })
      })
    ))

  test("settles nothing under a lease that was lost, and nothing twice", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, turn } = yield* organization("5.00", mayRecall)
        const run = newRun(org_id)
        const { started } = yield* turn(reserve(run))
        const [leased] = started
        if (leased === undefined) throw new Error("the run did not start")
        const stolen = settle({ ...leased, lease_token: "another" }, "0.10", "{}")
        expect((yield* turn(stolen)).applied).toEqual([false])
        expect(yield* runRow(run)).toMatchObject({ status: "created", state: "running" })
        expect((yield* turn(settle(leased, "0.02", "{}"))).applied).toEqual([true])
        expect((yield* turn(settle(leased, "0.02", "{}"))).applied).toEqual([false])
        expect(yield* walletOf(org_id)).toEqual([{ balance: 4_980_000n, reserved: 0n, open_runs: 0n }])
      })
    ))

  test("one command that Postgres refuses sends the others to the mailbox, where they succeed", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, turn } = yield* organization("5.00", mayRecall)
        const bad = newRun(org_id, { kind: "endpoint" })
        const good = newRun(org_id)
        expect((yield* turn(reserve(bad), reserve(good))).applied).toEqual([false, false])
        const store = yield* RunStore
        expect(yield* store.admit(good)).toMatchObject({ _tag: "Admitted" })
      })
    ))
})

describe("a turn that recalls its wallets", () => {
  const remembered = Effect.fnUntraced(function* () {
    const made = yield* organization("5.00", true)
    yield* made.turn(reserve(newRun(made.org_id)))
    return made
  })
  const credit = (org_id: string, amount: string) => {
    const reference = newId("cs")
    const payload = encodeCredit({ type: "bonus", amount: dollars(amount), reference, note: "test" })
    return Effect.flatMap(MailStore, (mail) =>
      mail.enqueue({ command_id: reference, org_id, run_id: null, tag: "Credit", payload, result: null })
    )
  }

  test("leaves the mailbox to the next turn that reads", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, lane, turn } = yield* remembered()
        yield* credit(org_id, "1.00")
        const { applied, taken } = yield* turn(reserve(newRun(org_id)))
        expect([applied, taken]).toEqual([[true], 0])
        expect((yield* (yield* WalletActor).turn(lane)).taken).toBe(1)
        expect(yield* walletOf(org_id)).toEqual([{ balance: 6_000_000n, reserved: 200_000n, open_runs: 2n }])
      })
    ))

  test("never believes what it remembers of a wallet that another process has changed", async () => {
    const { org_id, lane, turn } = await runtime.runPromise(remembered())
    await other.runPromise(
      Effect.gen(function* () {
        yield* (yield* RunStore).admit(newRun(org_id, { hold: dollars("4.85") }))
        yield* (yield* WalletActor).turn(lane)
      })
    )
    const [first, second] = [newRun(org_id, { hold: dollars("0.04") }), newRun(org_id, { hold: dollars("0.04") })]
    const { applied, ended } = await runtime.runPromise(turn(reserve(first), reserve(second)))
    expect(applied).toEqual([true, true])
    expect(ended.map((run) => [run.run_id, run.error_code])).toEqual([[second.run_id, "insufficient_balance"]])
    expect(await runtime.runPromise(walletOf(org_id))).toEqual([
      { balance: 5_000_000n, reserved: 4_990_000n, open_runs: 3n }
    ])
  })

  test("never undoes what another process has set, also by a run that moves no money", async () => {
    const { org_id, turn } = await runtime.runPromise(remembered())
    await other.runPromise(
      Effect.flatMap(WalletLimits, (limits) => limits.change(org_id, { per_run_limit: dollars("0.01") }))
    )
    const [free, dear] = [newRun(org_id, { hold: dollars("0") }), newRun(org_id, { hold: dollars("0.02") })]
    const { applied } = await runtime.runPromise(turn(reserve(free)))
    expect(applied).toEqual([true])
    const { ended } = await runtime.runPromise(turn(reserve(dear)))
    expect(ended.map((run) => [run.run_id, run.error_code])).toEqual([[dear.run_id, "cost_limit_exceeded"]])
  })

  test("refuses no run before it has read how much is stored at no charge", async () => {
    const { org_id, turn } = await runtime.runPromise(remembered())
    await other.runPromise(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`INSERT INTO free_storage VALUES (${org_id}, (now() AT TIME ZONE 'UTC')::date, ${1n << 40n})`
      )
    )
    const dear = newRun(org_id, { hold: dollars("9.00") })
    expect((await runtime.runPromise(turn(reserve(dear)))).applied).toEqual([false])
    expect(await runtime.runPromise(runRow(dear))).toBeNull()
  })

  test("knows what it has stored at no charge since it has read that", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { org_id, turn } = yield* organization("5.00", true)
        const sql = yield* SqlClient.SqlClient
        const almost = 3n * freeLimitOf(2_048) - 5n
        yield* sql`INSERT INTO free_storage VALUES (${org_id}, (now() AT TIME ZONE 'UTC')::date, ${almost})`
        // It is refused, so the next turn reads.
        yield* turn(reserve(newRun(org_id, { hold: dollars("9.00") })))
        const { started } = yield* turn(reserve(newRun(org_id)))
        const next = yield* turn(
          ...started.map((one) => {
            const ending = settle(one, "0", "null")
            return ending._tag === "Settle" ? { ...ending, report: { ...ending.report, stored_bytes: 5 } } : ending
          }),
          reserve(newRun(org_id))
        )
        expect(next.applied).toEqual([true, true])
        expect((yield* turn(reserve(newRun(org_id)))).applied).toEqual([false])
      })
    ))

  test("finds a run that another process has admitted with the same Idempotency-Key, and admits those beside it", async () => {
    const { org_id, turn } = await runtime.runPromise(remembered())
    const [first, twin, beside] = [1, 2, 3].map((n) => newRun(org_id, { idempotency_key: n === 3 ? null : "both" }))
    if (first === undefined || twin === undefined || beside === undefined) throw new Error()
    await other.runPromise(Effect.flatMap(RunStore, (store) => store.admit(first)))
    const { applied } = await runtime.runPromise(turn(reserve(twin), reserve(beside)))
    expect(applied).toEqual([false, true])
    expect(await runtime.runPromise(runRow(twin))).toBeNull()
  })

  test("rejects runs beyond a quarter of the open runs, also when other processes have opened them", async () => {
    const { org_id, turn } = await runtime.runPromise(remembered())
    await other.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE wallets SET open_runs = 50 WHERE org_id = ${org_id}`)
    )
    expect((await runtime.runPromise(turn(reserve(newRun(org_id))))).applied).toEqual([false])
    await other.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE wallets SET open_runs = 1 WHERE org_id = ${org_id}`)
    )
  })
})

describe("direct commands", () => {
  test("are refused while this process does not take the lane's turns, and when it stops", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const direct = yield* DirectCommands
        const { org_id, lane } = yield* organization("5.00")
        expect(yield* direct.apply(reserve(newRun(org_id)))).toBeNull()
        direct.open(lane, () => {})
        const waits = yield* Effect.forkDetach(direct.apply(reserve(newRun(org_id))), { startImmediately: true })
        expect(direct.waiting(lane)).toBe(true)
        direct.pause(lane, false)
        expect(yield* Fiber.join(waits)).toBeNull()
        // Another process got the lane: what waits for its return gives up soon.
        direct.pause(lane, true)
        expect(yield* direct.apply(reserve(newRun(org_id)))).toBeNull()
      })
    ))
})
