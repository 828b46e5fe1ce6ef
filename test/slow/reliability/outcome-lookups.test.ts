/**
 * A send whose outcome nobody knew is looked up at its provider by the run id that it carried. The finding reaches the run, the operator
 * and history; the message is sent once, no money moves, and one process asks at a time.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { Layer } from "effect"
import { LookSeconds } from "../../../src/actors/runs/OutcomeLookups.ts"
import { type App, startApp, type Tenant, until } from "../../kit/app.ts"
import { runMain } from "../../chaos/processes.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"
import { answer } from "../../layers/providers/stage.ts"
import { type Line, standIn } from "../../layers/providers/standin.ts"
import { copies } from "../../kit/old-runs.ts"

const command = await compiledCommand()
const there = standIn()
const often = Layer.succeed(LookSeconds, 0.05)

let app: App
let second: App
let org: Tenant
beforeAll(async () => {
  app = await startApp({ settings: there.settings, limits: often })
  second = await startApp({ settings: there.settings, limits: often, beside: app })
})
afterAll(async () => {
  await second.stop()
  await app.stop()
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  org = await app.tenant("5.00")
  await app.sql("INSERT INTO owned_resources (kind, resource_id, org_id) VALUES ('sender', 'sales@acme.example', $1)", [
    org.org_id
  ])
})
afterEach(async () => {
  // No row of one test is asked about in the next.
  await app.sql("UPDATE unknown_outcomes SET look_after = NULL")
  await app.books()
})

const message = { from: "sales@acme.example", to: "ada@example.com", subject: "Hello", text: "Hi Ada" }
const lost = answer(500, "oops")
const listing = (count: number) => answer(200, { TotalCount: count, Messages: [] })
const sends = () => there.heard("postmark").filter(({ method }) => method === "POST")
const looks = () => there.heard("postmark").filter(({ method }) => method === "GET")

/** A send whose answer is lost, and after it the provider's answers to look-ups. */
const send = async (input: Readonly<Record<string, unknown>>, ...answers: ReadonlyArray<Line>): Promise<string> => {
  there.play("postmark", lost, ...answers)
  const { body } = await org.run({ capability: "email.send", input, routing: { provider: "postmark" } })
  expect(body.error.code).toBe("outcome_unknown")
  return body.run_id
}
const rowOf = async (run_id: string) => {
  const [row] = await app.sql(
    `SELECT finding, note, looks, look_failed, look_after, extract(epoch FROM look_after - now())::float8 AS wait_seconds
     FROM unknown_outcomes WHERE run_id = $1`,
    [run_id]
  )
  return Object(row)
}
/** A look-up is counted before its request leaves, and the next answers are played when it has arrived. */
const looked = (run_id: string, times: number) =>
  until(
    `${times} look-ups`,
    () => rowOf(run_id),
    (row) =>
      row.looks === times && looks().filter(({ query }) => Object.values(query).includes(run_id)).length === times
  )
const resolved = (run_id: string) =>
  until(
    "it is found out",
    () => rowOf(run_id),
    (row) => row.finding !== null
  )
/** As if the run had ended so many minutes ago, and its next look-up were due. */
const age = (run_id: string, minutes: number) =>
  app.sql("UPDATE unknown_outcomes SET at = now() - make_interval(mins => $2), look_after = now() WHERE run_id = $1", [
    run_id,
    minutes
  ])
const due = (run_id: string) => app.sql("UPDATE unknown_outcomes SET look_after = now() WHERE run_id = $1", [run_id])
const admin = async (...args: ReadonlyArray<string>) => {
  const env = { DATABASE_URL: app.databaseUrl, RUNGATE_MODE: "production" }
  const { ended, output } = runMain(["admin", "unknown", ...args], env, [command])
  expect((await ended).code).toBe(0)
  return output()
}
const listed = async () => JSON.parse(await admin("--org", org.org_id, "--json")).items
/** Another run that is due afterwards and is looked up says that the sweep has passed by. */
const passed = async () => {
  const asked = looks().length
  const next = await send({ ...message, to: "bob@example.com" }, listing(1))
  await resolved(next)
  expect(looks()).toHaveLength(asked + 1)
}

describe("a send whose answer was lost", () => {
  test("the provider lists it: the run says that it was carried out, and it was sent once", async () => {
    const run_id = await send(message, listing(1))
    expect(await resolved(run_id)).toMatchObject({
      finding: "delivered",
      note: "Postmark lists a message of this run",
      looks: 1
    })
    const { body } = await org.get(`/v1/runs/${run_id}`)
    expect([body.status, body.error.code, body.billing.charged]).toEqual(["failed", "outcome_unknown", null])
    expect(body.hints[0]).toMatch(
      /^This service looked it up at Postmark on \d{4}-\d\d-\d\d: it was carried out\. Do not run it again\.$/
    )
    expect((await org.get("/v1/history?q=ada@example.com")).body).toMatchObject({
      contacted: true,
      last_contact: { run_id }
    })
    expect(sends()).toHaveLength(1)
    expect(sends()[0]?.body).toMatchObject({ Metadata: { rungate_run: run_id } })
    expect(looks()).toEqual([
      expect.objectContaining({
        path: "/messages/outbound",
        query: { count: "1", offset: "0", metadata_rungate_run: run_id }
      })
    ])
    expect(await org.wallet()).toMatchObject({ balance: "5.00", available: "5.00" })
  })

  test("the provider does not list it: nothing is said before 15 minutes, then that it was not carried out", async () => {
    const run_id = await send(message, listing(0), listing(0), listing(0))
    expect(await looked(run_id, 1)).toMatchObject({ finding: null, look_failed: false })
    await age(run_id, 14)
    expect(await looked(run_id, 2)).toMatchObject({ finding: null })
    // For the contact guard, somebody was contacted until it is known that nobody was.
    const claims = () => app.sql("SELECT FROM contact_claims WHERE run_id = $1", [run_id])
    expect(await claims()).toHaveLength(1)
    await age(run_id, 16)
    expect(await resolved(run_id)).toMatchObject({ finding: "not_delivered", looks: 3 })
    expect(await claims()).toEqual([])
    const { body } = await org.get(`/v1/runs/${run_id}`)
    expect(body.hints[0]).toMatch(/^This service looked it up at Postmark on .+: it was not carried out\. It can be/)
    expect(sends()).toHaveLength(1)
  })

  test("the look-up is refused: it is logged once, and tried later and later", async () => {
    const run_id = await send(message, answer(500, "down"), answer(401, { ErrorCode: 10, Message: "Bad token" }))
    const said = () => [...app.logs, ...second.logs].filter((line) => line.includes(`${run_id}: Postmark did not say`))
    const first = await until(
      "it fails",
      () => rowOf(run_id),
      (row) => row.look_failed
    )
    expect(first).toMatchObject({ finding: null, looks: 1 })
    expect(first.wait_seconds).toBeWithin(30, 61)
    await until("it is logged", said, (lines) => lines.length > 0)
    for (const [times, minutes] of [
      [2, 5],
      [3, 15],
      [4, 60],
      [5, 360],
      [6, 360]
    ] as const) {
      await due(run_id)
      const row = await looked(run_id, times)
      expect([times, row.finding, Math.round(row.wait_seconds / 60)]).toEqual([times, null, minutes])
      await until("it was asked", looks, (all) => all.length === times)
    }
    expect(said()).toHaveLength(1)
    there.play("postmark", listing(1))
    await due(run_id)
    expect(await resolved(run_id)).toMatchObject({ finding: "delivered" })
    expect(sends()).toHaveLength(1)
    expect(said()).toHaveLength(1)
  })

  test("two processes ask once each time, and the operator's own finding ends it", async () => {
    // It is due as soon as it is unknown. Made due once more, it would rightly be looked up twice.
    const run_id = await send(message, listing(0))
    for (let times = 1; times <= 8; times++) {
      if (times > 1) {
        there.play("postmark", listing(0))
        await due(run_id)
      }
      await looked(run_id, times)
      expect([times, (await rowOf(run_id)).looks, looks().length]).toEqual([times, times, times])
    }
    expect(await listed()).toMatchObject([{ run_id, next_look: expect.any(String) }])
    expect(await admin("--org", org.org_id)).toMatch(/FINDING +NEXT LOOK-UP\n/)
    await admin("resolve", run_id, "--not-delivered", "--note", "not in Postmark's activity")
    await due(run_id)
    await passed()
    expect(await rowOf(run_id)).toMatchObject({ finding: "not_delivered", looks: 8 })
  })

  test("a run is claimed when its look-up begins, and not while others' answers are awaited", async () => {
    const sent = await send(message, listing(0))
    await looked(sent, 1)
    const run_ids = await copies(app, org, sent, [0, 0, 0, 0, 0])
    const answers = Promise.withResolvers<void>()
    const slow = () => answers.promise.then(() => listing(1))
    there.forget()
    there.play("postmark", ...run_ids.map(() => slow))
    await app.sql(
      `INSERT INTO unknown_outcomes (run_id, org_id, provider, why, look_after)
       SELECT n.run_id, org_id, provider, why, now() FROM unknown_outcomes u, unnest($2::text[]) AS n(run_id) WHERE u.run_id = $1`,
      [sent, run_ids]
    )
    // A request that the connection lost may be sent again, so runs are counted and not requests.
    const askedAbout = () =>
      run_ids.filter((run_id) => looks().some(({ query }) => Object.values(query).includes(run_id)))
    // Two of each process.
    await until("four are asked about", askedAbout, (all) => all.length === 4)
    const claimed = await app.sql("SELECT FROM unknown_outcomes WHERE run_id = ANY($1) AND looks > 0", [run_ids])
    expect(claimed).toHaveLength(4)
    answers.resolve()
    for (const run_id of run_ids) expect(await resolved(run_id)).toMatchObject({ finding: "delivered", looks: 1 })
    expect(askedAbout()).toHaveLength(5)
  })
})

describe("never looked up", () => {
  test("a run whose tags leave no room for its id", async () => {
    const tags = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`tag${n}`, "x"]))
    const run_id = await send({ ...message, tags }, listing(1))
    await passed()
    expect(await rowOf(run_id)).toMatchObject({ finding: null, looks: 0, look_after: null })
    expect((await listed()).find((row: { run_id: string }) => row.run_id === run_id)).toMatchObject({ next_look: null })
  })

  test("a run that was erased, and one older than a week", async () => {
    const erased = await send(message, listing(0))
    await looked(erased, 1)
    expect((await app.call(await org.session(), "DELETE", "/v1/history?q=ada@example.com")).status).toBe(200)
    await until(
      "the run is erased",
      () => app.sql("SELECT 1 FROM runs WHERE run_id = $1 AND erased_at IS NOT NULL", [erased]),
      (rows) => rows.length === 1
    )
    await age(erased, 20)
    const old = await send({ ...message, to: "eve@example.com" }, listing(0))
    await looked(old, 1)
    await age(old, 7 * 24 * 60 + 1)
    await passed()
    for (const run_id of [erased, old]) expect(await rowOf(run_id)).toMatchObject({ finding: null, looks: 1 })
  })

  test("a run whose lost worker did not send its id, as an older version's; one that did is looked up", async () => {
    const lose = async (sends_run_id: boolean) => {
      const arrived = Promise.withResolvers<void>()
      there.play(
        "postmark",
        () => {
          arrived.resolve()
          return new Promise(() => {})
        },
        listing(1)
      )
      void org.run({ capability: "email.send", input: message, routing: { provider: "postmark" } }).catch(() => {})
      await arrived.promise
      const worker = `wrk_dead_${sends_run_id}`
      await app.sql("INSERT INTO workers (worker_id, expires_at, sends_run_id) VALUES ($1, now(), $2)", [
        worker,
        sends_run_id
      ])
      const [open] = await app.sql(
        "UPDATE open_runs SET worker_id = $1, since = now() - interval '1 minute' WHERE org_id = $2 RETURNING run_id",
        [worker, org.org_id]
      )
      const { run_id } = Object(open)
      await until(
        "it is taken over",
        () => rowOf(run_id),
        (row) => row.looks !== undefined
      )
      return run_id
    }
    const old = await lose(false)
    await passed()
    expect(await rowOf(old)).toMatchObject({ finding: null, look_after: null })
    const known = await lose(true)
    expect(await resolved(known)).toMatchObject({ finding: "delivered" })
  })
})

describe("the sandbox", () => {
  test("rehearses look-ups: a timeout was carried out, an error was not", async () => {
    const sandbox = await startApp({ limits: often })
    const tenant = await sandbox.tenant("5.00")
    for (const [word, hint] of [
      ["timeout", "it was carried out. Do not run it again."],
      ["error", "it was not carried out. It can be run again."]
    ] as const) {
      const input = { ...message, subject: `sandbox:${word}` }
      const { body } = await tenant.run({ capability: "email.send", input, routing: { provider: "postmark" } })
      expect(body.error.code).toBe("outcome_unknown")
      const read = async () => (await tenant.get(`/v1/runs/${body.run_id}`)).body.hints[0]
      const said = await until("the look-up", read, (first) => first.startsWith("This service looked it up"))
      expect(said).toEndWith(hint)
    }
    await sandbox.stop()
  })
})
