/**
 * An organization moves to another cell under load, and its mover is killed at every step: no run is lost or made twice, the books of both cells
 * add up, and at no time do both cells take its runs.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { callUrl, type App, startApp, type Tenant } from "../kit/app.ts"
import { runMain } from "./processes.ts"

const pauseMillis = 50
const verify = (n: number) => ({ capability: "email.verify", input: { email: `person.${n}@acme.com` } })

describe("a move between two cells", () => {
  let here: App
  let there: App
  beforeAll(async () => {
    ;[here, there] = await Promise.all([startApp(), startApp()])
  })
  afterAll(() => Promise.all([here.stop(), there.stop()]))

  /** `rungate admin cells move`, killed at a crash point if one is given. */
  const mover = (org_id: string, crash?: string, database = there.databaseUrl) =>
    runMain(["admin", "cells", "move", org_id, "--to", "two", "--database", database, "--yes"], {
      DATABASE_URL: here.databaseUrl,
      ...(crash === undefined ? {} : { RUNGATE_CRASH_AT: `${crash}:1` })
    })

  const moves = async (org_id: string) => {
    const run = mover(org_id)
    const { code } = await run.ended
    expect([code, run.errors()]).toEqual([0, expect.any(String)])
    return run.output()
  }

  /** How many runs each cell has of an organization, and whether its wallet is there. */
  const placeOf = async ({ org_id }: Tenant) =>
    Promise.all(
      [here, there].map(async (app) => {
        const [row] = await app.sql(
          `SELECT (SELECT count(*)::int FROM runs WHERE org_id = $1) AS runs, (SELECT count(*)::int FROM wallets WHERE org_id = $1) AS wallets,
                  (SELECT max(moving)::int FROM wallets WHERE org_id = $1) AS moving`,
          [org_id]
        )
        return row
      })
    )

  test.each(["move.draining", "move.fenced", "move.copied", "move.switched"])(
    "a mover that is killed at %s leaves one cell that takes runs, and the next one finishes",
    async (point) => {
      const org = await here.tenant("1.00")
      const first = await org.run(verify(1), { "idempotency-key": "first" })
      expect(first.body.status).toBe("succeeded")
      const killed = mover(org.org_id, point)
      expect([(await killed.ended).signal, killed.errors()]).toEqual(["SIGKILL", expect.any(String)])

      const switched = point === "move.switched"
      const [left, right] = await placeOf(org)
      expect(left).toEqual({ runs: 1, wallets: 1, moving: point === "move.draining" ? 1 : 2 })
      expect(right).toEqual(switched ? { runs: 1, wallets: 1, moving: 0 } : { runs: 0, wallets: 0, moving: null })
      // Here nothing new is taken until somebody asks the other cell how the move ended.
      expect((await org.run(verify(2), { "idempotency-key": "second" })).status).toBe(503)
      const elsewhere = await org.over(there).run(verify(2), { "idempotency-key": "second" })
      expect(elsewhere.status).toBe(switched ? 200 : 401)

      expect(await moves(org.org_id)).toContain(switched ? "an interrupted move is finished" : "Moved")
      expect((await org.run(verify(3))).status).toBe(421)
      const again = await org.over(there).run(verify(1), { "idempotency-key": "first" })
      expect(again.body.run_id).toBe(first.body.run_id)
      expect((await org.over(there).run(verify(2), { "idempotency-key": "second" })).body.status).toBe("succeeded")
      expect(await placeOf(org)).toEqual([
        { runs: 0, wallets: 0, moving: null },
        { runs: 2, wallets: 1, moving: 0 }
      ])
      await here.books()
      await there.books()
    }
  )

  test("an interrupted move is finished with its own database only", async () => {
    const other = await startApp()
    try {
      const org = await here.tenant("1.00")
      expect((await mover(org.org_id, "move.switched").ended).signal).toBe("SIGKILL")
      for (const database of [other.databaseUrl, here.databaseUrl]) {
        const { ended, errors } = mover(org.org_id, undefined, database)
        expect([(await ended).code === 0, errors()]).toEqual([false, expect.stringContaining("another database")])
      }
      expect((await org.run(verify(1))).status).toBe(503)
      expect(await moves(org.org_id)).toContain("an interrupted move is finished")
      expect((await org.over(there).run(verify(1))).body.status).toBe("succeeded")
    } finally {
      await other.stop()
    }
  })

  test("an interrupted move that can't go on is undone", async () => {
    const org = await here.tenant("1.00")
    expect((await mover(org.org_id, "move.fenced").ended).signal).toBe("SIGKILL")
    await there.sql("INSERT INTO orgs (org_id, name) VALUES ($1, 'in the way')", [org.org_id])
    const refused = mover(org.org_id)
    expect((await refused.ended).code).not.toBe(0)
    expect(refused.errors()).toContain("has an organization")
    expect((await org.run(verify(1))).body.status).toBe("succeeded")
  })

  test("under load no run is lost, and none is made twice", async () => {
    const org = await here.tenant("20.00")
    const router = { cell: here }
    let sent = 0
    let stop = false
    /** A client that tries again with the same key until it has a run. */
    const ask = async (n: number): Promise<string> => {
      for (;;) {
        const { cell } = router
        const reply = await callUrl(cell.url, org.key, "POST", "/v1/run", {
          body: verify(n),
          headers: { "idempotency-key": `run-${n}` }
        })
        if (reply.status === 200) return reply.body.run_id
        expect([reply.status, reply.text]).toEqual([reply.status === 421 ? 421 : 503, reply.text])
        if (reply.status === 421) router.cell = there
        else await Bun.sleep(pauseMillis)
      }
    }
    const ids = new Map<number, string>()
    const client = async () => {
      while (!stop) {
        const n = ++sent
        ids.set(n, await ask(n))
      }
    }
    const clients = Array.from({ length: 6 }, client)
    while (ids.size < 10) await Bun.sleep(pauseMillis)
    await moves(org.org_id)
    const atMove = ids.size
    while (ids.size < atMove + 10) await Bun.sleep(pauseMillis)
    stop = true
    await Promise.all(clients)

    expect(new Set(ids.values()).size).toBe(sent)
    const rows = await there.sql(
      "SELECT run_id, status, charged::text AS charged FROM runs WHERE org_id = $1 ORDER BY run_id",
      [org.org_id]
    )
    expect(rows.map((row) => row["run_id"])).toEqual([...ids.values()].sort())
    expect(rows.filter((row) => row["status"] !== "succeeded")).toEqual([])
    const charged = rows.reduce((sum, row) => sum + Number(row["charged"]), 0)
    const [wallet] = await there.sql(
      "SELECT balance::text AS balance, reserved::text AS reserved FROM wallets WHERE org_id = $1",
      [org.org_id]
    )
    expect(wallet).toEqual({ balance: String(20_000_000 - charged), reserved: "0" })
    expect(await placeOf(org)).toEqual([
      { runs: 0, wallets: 0, moving: null },
      { runs: sent, wallets: 1, moving: 0 }
    ])
    await here.books()
    await there.books()
  })
})
