/** The books are checked on a schedule. A wallet whose books do not add up takes no new runs until they do; other wallets run on. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { BooksLookSeconds } from "../../src/actors/BooksWorker.ts"
import { LookSeconds } from "../../src/actors/runs/OutcomeLookups.ts"
import { BooksWatch } from "../../src/layers/audit/BooksWatch.ts"
import { type App, rehearse, startApp, until, verify } from "../kit/app.ts"
import { heldProvider, rehearseHeld } from "../kit/held-provider.ts"
import { spoil } from "../kit/wallet-damage.ts"
import { compiledCommand } from "../kit/compiled-command.ts"
import { type Command, runCommand } from "../kit/run-command.ts"

const command: Command = [await compiledCommand()]

const held = heldProvider()
let app: App
beforeAll(async () => {
  const limits = Layer.mergeAll(Layer.succeed(BooksLookSeconds, 0.02), Layer.succeed(LookSeconds, 3_600))
  app = await startApp({ held, settings: { RUNGATE_AUDIT_MINUTES: "60" }, limits })
})
afterAll(() => app.stop())

const watch = <A>(work: (watch: BooksWatch["Service"]) => Effect.Effect<A>) =>
  Effect.runPromise(work(Context.get(app.context, BooksWatch)))

const violations = async () =>
  (await app.sql("SELECT violations::int AS found FROM audit_checks ORDER BY id")).map(({ found }) => found)

/** Makes a check due until `is` holds. */
const checkedUntil = <A>(what: string, read: () => Promise<A>, is: (now: A) => boolean) =>
  until(
    what,
    async () => {
      await app.sql("UPDATE books_schedule SET next_at = now()")
      return read()
    },
    is
  )

const resume = async (org_id: string) => {
  const { ended, output, errors } = runCommand(command, ["admin", "resume", org_id], { DATABASE_URL: app.databaseUrl })
  const { code } = await ended
  return { code, text: output() + errors() }
}

test("checks beside runs find nothing and suspend nobody, and of those who want a check one gets it", async () => {
  const orgs = await Promise.all(Array.from({ length: 4 }, () => app.tenant("5.00")))
  let running = true
  const work = Promise.all(
    orgs.map(async (org) => {
      for (let n = 0; running; n++) {
        const { body } = await org.run(n % 3 === 0 ? rehearse("error") : verify(`p${n}`))
        expect(["succeeded", "failed"]).toContain(body.status)
      }
    })
  )
  await checkedUntil("five checks", violations, (found) => found.length >= 5)
  running = false
  await work
  expect((await violations()).every((found) => found === 0)).toBe(true)
  expect(await watch((one) => one.suspended)).toBe(0)

  await watch((one) => one.postpone(3_600))
  expect(await watch((one) => one.claim(3_600))).toBe(false)
  await app.sql("UPDATE books_schedule SET next_at = now() + interval '1 hour'")
})

test("a wallet that was spoilt is suspended, what it had begun settles, and it is resumed when its books add up", async () => {
  const [bad, good] = [await app.tenant("5.00"), await app.tenant("5.00")]
  const { body: slow } = await bad.run({ ...rehearseHeld(), async: true })
  await spoil(app, bad, "spoilt")
  const marks = () => app.sql("SELECT org_id FROM wallets WHERE suspended")
  expect(await checkedUntil("the wallet is suspended", marks, (rows) => rows.length > 0)).toEqual([
    { org_id: bad.org_id }
  ])

  const refused = await bad.run(verify("new"))
  expect([refused.status, refused.body.status, refused.body.error.code]).toEqual([409, "blocked", "wallet_suspended"])
  expect(refused.body.billing.charged).toBeNull()
  const quote = await bad.post("/v1/quote", verify("new"))
  expect(quote.body).toMatchObject({ would: "block", error: { code: "wallet_suspended" } })
  await held.holds(1)
  held.release()
  const { body: settled } = await bad.get(`/v1/runs/${slow.run_id}?wait=20`)
  expect(settled.status).toBe("succeeded")
  expect((await bad.wallet()).reserved).toBe("0.00")
  expect((await good.run(verify("new"))).body.status).toBe("succeeded")

  const text = await app.metrics()
  expect(text).toContain("\nrungate_wallets_suspended 1\n")
  expect(text).toContain("\nrungate_books_violations 1\n")
  expect(app.logs.join("\n")).toContain(`rungate admin resume ${bad.org_id}`)

  const early = await resume(bad.org_id)
  expect([early.code, early.text]).toEqual([5, expect.stringContaining(`E9`)])
  expect((await bad.run(verify("newer"))).body.error.code).toBe("wallet_suspended")

  await spoil(app, bad, "test credit")
  const done = await resume(bad.org_id)
  expect([done.code, done.text]).toEqual([0, expect.stringContaining("takes new runs again")])
  expect((await bad.run(verify("newest"))).body.status).toBe("succeeded")
  expect(await watch((one) => one.suspended)).toBe(0)
  const changes = await app.sql("SELECT actor, action FROM audit_log WHERE object = $1 ORDER BY entry_id", [bad.org_id])
  expect(changes).toEqual([
    { actor: "system", action: "wallet_suspension.created" },
    { actor: "operator", action: "wallet_suspension.changed" }
  ])
})

test("the database itself refuses a hold of a suspended wallet", async () => {
  const org = await app.tenant("5.00")
  await app.sql("UPDATE wallets SET suspended = true WHERE org_id = $1", [org.org_id])
  const answer = app.sql("UPDATE wallets SET reserved = reserved + 1 WHERE org_id = $1", [org.org_id])
  expect(
    await answer.then(
      () => "accepted",
      (error: Error) => error.message
    )
  ).toContain("takes no new runs")
})
