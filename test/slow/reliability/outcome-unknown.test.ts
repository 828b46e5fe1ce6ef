/**
 * A call that acts and whose outcome nobody knows: never charged, never made again, listed for the operator, and told as what it is.
 * A call that only reads, and a request that surely never left, stay ordinary failures.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { Effect, Logger } from "effect"
import { createServer, type Server } from "node:net"
import { Breakers } from "../../../src/layers/executor/Breakers.ts"
import { type App, startApp, type Tenant, until } from "../../kit/app.ts"
import { runMain } from "../../chaos/processes.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { answer } from "../../layers/providers/stage.ts"
import { hasten, type Line, standIn, withDeadline } from "../../layers/providers/standin.ts"

const body = { type: "object", additionalProperties: true }
const acme = documentOf("acme", [
  endpointOf({ path: "/send", method: "POST", body, acts: true }),
  endpointOf({ path: "/trigger", acts: true }),
  endpointOf({ path: "/search", method: "POST", body })
])
const there = standIn({ slug: "acme", auth: { kind: "bearer" } })
const unhasten = hasten()
const command = await compiledCommand()

let app: App
let org: Tenant
/** Closes every connection as soon as a request has arrived. */
let breaking: Server
beforeAll(async () => {
  app = await startApp({ settings: there.settings })
  await app.catalog(acme)
  breaking = createServer((socket) => {
    socket.on("error", () => {})
    socket.on("data", () => socket.destroy())
  })
  await new Promise<void>((resolve) => breaking.listen(0, "127.0.0.1", resolve))
})
afterAll(async () => {
  breaking.close()
  await app.stop()
  await there.stop()
  unhasten()
})
beforeEach(async () => {
  there.forget()
  org = await newTenant()
})
/** Where senders have owners, the organization owns the one that it writes as. */
const ownsSender = (of: App, tenant: Tenant) =>
  of
    .sql("INSERT INTO owned_resources (kind, resource_id, org_id) VALUES ('sender', 'sales@acme.example', $1)", [
      tenant.org_id
    ])
    .catch(() => [])
const newTenant = async () => {
  const tenant = await app.tenant("5.00")
  await ownsSender(app, tenant)
  return tenant
}
const heal = Effect.gen(function* () {
  const breakers = yield* Effect.serviceOption(Breakers)
  if (breakers._tag === "None") throw new Error("the app has no breakers")
  for (const { provider, subject, org_id } of breakers.value.all())
    yield* breakers.value.record(provider, subject, org_id, null)
})
const healed = () => Effect.runPromise(Effect.provideContext(heal, app.context).pipe(Effect.provide(Logger.layer([]))))
afterEach(async () => {
  await app.books()
  await healed()
})

const message = { from: "sales@acme.example", to: "ada@example.com", subject: "Hello", text: "Hi Ada" }
const send = (provider = "postmark") => org.run({ capability: "email.send", input: message, routing: { provider } })
const raw = (endpoint: string, method: string) =>
  org.run({ provider: "acme", endpoint, method, input: {}, ...(method === "GET" ? {} : { input: { a: 1 } }) })
const untouched = { balance: "5.00", reserved: "0.00", available: "5.00" }
const never: Line = () => new Promise(() => {})
const soon = <A>(slug: string, work: () => Promise<A>) => withDeadline(slug, 150, work, app)

const expectUnknown = async (reply: Awaited<ReturnType<typeof send>>, why: string, provider = "postmark") => {
  expect([reply.status, reply.body.status, reply.body.error.code]).toEqual([502, "failed", "outcome_unknown"])
  expect(reply.body.error.message).toMatch(
    new RegExp(
      `^It is unknown whether ${provider} carried this out: .+ Nothing was charged. Check whether it was done before`
    )
  )
  expect(reply.body.hints[0]).toContain("may have carried this call out")
  expect(reply.body.attempts).toMatchObject([{ provider, outcome: "outcome_unknown" }])
  expect(reply.body.billing.charged).toBeNull()
  expect(await org.wallet()).toMatchObject(untouched)
  expect(there.heard(provider).length).toBeLessThanOrEqual(1)
  const listed = await app.sql("SELECT why, provider FROM unknown_outcomes WHERE run_id = $1", [reply.body.run_id])
  expect(listed).toEqual([{ why, provider }])
  return reply.body
}
const expectKnown = async (reply: Awaited<ReturnType<typeof send>>, code: string) => {
  expect(reply.body.error.code).toBe(code)
  expect(await app.sql("SELECT 1 FROM unknown_outcomes WHERE run_id = $1", [reply.body.run_id])).toEqual([])
  expect(await org.wallet()).toMatchObject(untouched)
}

describe("a call that acts", () => {
  const answers: ReadonlyArray<readonly [string, Line, string]> = [
    ["HTTP 500", answer(500, "oops"), "server_error"],
    ["HTTP 502", answer(502, "<html>bad gateway</html>"), "server_error"],
    ["HTTP 503", answer(503, {}), "server_error"],
    ["HTTP 504", answer(504, {}), "server_error"],
    ["success with broken JSON", answer(200, '{"MessageID": "b7'), "unreadable_answer"],
    ["success without the id", answer(200, { hello: ["world"] }), "unreadable_answer"],
    ["success and nothing", answer(200, ""), "unreadable_answer"]
  ]
  test.each(answers)("%s: outcome_unknown", async (_name, line, why) => {
    there.play("postmark", line)
    await expectUnknown(await send(), why)
  })

  test("no answer in time: outcome_unknown, and not timed_out", async () => {
    there.play("postmark", never)
    await expectUnknown(await soon("postmark", () => send()), "no_answer")
  })

  test("no second provider is asked, though routing may", async () => {
    there.play("postmark", answer(500, "oops"))
    there.play("resend", answer(500, "oops"))
    const { body } = await org.run({ capability: "email.send", input: message })
    expect(body.error.code).toBe("outcome_unknown")
    expect(there.heard()).toHaveLength(1)
  })

  const refusals: ReadonlyArray<readonly [string, Line]> = [
    ["HTTP 422", answer(422, { ErrorCode: 300, Message: "invalid" })],
    ["HTTP 401", answer(401, {})],
    ["HTTP 429", answer(429, {})],
    ["HTTP 501", answer(501, {})],
    ["a redirect", answer(307, "", { location: "/stolen" })],
    ["success that says no", answer(200, { ErrorCode: 406, Message: "inactive recipient" })]
  ]
  test.each(refusals)("%s: the provider said no, so it is known", async (_name, line) => {
    there.play("postmark", line)
    await expectKnown(await send(), "provider_error")
  })

  test("a connection that breaks after the request left is unknown; one that is refused is not", async () => {
    const port = (server: Server) => {
      const at = server.address()
      return typeof at === "object" && at !== null ? at.port : 0
    }
    for (const [url, code] of [
      [`http://127.0.0.1:${port(breaking)}`, "outcome_unknown"],
      ["http://127.0.0.1:1", "provider_error"],
      ["http://nothing.invalid", "provider_error"]
    ] as const) {
      const alone = await startApp({
        settings: { ...there.settings, RUNGATE_PROVIDER_POSTMARK_BASE_URL: url }
      })
      const tenant = await alone.tenant("5.00")
      await ownsSender(alone, tenant)
      const { body } = await tenant.run({ capability: "email.send", input: message, routing: { provider: "postmark" } })
      expect([url, body.error.code]).toEqual([url, code])
      expect(await tenant.wallet()).toMatchObject(untouched)
      await alone.stop()
    }
  })
})

describe("a raw call", () => {
  test("of an endpoint that acts: outcome_unknown, whatever its method", async () => {
    for (const [endpoint, method] of [
      ["/send", "POST"],
      ["/trigger", "GET"]
    ] as const) {
      there.play("acme", answer(500, "oops"))
      await expectUnknown(await raw(endpoint, method), "server_error", "acme")
      there.forget()
      there.play("acme", answer(200, "<html>", { "content-type": "text/html" }))
      await expectUnknown(await raw(endpoint, method), "unreadable_answer", "acme")
      there.forget()
    }
  })

  test("of one that only reads keeps its own error", async () => {
    there.play("acme", answer(500, "oops"))
    await expectKnown(await raw("/search", "POST"), "provider_error")
    there.play("acme", answer(404, {}))
    await expectKnown(await raw("/send", "POST"), "provider_error")
  })
})

describe("a look-up", () => {
  test("keeps timed_out and provider_timeout", async () => {
    there.play("leadmagic", never)
    const reply = await soon("leadmagic", () =>
      org.run({ capability: "email.verify", input: { email: "ada@example.com" }, routing: { provider: "leadmagic" } })
    )
    expect([reply.status, reply.body.status]).toEqual([504, "timed_out"])
    await expectKnown(reply, "provider_timeout")
  })
})

describe("a worker that dies amid the call", () => {
  /** A lease that nobody renews: the run is taken over as after a kill. */
  const lose = async (ask: () => Promise<unknown>, provider: string, endpoint: string) => {
    const arrived = Promise.withResolvers<void>()
    there.play(provider, () => {
      arrived.resolve()
      return new Promise(() => {})
    })
    const asked = ask()
    await arrived.promise
    await app.sql("UPDATE open_runs SET worker_id = 'dead', since = now() - interval '1 minute' WHERE org_id = $1", [
      org.org_id
    ])
    void asked.catch(() => {})
    const ended = async () => (await org.list()).body.items[0]
    return until(`${endpoint} ends`, ended, (run) => run?.done === true, 20)
  }

  test("a send, and a raw call that is no GET, end as outcome_unknown; a raw GET that reads does not", async () => {
    const sent = await lose(() => send(), "postmark", "email.send")
    expect(sent).toMatchObject({ status: "failed", error: { code: "outcome_unknown" } })
    expect(sent.attempts).toMatchObject([{ outcome: "outcome_unknown" }])
    expect(sent.error.message).toContain("the process that made the call died")
    org = await newTenant()
    const posted = await lose(() => raw("/search", "POST"), "acme", "/search")
    expect(posted.error.code).toBe("outcome_unknown")
    org = await newTenant()
    const triggered = await lose(() => raw("/trigger", "GET"), "acme", "/trigger")
    expect(triggered.error.code).toBe("outcome_unknown")
    expect(
      await app.sql("SELECT DISTINCT why FROM unknown_outcomes WHERE run_id = ANY($1)", [
        [sent.run_id, posted.run_id, triggered.run_id]
      ])
    ).toEqual([{ why: "worker_lost" }])
    expect(await org.wallet()).toMatchObject(untouched)
  })
})

describe("what is known of it afterwards", () => {
  const admin = async (...args: ReadonlyArray<string>) => {
    const env = { DATABASE_URL: app.databaseUrl, RUNGATE_MODE: "production" }
    const { ended, output, errors } = runMain(["admin", "unknown", ...args], env, [command])
    const { code } = await ended
    return { code, out: output(), err: errors(), body: output().startsWith("{") ? JSON.parse(output()) : null }
  }
  const unknown = async () => {
    // A run whose worker was taken away above goes on in this process, and fails when its time is up.
    await healed()
    there.forget()
    there.play("postmark", answer(500, "oops"))
    return expectUnknown(await send(), "server_error")
  }

  test("the operator lists it, and records what was found; no money moves", async () => {
    const { run_id } = await unknown()
    const mine = () => admin("--org", org.org_id, "--json")
    const listed = {
      run_id,
      org_id: org.org_id,
      provider: "postmark",
      capability: "email.send",
      endpoint: null,
      why: "server_error",
      provider_state: null,
      at: expect.any(String),
      finding: null,
      note: null,
      found_at: null,
      next_look: expect.any(String)
    }
    expect((await mine()).body).toEqual({ items: [listed], next_cursor: null })
    const text = await admin("--org", org.org_id)
    expect(text.out).toMatch(
      /^WHEN +RUN +ORGANIZATION +PROVIDER +OF +WHY +JOB AT THE PROVIDER +FINDING +NEXT LOOK-UP\n/
    )
    expect(text.out).toContain(run_id)
    expect(text.err).toContain("rungate admin unknown resolve <run_id> --delivered|--not-delivered")
    const mistakes: ReadonlyArray<readonly [ReadonlyArray<string>, number]> = [
      [["resolve", run_id, "--note", "n"], 5],
      [["resolve", run_id, "--delivered", "--not-delivered", "--note", "n"], 5],
      [["resolve", run_id, "--delivered", "--note", " "], 5],
      [["resolve", "run_nobody", "--delivered", "--note", "n"], 250],
      [["--limit", "0"], 5],
      [["--org", "org_nobody"], 5]
    ]
    for (const [args, code] of mistakes) expect([args, (await admin(...args)).code]).toEqual([args, code])
    const before = await org.ledger()
    const done = await admin("resolve", run_id, "--delivered", "--note", "in Postmark's activity")
    expect([done.code, done.out]).toEqual([
      0,
      expect.stringMatching(/^recorded: run_\w+ of org_\w+ was delivered \(20\S+Z\); no money moved\n$/)
    ])
    // The same finding again changes nothing, and says when it was recorded.
    expect(await admin("resolve", run_id, "--delivered", "--note", "again")).toMatchObject({ code: 0, out: done.out })
    const other = await admin("resolve", run_id, "--not-delivered", "--note", "no")
    expect([other.code, other.err]).toEqual([5, expect.stringContaining("was already recorded as delivered")])
    expect((await mine()).body.items).toEqual([])
    expect((await admin("--org", org.org_id, "--all", "--json")).body.items).toMatchObject([
      { run_id, finding: "delivered", note: "in Postmark's activity" }
    ])
    expect(await org.ledger()).toEqual(before)
    const read = await org.get(`/v1/runs/${run_id}`)
    expect(read.body.status).toBe("failed")
    expect(read.body.hints[0]).toMatch(
      /^The operator of this service found out on \d{4}-\d\d-\d\d: it was carried out\. Do not/
    )
  })

  test("history shows the touch, says that it may have arrived, and follows the finding", async () => {
    const known = async () => (await org.get("/v1/history?q=ada@example.com")).body
    const rows = async () =>
      (await org.post("/v1/history", { subjects: ["ada@example.com", "bob@example.com"] })).body.items
    const { run_id } = await unknown()
    const check = async () => {
      const view = await known()
      expect(view.touches).toMatchObject([{ run_id, status: "failed" }])
      expect([view.contacted, view.by_status]).toEqual([false, { failed: 1 }])
      expect(view.last_unknown).toMatchObject({ run_id, capability: "email.send", channel: "email", status: "failed" })
      expect(view.hints[0]).toMatch(/^Outcome unknown: email\.send on .+ may have reached this subject\. Check before/)
      expect(view.hints.join()).not.toContain("Never reached")
      const [ada, bob] = await rows()
      expect(ada).toMatchObject({ contacted: false, last_unknown: { run_id } })
      expect(bob).not.toHaveProperty("last_unknown")
    }
    await check()
    await until(
      "it is indexed",
      () => app.sql("SELECT 1 FROM history_queue WHERE org_id = $1", [org.org_id]),
      (waiting) => waiting.length === 0
    )
    await check()
    await admin("resolve", run_id, "--delivered", "--note", "seen")
    expect(await known()).toMatchObject({ contacted: true, last_contact: { run_id } })
    expect((await rows())[0]).toMatchObject({ contacted: true, last_contact: { run_id } })
    const second = await unknown()
    await admin("resolve", second.run_id, "--not-delivered", "--note", "bounced")
    const last = await known()
    expect(last).not.toHaveProperty("last_unknown")
  })
})
