/** One database belongs to one mode: no process of the sandbox reaches a production wallet, and the database refuses simulated money. */
import { describe, expect, test } from "bun:test"
import { type App, startApp } from "../../kit/app.ts"
import { runMain } from "../../chaos/processes.ts"
import { preparedDatabase } from "../../kit/postgres.ts"

const production = { RUNGATE_MODE: "production" }
const most = { amount: "999999.99" }

const outcome = (start: Promise<App>) =>
  start.then(
    async (app) => {
      await app.stop()
      return "started"
    },
    (error: Error) => error.message
  )

describe("a process without RUNGATE_MODE on a production database", () => {
  test("does not start, says why, and credits nothing", async () => {
    const live = await startApp({ settings: production })
    const org = await live.tenant()
    const told = await startApp({ beside: live, settings: { RUNGATE_MODE: "" } }).then(
      async (stranger) => {
        const test = await stranger.tenant()
        await org.over(stranger).post("/v1/wallet/topups/checkout", most)
        await test.post("/v1/wallet/topups/checkout", most)
        await stranger.stop()
        return "started"
      },
      (error: Error) => error.message
    )
    expect(await live.sql("SELECT sum(balance)::text AS balance FROM wallets")).toEqual([{ balance: "0" }])
    expect(told).toMatch(
      /^The database at 127\.0\.0\.1:\d+\/rungate_test_\w+ belongs to a production service, and this process runs in sandbox mode \(the default when RUNGATE_MODE is unset\)\. Set RUNGATE_MODE=production, or point DATABASE_URL at a database of its own\.$/
    )
    expect(told).not.toContain(new URL(live.databaseUrl).password)
    await live.stop()
  })

  test("no role and no operator's command starts; with the right mode they do", async () => {
    const live = await startApp({ settings: production })
    const org = await live.tenant()
    const commands: ReadonlyArray<ReadonlyArray<string>> = [
      ["serve", "--role", "worker"],
      ["serve", "--role", "http"],
      ["admin", "credit", org.org_id, "10.00", "--note", "a mistake", "--yes"],
      ["audit"]
    ]
    const ends = await Promise.all(
      commands.map(async (args) => {
        const { errors, ended } = runMain(args, { PORT: "0", DATABASE_URL: live.databaseUrl })
        return [(await ended).code, errors().trim()]
      })
    )
    const refusal = expect.stringMatching(/^rungate: The database at .+ belongs to a production service, .+$/)
    expect(ends).toEqual(commands.map(() => [1, refusal]))
    expect(await org.ledger()).toEqual([])
    const audit = runMain(["audit", "--processor-days", "0"], { ...production, DATABASE_URL: live.databaseUrl })
    expect([(await audit.ended).code, audit.errors()]).toEqual([0, ""])
    await live.stop()
  })

  test("that runs already gets no simulated money past the database", async () => {
    // It started on a database of the sandbox, which somebody turned into production behind its back.
    const sandbox = await startApp()
    const org = await sandbox.tenant("1.00")
    const pay = () => org.post("/v1/wallet/topups/checkout", most)
    expect((await pay()).body.status).toBe("simulated")
    const before = await org.wallet()
    await sandbox.sql("ALTER TABLE service_mode DISABLE TRIGGER service_mode_stays")
    await sandbox.sql("UPDATE service_mode SET mode = 'production'")
    await sandbox.sql("ALTER TABLE service_mode ENABLE TRIGGER service_mode_stays")
    expect((await pay()).status).toBeGreaterThanOrEqual(500)
    expect(await org.wallet()).toEqual(before)
    const columns = "payment_id, org_id, kind, amount, state"
    const refused: ReadonlyArray<string> = [
      `INSERT INTO payments (${columns}) VALUES ('pay_1', $1, 'simulated', 10000, 'paid')`,
      `INSERT INTO payments (${columns}, session_id) VALUES ('pay_2', $1, 'checkout', 10000, 'open', 'cs_sim_1')`,
      `INSERT INTO payments (${columns}, payment_intent) VALUES ('pay_3', $1, 'auto', 10000, 'paid', 'pi_sim_pay_3')`,
      "INSERT INTO ledger (org_id, seq, txn_id, type, amount, balance_after, reserved_after, reference, hash) VALUES ($1, 99, 'txn_1', 'bonus', 1, 1, 0, 'simulated:cs_1', sha256(''))"
    ]
    for (const text of refused) await expect(sandbox.sql(text, [org.org_id])).rejects.toThrow(/no simulated money/)
    await sandbox.sql(`INSERT INTO payments (${columns}) VALUES ('pay_4', $1, 'auto', 10000, 'open')`, [org.org_id])
    const paid = "UPDATE payments SET state = 'paid', payment_intent = 'pi_sim_pay_4' WHERE payment_id = 'pay_4'"
    await expect(sandbox.sql(paid)).rejects.toThrow(/no simulated money/)
    for (const text of [
      "UPDATE service_mode SET mode = 'sandbox'",
      "DELETE FROM service_mode",
      "TRUNCATE service_mode"
    ])
      await expect(sandbox.sql(text)).rejects.toThrow(/mode of a database never changes/)
    await sandbox.stop()
  })
})

test("of two first starts with different modes one wins, and the other is refused", async () => {
  for (let round = 0; round < 4; round++) {
    const databaseUrl = await preparedDatabase()
    const beside = (mode: string) => outcome(startApp({ settings: { DATABASE_URL: databaseUrl, RUNGATE_MODE: mode } }))
    const ends = await Promise.all([beside("sandbox"), beside("production")])
    expect(ends.filter((end) => end === "started")).toHaveLength(1)
    expect(ends.find((end) => end !== "started")).toMatch(/belongs to a (sandbox|production) service/)
  }
})

test("an operator's command writes no mode: the first service does", async () => {
  const DATABASE_URL = await preparedDatabase()
  const { ended } = runMain(["admin", "orgs"], { DATABASE_URL })
  expect((await ended).code).toBe(0)
  expect(await outcome(startApp({ settings: { DATABASE_URL, ...production } }))).toBe("started")
})
