/**
 * What a turn guarantees when the world misbehaves: handed out twice, given a command that can't be applied, or committed
 * without anybody hearing of it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect, Exit, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { encodeCredit } from "../../src/actors/mailbox/Commands.ts"
import { DirectCommands } from "../../src/actors/mailbox/DirectCommands.ts"
import { RunSlots } from "../../src/actors/runs/RunSlots.ts"
import { decideTurn } from "../../src/actors/wallet/DecideTurn.ts"
import { WalletActor } from "../../src/actors/wallet/WalletActor.ts"
import { Storage } from "../../src/layers/Storage.ts"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { Audit } from "../../src/layers/audit/Audit.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { Leases } from "../../src/layers/runs/Leases.ts"
import { MailStore } from "../../src/layers/ledger/MailStore.ts"
import { RunStore } from "../../src/layers/runs/RunStore.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { TurnStore } from "../../src/layers/ledger/TurnStore.ts"
import { TurnMinutes } from "../../src/layers/ledger/WalletMemory.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { turnMinutesMax } from "../../src/schema/wallet/TurnTime.ts"
import { newRun, planOfOne } from "../kit/new-runs.ts"
import { preparedDatabase } from "../kit/postgres.ts"

let databaseUrl = ""
const build = (minutes = turnMinutesMax) => {
  const layer = WalletActor.layer.pipe(
    Layer.provideMerge(Layer.merge(RunSlots.layer, DirectCommands.layer)),
    Layer.provideMerge(Storage),
    Layer.provideMerge(Settings.layerFrom({ DATABASE_URL: databaseUrl })),
    Layer.provideMerge(Layer.succeed(TurnMinutes, minutes))
  )
  return ManagedRuntime.make(layer)
}
let runtime: ReturnType<typeof build>
beforeAll(async () => {
  databaseUrl = await preparedDatabase()
  runtime = build()
})
afterAll(() => runtime.dispose())

const topUp = Effect.fnUntraced(function* (org_id: string, reference: string, amount: string, note = "test") {
  const mail = yield* MailStore
  const payload = encodeCredit({ type: "bonus", amount: dollars(amount), reference, note })
  return yield* mail.enqueue({ command_id: reference, org_id, run_id: null, tag: "Credit", payload, result: null })
})

const admit = Effect.fnUntraced(function* (org_id: string, hold: string, max_total?: string) {
  const total = max_total === undefined ? {} : { total: { amount: max_total, holds: [hold], excluded: [] } }
  const run = newRun(org_id, { hold: dollars(hold), quoted: dollars(hold), plan: { ...planOfOne, ...total } })
  yield* (yield* RunStore).admit(run)
  return run.run_id
})

const audited = Effect.flatMap(Audit, (books) => books.run)

describe("a turn", () => {
  test("handed out four times at once is applied once, and the others change nothing", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const turns = yield* TurnStore
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* accounts.createOrganization("twice", null)
        const lane = yield* topUp(org_id, newId("cs"), "10.00")
        const one = turns.turn(lane, 100, [], false, (view) =>
          decideTurn(
            view,
            { workerId: "none", tryTake: () => false },
            { txn_id: () => newId("txn"), payment_id: () => newId("pay"), token: () => "token" }
          )
        )
        const exits = yield* Effect.all(
          [1, 2, 3, 4].map(() => Effect.exit(one)),
          { concurrency: "unbounded" }
        )
        // A turn that came after the winner finds an empty mailbox; one that met it is told so. Neither applied anything.
        const applied = exits.filter((exit) => Exit.isSuccess(exit) && exit.value !== null)
        expect(applied.length).toBe(1)
        const entries = yield* sql`SELECT amount, seq FROM ledger WHERE org_id = ${org_id}`
        expect(entries).toEqual([{ amount: 10_000_000n, seq: 1n }])
      })
    ))

  test("that was read too long ago writes nothing, and a later turn applies its commands", async () => {
    const late = build(0)
    try {
      const [org_id, lane] = await runtime.runPromise(
        Effect.gen(function* () {
          const org_id = yield* (yield* Accounts).createOrganization("late", null)
          return [org_id, yield* topUp(org_id, newId("cs"), "10.00")] as const
        })
      )
      const turn = Effect.gen(function* () {
        const { taken, more } = yield* (yield* WalletActor).turn(lane)
        const sql = yield* SqlClient.SqlClient
        return { taken, more, entries: yield* sql`SELECT amount FROM ledger WHERE org_id = ${org_id}` }
      })
      expect(await late.runPromise(turn)).toEqual({ taken: 0, more: true, entries: [] })
      expect(await runtime.runPromise(turn)).toEqual({ taken: 1, more: false, entries: [{ amount: 10_000_000n }] })
    } finally {
      await late.dispose()
    }
  })

  test("links its entries to the wallet's newest one, as the database computes the chain itself", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const wallet = yield* WalletActor
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* accounts.createOrganization("linked", null)
        // Ten entries in one turn, one in each of two more; notes and references that could be taken for a border, and half a character.
        const notes = ["", "-", "+", "|", "1|x", "ü🦊", "\n", '"', "\\", "\ud800"]
        yield* Effect.forEach(notes, (note) => topUp(org_id, newId("cs"), "0.000001", note))
        const lane = yield* topUp(org_id, `${newId("cs")}|3|ü`, "1.00")
        yield* wallet.turn(lane)
        yield* topUp(org_id, newId("cs"), "2.00")
        yield* wallet.turn(lane)
        yield* topUp(org_id, newId("cs"), "3.00")
        const before = yield* sql<{ now: Date }>`SELECT now()`
        yield* wallet.turn(lane)
        const chain = yield* sql<{ seq: bigint; good: boolean; created_at: Date }>`
          SELECT seq, hash = ledger_hash(lag(hash) OVER (ORDER BY seq), l) AS good, created_at
          FROM ledger l WHERE org_id = ${org_id} ORDER BY seq`
        expect(chain.map((one) => one.good)).toEqual(Array.from({ length: notes.length + 3 }, () => true))
        expect(chain.at(-1)?.created_at.getTime()).toBeGreaterThanOrEqual(before[0]?.now.getTime() ?? Infinity)
        const [head] = yield* sql`
          SELECT w.head = l.hash AS newest FROM wallets w JOIN ledger l ON l.org_id = w.org_id AND l.seq = w.entry_seq
          WHERE w.org_id = ${org_id}`
        expect(head).toEqual({ newest: true })
      })
    ))

  test("refuses a run that would hold more than its max_total, whatever planned it", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const wallet = yield* WalletActor
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* accounts.createOrganization("max_total", null)
        const lane = yield* topUp(org_id, newId("cs"), "5.00")
        const [over, within] = [yield* admit(org_id, "0.100001", "0.10"), yield* admit(org_id, "0.10", "0.10")]
        const { started, ended } = yield* wallet.turn(lane)
        expect(started.map(({ run_id }) => run_id)).toEqual([within])
        expect(ended).toMatchObject([{ run_id: over, status: "blocked", error_code: "cost_limit_exceeded" }])
        expect(ended[0]?.error_message).toContain("above its routing.max_total of $0.10")
        expect(yield* sql`SELECT run_id, amount FROM ledger WHERE org_id = ${org_id} AND type = 'reserve'`).toEqual([
          { run_id: within, amount: -100_000n }
        ])
      })
    ))

  test("writes what the providers of a run took, also when nobody was charged, and knows nothing of it in older mail", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const wallet = yield* WalletActor
        const mail = yield* MailStore
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* accounts.createOrganization("costs", null)
        const lane = yield* topUp(org_id, newId("cs"), "5.00")
        yield* wallet.turn(lane)
        const ended = Effect.fnUntraced(function* (report: { status: "succeeded" | "failed"; provider_cost?: string }) {
          const run_id = yield* admit(org_id, "0.10")
          const { started } = yield* wallet.turn(lane)
          const lease_token = started.find((run) => run.run_id === run_id)?.lease_token
          const plain = { charge: "0.02", billed: false, provider: "hunter", attempts: [], hints: [], error: null }
          const payload = JSON.stringify({ ...plain, ...report, lease_token })
          yield* mail.enqueue({ command_id: null, org_id, run_id, tag: "Settle", payload, result: null })
          yield* wallet.turn(lane)
          return (yield* sql`SELECT charged, provider_cost FROM runs WHERE org_id = ${org_id} AND run_id = ${run_id}`)[0]
        })
        expect(yield* ended({ status: "succeeded", provider_cost: "0.0125" })).toEqual({
          charged: 20_000n,
          provider_cost: 12_500n
        })
        expect(yield* ended({ status: "failed", provider_cost: "0.01" })).toEqual({
          charged: null,
          provider_cost: 10_000n
        })
        expect(yield* ended({ status: "succeeded" })).toEqual({ charged: 20_000n, provider_cost: null })
      })
    ))

  test("dead-letters a command that can't be applied, and goes on with the lane; the audit names it", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const wallet = yield* WalletActor
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* accounts.createOrganization("poisoned", null)
        const [row] = yield* sql<{ lane: number }>`SELECT lane FROM wallets WHERE org_id = ${org_id}`
        const lane = row?.lane ?? 0
        yield* sql`INSERT INTO mailbox (lane, org_id, tag, payload) VALUES (${lane}, ${org_id}, 'Credit', '{"nonsense": true}')`
        yield* topUp(org_id, newId("cs"), "5.00")
        for (let turn = 0, more = true; more && turn < 50; turn++) more = (yield* wallet.turn(lane)).more
        const [after] =
          yield* sql`SELECT balance, (SELECT count(*) FROM mailbox WHERE parked IS NOT NULL) AS parked FROM wallets WHERE org_id = ${org_id}`
        expect(after).toEqual({ balance: 5_000_000n, parked: 1n })
        const { violations } = yield* audited
        expect(violations.map((one) => one.subject)).toEqual([`Credit of ${org_id}`])
        yield* sql`DELETE FROM mailbox WHERE parked IS NOT NULL`
        expect((yield* audited).violations).toEqual([])
      })
    ))

  test("sets a command aside whose organization has no wallet, and never drops it", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const wallet = yield* WalletActor
        const sql = yield* SqlClient.SqlClient
        const payload = encodeCredit({ type: "bonus", amount: dollars("5.00"), reference: newId("cs"), note: "test" })
        yield* sql`INSERT INTO mailbox (lane, org_id, tag, payload) VALUES (0, 'org_nowhere', 'Credit', ${payload}::json)`
        for (let turn = 0, more = true; more && turn < 50; turn++) more = (yield* wallet.turn(0)).more
        const { violations } = yield* audited
        expect(violations.map((one) => one.subject)).toEqual(["Credit of org_nowhere"])
        yield* sql`DELETE FROM mailbox WHERE parked IS NOT NULL`
        expect((yield* audited).violations).toEqual([])
      })
    ))

  test("whose answer was lost leaves no run leased and forgotten: its worker takes it up again", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const wallet = yield* WalletActor
        const leases = yield* Leases
        const executions = yield* RunSlots
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* accounts.createOrganization("forgotten", null)
        const lane = yield* topUp(org_id, newId("cs"), "5.00")
        yield* wallet.turn(lane)
        const run_id = yield* admit(org_id, "0.10")
        // The turn leases the run to this process; the test plays the process that never hears of it.
        const { started } = yield* wallet.turn(lane)
        expect(started.map((run) => run.run_id)).toEqual([run_id])
        const me = executions.workerId()
        expect(yield* leases.takeOver(me, [], 10)).toEqual([])
        yield* sql`UPDATE open_runs SET since = now() - interval '6 seconds' WHERE run_id = ${run_id}`
        expect(yield* leases.takeOver(me, [run_id], 10)).toEqual([])
        const [taken] = yield* leases.takeOver(me, [], 10)
        expect(taken?.run_id).toBe(run_id)
        expect(taken?.lease_token).not.toBe(started[0]?.lease_token)
        // The late execution finds that its lease is gone before it calls anybody.
        expect(yield* leases.attempt(run_id, started[0]?.lease_token ?? "", "[]")).toBe(false)
        yield* leases.requeue({ run_id, lease_token: taken?.lease_token ?? "" }, "[]", null)
        const [waiting] = yield* leases.waiting("", 10)
        expect(waiting).toMatchObject({ org_id, provider: "hunter", free: false })
        const claimed = yield* leases.claim(me, waiting === undefined ? [] : [{ ...waiting, runs: 10 }])
        expect(claimed.map((run) => run.run_id)).toEqual([run_id])
        expect((yield* audited).violations).toEqual([])
      })
    ))
})
