/** What becomes of commands that fail, of replies that nobody fetches, and of workers that died. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { encodeCredit } from "../../../src/actors/mailbox/Commands.ts"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { MailStore } from "../../../src/layers/ledger/MailStore.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { Leases } from "../../../src/layers/runs/Leases.ts"
import { RunStore } from "../../../src/layers/runs/RunStore.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { newRun } from "../../kit/new-runs.ts"
import { startStorage, type StorageRuntime } from "../../kit/storage.ts"
import { takeTurn } from "../../kit/turns.ts"

let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage()
})
afterAll(() => runtime.dispose())

/** Each test has a lane of its own, because a failure is that of the lane's oldest command. */
let lanes = 10
const organization = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const org_id = yield* (yield* Accounts).createOrganization("mail", null)
  lanes += 1
  yield* sql`UPDATE wallets SET lane = ${lanes} WHERE org_id = ${org_id}`
  return { org_id, lane: lanes }
})
const admitted = Effect.fnUntraced(function* (org_id: string) {
  const run = newRun(org_id)
  yield* (yield* RunStore).admit(run)
  return run.run_id
})
const runOf = Effect.fnUntraced(function* (run_id: string) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT status, error_code, error_message, finished_at IS NOT NULL AS ended FROM runs WHERE run_id = ${run_id}`)[0]
})
const untouched = { status: "created", error_code: null, error_message: null, ended: false }

describe("a command that fails", () => {
  test("is kept until it failed too often, and then ends the run that it should have admitted", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const mail = yield* MailStore
        const sql = yield* SqlClient.SqlClient
        const elsewhere = yield* organization
        yield* admitted(elsewhere.org_id)
        yield* (yield* Leases).register("wrk_elsewhere", 600)
        yield* takeTurn(elsewhere.org_id, "wrk_elsewhere")
        const { org_id, lane } = yield* organization
        const [run_id, other] = [yield* admitted(org_id), yield* admitted(org_id)]
        yield* sql`INSERT INTO event_heads (org_id, ledger_seq, listened_at, began_at) VALUES (${org_id}, 0, now(), now())`
        yield* sql`DELETE FROM history_queue WHERE org_id = ${org_id}`
        const kept = {
          fate: "kept" as const,
          ended: null,
          command: expect.stringMatching(new RegExp(`^Reserve \\d+ of ${run_id}$`))
        }
        for (const _ of [1, 2]) {
          expect(yield* mail.recordFailure(lane, 3, "it broke")).toEqual(kept)
          expect(yield* runOf(run_id)).toMatchObject(untouched)
        }
        const before = yield* mail.deadLetters
        expect(yield* mail.recordFailure(lane, 3, "it broke\u0000")).toEqual({
          ...kept,
          fate: "dead_lettered",
          ended: run_id
        })
        expect(yield* mail.deadLetters).toBe(before + 1)
        expect(yield* runOf(run_id)).toEqual({
          status: "failed",
          error_code: "internal_error",
          error_message: expect.stringContaining("nothing was held or charged"),
          ended: true
        })
        // History and the event log hear of it.
        expect(yield* sql`SELECT run_ids FROM history_queue WHERE org_id = ${org_id}`).toEqual([{ run_ids: [run_id] }])
        expect(yield* sql`SELECT run_id FROM event_inbox WHERE org_id = ${org_id}`).toEqual([{ run_id }])
        expect(yield* sql`SELECT parked FROM mailbox WHERE run_id = ${run_id}`).toEqual([
          { parked: expect.stringContaining("it broke") }
        ])
        // The next failure is that of the next command.
        expect(yield* mail.recordFailure(lane, 1, "it broke")).toMatchObject({ fate: "dead_lettered", ended: other })
        expect(yield* mail.recordFailure(lane, 1, "it broke")).toEqual({ fate: "kept", command: "none", ended: null })
      })
    ))

  test("ends no run that was admitted, and none that another command than its reservation names", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const mail = yield* MailStore
        const sql = yield* SqlClient.SqlClient
        const { org_id, lane } = yield* organization
        const worker = newId("wrk")
        yield* (yield* Leases).register(worker, 600)
        const running = yield* admitted(org_id)
        yield* takeTurn(org_id, worker)
        // The reservation of a run that holds money already, and a cancellation.
        yield* sql`INSERT INTO mailbox (lane, org_id, run_id, tag) VALUES (${lane}, ${org_id}, ${running}, 'Reserve')`
        expect(yield* mail.recordFailure(lane, 1, "late")).toMatchObject({ fate: "dead_lettered", ended: null })
        const created = yield* admitted(org_id)
        yield* sql`UPDATE mailbox SET tag = 'Cancel' WHERE run_id = ${created}`
        expect(yield* mail.recordFailure(lane, 1, "late")).toMatchObject({ fate: "dead_lettered", ended: null })
        expect(yield* runOf(created)).toMatchObject(untouched)
        expect(yield* sql`SELECT state FROM open_runs WHERE run_id = ${running}`).toEqual([{ state: "running" }])
        expect(yield* sql`SELECT FROM runs WHERE run_id = ${running} AND finished_at IS NOT NULL`).toEqual([])
      })
    ))

  test("does not touch other lanes, and no run of another organization", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const mail = yield* MailStore
        const sql = yield* SqlClient.SqlClient
        const [one, two] = [yield* organization, yield* organization]
        const theirs = yield* admitted(two.org_id)
        yield* sql`INSERT INTO mailbox (lane, org_id, run_id, tag) VALUES (${one.lane}, ${one.org_id}, ${theirs}, 'Reserve')`
        expect(yield* mail.recordFailure(one.lane, 1, "it broke")).toMatchObject({ fate: "dead_lettered", ended: null })
        expect(yield* runOf(theirs)).toMatchObject(untouched)
        expect(yield* sql`SELECT attempts, parked FROM mailbox WHERE lane = ${two.lane}`).toEqual([
          { attempts: 0, parked: null }
        ])
      })
    ))

  test("counts as backlog while it waits for more than a second, and not after it was set aside", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const mail = yield* MailStore
        const sql = yield* SqlClient.SqlClient
        const { org_id, lane } = yield* organization
        yield* admitted(org_id)
        const mine = Effect.map(mail.backlog, (all) => all.filter((one) => one.lane === lane))
        yield* sql`UPDATE mailbox SET created_at = now() + interval '1 minute' WHERE lane = ${lane}`
        expect(yield* mine).toEqual([])
        yield* sql`UPDATE mailbox SET created_at = now() - interval '5 seconds' WHERE lane = ${lane}`
        yield* admitted(org_id)
        const [waiting] = yield* mine
        expect(waiting?.age_seconds).toBeGreaterThanOrEqual(5)
        yield* sql`UPDATE mailbox SET parked = 'broken' WHERE lane = ${lane}`
        expect(yield* mine).toEqual([])
      })
    ))
})

describe("a reply", () => {
  test("can be read for an hour", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const mail = yield* MailStore
        const sql = yield* SqlClient.SqlClient
        const { org_id } = yield* organization
        const command_id = newId("cmd")
        const payload = encodeCredit({ type: "bonus", amount: dollars("1.00"), reference: command_id, note: "" })
        yield* mail.enqueue({ command_id, org_id, run_id: null, tag: "Credit", payload, result: null })
        expect(yield* mail.reply(command_id)).toBeNull()
        yield* takeTurn(org_id)
        const reply = { verdict: "Credited", transaction_id: expect.stringMatching(/^txn_/) }
        expect(yield* mail.reply(command_id)).toEqual(reply)
        expect(yield* mail.reply(newId("cmd"))).toBeNull()
        yield* sql`UPDATE replies SET created_at = now() - interval '59 minutes' WHERE command_id = ${command_id}`
        yield* mail.forget
        expect(yield* mail.reply(command_id)).toEqual(reply)
        yield* sql`UPDATE replies SET created_at = now() - interval '61 minutes' WHERE command_id = ${command_id}`
        yield* mail.forget
        expect(yield* mail.reply(command_id)).toBeNull()
      })
    ))
})

test("a worker that died an hour ago is forgotten when it holds no run", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const mail = yield* MailStore
      const sql = yield* SqlClient.SqlClient
      const { org_id } = yield* organization
      const leases = yield* Leases
      const [idle, busy, late, live] = [newId("wrk"), newId("wrk"), newId("wrk"), newId("wrk")]
      for (const worker of [idle, busy, late, live]) yield* leases.register(worker, 600)
      yield* admitted(org_id)
      yield* takeTurn(org_id, busy)
      yield* sql`UPDATE workers SET expires_at = now() - interval '61 minutes' WHERE worker_id IN (${idle}, ${busy})`
      yield* sql`UPDATE workers SET expires_at = now() - interval '59 minutes' WHERE worker_id = ${late}`
      yield* mail.forget
      const left = yield* sql<{
        worker_id: string
      }>`SELECT worker_id FROM workers WHERE worker_id IN (${idle}, ${busy}, ${late}, ${live})`
      expect(left.map(({ worker_id }) => worker_id).sort()).toEqual([busy, late, live].sort())
    })
  ))

test("a command of an organization without a wallet is not stored", async () => {
  const sent = runtime.runPromise(
    Effect.flatMap(MailStore, (mail) =>
      mail.enqueue({ command_id: null, org_id: "org_nobody", run_id: null, tag: "Cancel", payload: "{}", result: null })
    )
  )
  await expect(sent).rejects.toThrow("org_nobody has no wallet")
})
