/** What holds while wallets move to other lanes: a wallet is decided once, with all of its commands, whoever still thinks of the old lane. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect, Exit, Fiber, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import { encodeCredit } from "../../src/actors/mailbox/Commands.ts"
import { DirectCommands } from "../../src/actors/mailbox/DirectCommands.ts"
import { RunSlots } from "../../src/actors/runs/RunSlots.ts"
import { WalletActor } from "../../src/actors/wallet/WalletActor.ts"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { walletLane, WalletLanes } from "../../src/layers/accounts/WalletLanes.ts"
import { Audit } from "../../src/layers/audit/Audit.ts"
import type { DirectCommand } from "../../src/layers/ledger/DirectCommands.ts"
import { MailStore } from "../../src/layers/ledger/MailStore.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { claimLanes } from "../../src/layers/postgres/DatabaseLanes.ts"
import { Storage } from "../../src/layers/Storage.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { until } from "../kit/app.ts"
import { preparedDatabase } from "../kit/postgres.ts"

const layerOf = (databaseUrl: string, lanes: number) =>
  WalletActor.layer.pipe(
    Layer.provideMerge(Layer.merge(RunSlots.layer, DirectCommands.layer)),
    Layer.provideMerge(Storage),
    Layer.provideMerge(Settings.layerFrom({ DATABASE_URL: databaseUrl, RUNGATE_LANES: `${lanes}` }))
  )
const build = async (lanes: number) => {
  databaseUrl = await preparedDatabase()
  const runtime = ManagedRuntime.make(layerOf(databaseUrl, 2))
  await runtime.runPromise(Effect.andThen(claimLanes("here"), setUp))
  const grown = ManagedRuntime.make(layerOf(databaseUrl, lanes))
  return { runtime, grown }
}

type Services = DirectCommands | WalletActor
let databaseUrl = ""
let runtime: Awaited<ReturnType<typeof build>>["runtime"]
let grown: Awaited<ReturnType<typeof build>>["grown"]
let orgs: ReadonlyArray<string> = []

const credit = Effect.fnUntraced(function* (org_id: string, reference: string) {
  const mail = yield* MailStore
  const payload = encodeCredit({ type: "bonus", amount: dollars("1.00"), reference, note: "test" })
  return yield* mail.enqueue({ command_id: reference, org_id, run_id: null, tag: "Credit", payload, result: null })
})

/** More wallets than one page, of which most have a command. */
const setUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const accounts = yield* Accounts
  orgs = yield* Effect.forEach(Array.from({ length: 40 }), () => accounts.createOrganization("lanes", null))
  yield* sql`INSERT INTO orgs (org_id, name) SELECT 'org_' || lpad(n::text, 26, '0'), 'empty' FROM generate_series(1, 700) n`
  yield* sql`INSERT INTO wallets (org_id, lane) SELECT org_id, 0 FROM orgs WHERE name = 'empty'`
})
beforeAll(async () => {
  const built = await build(5)
  runtime = built.runtime
  grown = built.grown
})
afterAll(async () => {
  await grown.dispose()
  await runtime.dispose()
})

const reserve = (org_id: string): DirectCommand => ({
  _tag: "Reserve",
  run: {
    ...{ run_id: newId("run"), org_id, key_id: null, request_id: "req_test", idempotency_key: null, fingerprint: "" },
    ...{ kind: "capability", capability: "email.find", endpoint: null, provider: "hunter", input: "{}" },
    ...{ key_version: null, budget_id: null, input_hash: "hash" },
    ...{ hold: dollars("0.10"), quoted: dollars("0.10"), routing_reason: "test", metadata: null },
    plan: {
      ...{ providers: ["hunter"], attempts_max: 3, routing: "auto", include_raw: false, side_effect: false },
      excluded: []
    }
  }
})

/** A turn of the lane with one direct command. Null: it was not applied. */
const directTurn = Effect.fnUntraced(function* (org_id: string, lane: number) {
  const direct = yield* DirectCommands
  const wallet = yield* WalletActor
  direct.learn(org_id, lane)
  direct.open(lane, () => {})
  const fiber = yield* Effect.forkDetach(direct.apply(reserve(org_id)), { startImmediately: true })
  const { taken } = yield* wallet.turn(lane)
  direct.pause(lane, false)
  return { taken, at: yield* Fiber.join(fiber) }
})

const lanesOf = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    org_id: string
    lane: number
  }>`SELECT org_id, lane::int AS lane FROM wallets ORDER BY org_id`
  return new Map(rows.map(({ org_id, lane }) => [org_id, lane]))
})
const moveAll = Effect.gen(function* () {
  const lanes = yield* WalletLanes
  while ((yield* lanes.state).unfinished) yield* lanes.movePage
})

describe("when the number of lanes grows", () => {
  test("all wallets move once to where the mapping says, with their commands, from several processes at once", async () => {
    const reference = new Map(orgs.map((org_id) => [org_id, newId("cs")]))
    await runtime.runPromise(Effect.forEach(reference, ([org_id, id]) => credit(org_id, id), { discard: true }))
    await grown.runPromise(claimLanes("here"))
    await Promise.all([runtime.runPromise(moveAll), grown.runPromise(moveAll), grown.runPromise(moveAll)])
    const lanes = await runtime.runPromise(lanesOf)
    expect(lanes.size).toBe(740)
    for (const [org_id, lane] of lanes) expect([org_id, lane]).toEqual([org_id, walletLane(org_id, 5)])
    // An old process finds nothing in the old lanes that belongs to the new ones, and the new lanes have every command.
    const taken = await runtime.runPromise(
      Effect.gen(function* () {
        const wallet = yield* WalletActor
        const counts: Array<number> = []
        for (let lane = 0; lane < 5; lane++) counts.push((yield* wallet.turn(lane)).taken)
        return counts
      })
    )
    const expected = Array.from({ length: 5 }, (_, lane) => orgs.filter((org_id) => lanes.get(org_id) === lane).length)
    expect(taken).toEqual(expected)
    const report = await runtime.runPromise(Effect.flatMap(Audit, (audit) => audit.run))
    expect(report.violations).toEqual([])
    const [sum] = await runtime.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT sum(balance)::bigint AS sum FROM wallets`)
    )
    expect(sum).toEqual({ sum: 40_000_000n })
  })

  test("a turn that has read a wallet before its move is undone, whether its command was stored or not", async () => {
    const mover = new Client({ connectionString: databaseUrl })
    await mover.connect()
    /** Moves the wallet while a turn is between its reading and its commit. */
    const during = async <A>(org_id: string, lanes: number, to: number, turn: Effect.Effect<A, never, Services>) => {
      await mover.query("BEGIN")
      await mover.query("UPDATE lane_count SET lanes = $1, spread_after = ''", [lanes])
      const move = "SELECT rungate_move_wallets(ARRAY[$1], ARRAY[$2::bigint], '', 'x', $3) AS moved"
      expect((await mover.query(move, [org_id, to, lanes])).rows).toEqual([{ moved: true }])
      const turning = runtime.runPromise(turn)
      await until(
        "the turn's write waits for the move",
        // A stored command waits for the mailbox, and a direct one for the wallet's row.
        () =>
          mover.query(
            "SELECT 1 FROM pg_locks WHERE NOT granted AND (relation = 'mailbox'::regclass OR locktype = 'transactionid')"
          ),
        ({ rows }) => rows.length > 0
      )
      await mover.query("COMMIT")
      return turning
    }
    const turnOf = (lane: number) => Effect.flatMap(WalletActor, (wallet) => wallet.turn(lane))
    const walletOf = async (org_id: string) => {
      const { rows } = await mover.query("SELECT balance, reserved, lane FROM wallets WHERE org_id = $1", [org_id])
      return rows[0]
    }

    const [one, other] = [orgs[0] ?? expect.unreachable(), orgs[1] ?? expect.unreachable()]
    const [from, to] = [walletLane(one, 5), (walletLane(one, 5) + 1) % 5]
    await runtime.runPromise(credit(one, newId("cs")))
    expect(await during(one, 6, to, turnOf(from))).toMatchObject({ taken: 0, more: true })
    expect((await runtime.runPromise(turnOf(from))).taken).toBe(0)
    expect((await runtime.runPromise(turnOf(to))).taken).toBe(1)
    expect(await walletOf(one)).toEqual({ balance: "2000000", reserved: "0", lane: to })

    const home = walletLane(other, 5)
    expect((await during(other, 7, (home + 1) % 5, directTurn(other, home))).at).toBeNull()
    expect(await walletOf(other)).toEqual({ balance: "1000000", reserved: "0", lane: (home + 1) % 5 })
    await mover.end()
  })

  test("a process that still thinks of the old lane gets nothing decided there", async () => {
    const org_id = orgs[2] ?? expect.unreachable()
    const home = walletLane(org_id, 5)
    expect((await runtime.runPromise(directTurn(org_id, (home + 1) % 5))).at).toBeNull()
    expect((await runtime.runPromise(directTurn(org_id, home))).at).toBeInstanceOf(Date)
  })
})

describe("the number of lanes", () => {
  test("never shrinks: neither a service nor a statement lowers or removes it", async () => {
    const refused = await runtime.runPromise(Effect.exit(claimLanes("127.0.0.1:5432/rungate")))
    expect(Exit.isFailure(refused) ? String(refused.cause) : "stored").toContain(
      "RUNGATE_LANES is 2, but the database at 127.0.0.1:5432/rungate has 7 lanes, and their number can't shrink. Set RUNGATE_LANES to 7 or more, or leave it unset."
    )
    const client = new Client({ connectionString: databaseUrl })
    await client.connect()
    for (const statement of [
      "UPDATE lane_count SET lanes = 2, spread = 2",
      "DELETE FROM lane_count",
      "TRUNCATE lane_count"
    ])
      expect(await client.query(statement).catch((error) => error.message)).toContain("never shrinks")
    await client.end()
  })
})
