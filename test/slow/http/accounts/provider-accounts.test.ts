/**
 * Organizations' own accounts at providers, in production: a customer's key makes the calls of that customer only, for the fee, and is
 * nowhere to be found afterwards. What a provider answers to it affects nobody else.
 */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test"
import { Effect, Option, Redacted } from "effect"
import { ProviderAccounts } from "../../../../src/layers/provideraccounts/ProviderAccounts.ts"
import { figures, startApp, type Tenant, until, verify, withApp } from "../../../kit/app.ts"
import { dumpDatabase, hitsIn } from "../../../kit/stored-text.ts"
import { answer } from "../../../layers/providers/stage.ts"
import { type Heard, standIn } from "../../../layers/providers/standin.ts"

const ownKey = "canary-own-leadmagic-4711"
const badKey = "canary-bad-leadmagic-0815"
const fee = "0.001"
const price = "0.003"
const encryptionKey = (byte: number) => Buffer.alloc(32, byte).toString("base64")

const there = standIn()
const settings = {
  ...there.settings,
  RUNGATE_OWN_ACCOUNT_FEE: fee,
  RUNGATE_ENCRYPTION_KEY: encryptionKey(1),
  RUNGATE_ORG_CONCURRENCY: "1"
}
let org: Tenant
let other: Tenant
let session: string
const app = withApp({ settings })
afterAll(async () => {
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  ;[org, other] = [await app.tenant("1.00"), await app.tenant("1.00")]
  session = await org.session()
})
afterEach(async () => {
  await app.books()
})

const keyOf = ({ headers }: Heard) => headers["x-api-key"]
/** Leadmagic delivers, unless it was called with the bad key. */
const delivering = (heard: Heard) =>
  keyOf(heard) === badKey
    ? answer(401, { error: `the key ${badKey} is unknown` })
    : answer(200, { email_status: "valid", credits_consumed: 0.25 })
const playing = (calls = 10) => there.play("leadmagic", ...Array.from({ length: calls }, () => delivering))
const keys = () => there.heard("leadmagic").map(keyOf)

const put = (body: Record<string, unknown>, provider = "leadmagic", token = session) =>
  app.call(token, "PUT", `/v1/provider-accounts/${provider}`, { body })
const pinned = { ...verify(), routing: { provider: "leadmagic" } }
const moved = async (of: Tenant) => [...(await of.ledger())].reverse().map(({ type, amount }) => `${type} ${amount}`)
const outcomes = (body: { attempts: ReadonlyArray<{ provider: string; outcome: string; account?: string }> }) =>
  body.attempts.map(({ provider, outcome, account = "platform" }) => `${provider} ${account} ${outcome}`)

describe("the account", () => {
  test("is set, read, replaced and removed; answers and the audit log have four characters of the key", async () => {
    const set = await put({ api_key: ownKey, fallback: true })
    const shown = { provider: "leadmagic", last_four: "4711", base_url: null, fallback: true, fee }
    expect(set).toMatchObject({ status: 200, body: shown })
    expect((await org.get("/v1/provider-accounts")).body).toMatchObject({ items: [shown], next_cursor: null })
    expect((await put({ api_key: badKey })).body).toMatchObject({ last_four: "0815", fallback: false })
    expect((await org.get("/v1/provider-accounts/leadmagic")).body).toMatchObject({ last_four: "0815" })
    expect((await other.get("/v1/provider-accounts")).body.items).toEqual([])
    expect((await other.get("/v1/provider-accounts/leadmagic")).status).toBe(400)
    const removed = await app.call(session, "DELETE", "/v1/provider-accounts/leadmagic")
    expect(removed.body).toEqual({ provider: "leadmagic", deleted: true })
    expect((await app.call(session, "DELETE", "/v1/provider-accounts/leadmagic")).body.error.details[0]).toMatchObject({
      path: "path.provider"
    })
    const log = await app.call(session, "GET", "/v1/audit-log?action=provider_account")
    expect(log.body.items).toMatchObject([
      { action: "provider_account.removed", object: "leadmagic", before: { last_four: "0815" } },
      { action: "provider_account.changed", before: { last_four: "4711" }, after: { last_four: "0815" } },
      { action: "provider_account.created", object: "leadmagic", after: { last_four: "4711", fallback: true } }
    ])
    expect(JSON.stringify(log.body)).not.toMatch(/secret|canary|v1\./)
  })

  test("is a person's: an API key can't set or remove it", async () => {
    for (const method of ["PUT", "DELETE"]) {
      const { status, body } = await app.call(org.key, method, "/v1/provider-accounts/leadmagic", {
        ...(method === "PUT" ? { body: { api_key: ownKey } } : {})
      })
      expect([status, body.error.code]).toEqual([403, "forbidden"])
    }
  })

  const mistakes: ReadonlyArray<readonly [string, string, Record<string, unknown>, number, string]> = [
    ["an unknown provider", "leadmagik", { api_key: ownKey }, 404, "path.provider"],
    ["a hostile provider", "..%2F'%22", { api_key: ownKey }, 404, "path.provider"],
    ["a provider without keys", "usaspending", { api_key: ownKey }, 400, "path.provider"],
    ["no key", "leadmagic", {}, 400, "api_key"],
    ["a short key", "leadmagic", { api_key: "1234567" }, 400, "api_key"],
    ["a huge key", "leadmagic", { api_key: "k".repeat(1_001) }, 400, "api_key"],
    ["a key with NUL", "leadmagic", { api_key: "canary-own\u0000-4711" }, 400, "api_key"],
    ["half a character", "leadmagic", { api_key: "canary-own\ud800-4711" }, 400, "api_key"],
    ["a line break", "leadmagic", { api_key: "canary\r\nX-Other: 1" }, 400, "api_key"],
    ["a number", "leadmagic", { api_key: 12_345_678 }, 400, "api_key"],
    ["one of two secrets", "dataforseo", { api_key: ownKey }, 400, "api_key"],
    ["one of two keys", "porkbun", { api_key: `${ownKey}:` }, 400, "api_key"],
    ["a client id without a secret", "snovio", { api_key: `${ownKey}:` }, 400, "api_key"],
    ["a misspelt field", "leadmagic", { api_key: ownKey, falback: true }, 400, "falback"],
    ["another type", "leadmagic", { api_key: ownKey, fallback: "yes" }, 400, "fallback"],
    ["no URL", "leadmagic", { api_key: ownKey, base_url: "api" }, 400, "base_url"],
    ["http", "leadmagic", { api_key: ownKey, base_url: "http://example.com" }, 400, "base_url"],
    ["a private address", "leadmagic", { api_key: ownKey, base_url: "https://127.0.0.1" }, 400, "base_url"],
    ["the cloud's metadata", "leadmagic", { api_key: ownKey, base_url: "https://169.254.169.254/" }, 400, "base_url"],
    ["an embedded address", "leadmagic", { api_key: ownKey, base_url: "https://[::ffff:10.0.0.1]" }, 400, "base_url"],
    ["a user in the URL", "leadmagic", { api_key: ownKey, base_url: "https://a:b@example.com" }, 400, "base_url"],
    ["a secret in the URL", "leadmagic", { api_key: ownKey, base_url: "https://example.com/?key=1" }, 400, "base_url"]
  ]
  test.each(mistakes)("%s is refused, and the field is named", async (_name, provider, body, status, path) => {
    const refused = await put(body, provider)
    expect(refused.status).toBe(status)
    expect(refused.body.error.details[0].path).toBe(path)
    expect(refused.text).not.toContain("canary")
    expect((await org.get("/v1/provider-accounts")).body.items).toEqual([])
  })

  test("both secrets of a provider that takes two are one text", async () => {
    expect((await put({ api_key: "login:canary:pass 4711" }, "dataforseo")).body).toMatchObject({ last_four: "4711" })
    expect((await put({ api_key: "pk1_first:sk1_second" }, "porkbun")).body).toMatchObject({ last_four: "cond" })
  })
})

describe("a run through it", () => {
  test("uses the customer's key and charges the fee; other organizations use the service's account at its price", async () => {
    playing()
    await put({ api_key: ownKey })
    const quote = await org.post("/v1/quote", pinned)
    expect(quote.body).toMatchObject({ maximum: fee, hold: fee, would: "run" })
    expect(quote.body.offers[0]).toMatchObject({ provider: "leadmagic", account: "own", price: fee, chosen: true })
    const inspected = await org.post("/v1/inspect", { capability: "email.verify" })
    const offers: ReadonlyArray<{ provider: string }> = inspected.body.offers
    expect(offers.find(({ provider }) => provider === "leadmagic")).toMatchObject({
      own_account: { fee, fallback: false },
      price: { amount: price }
    })
    const foreign = await other.post("/v1/inspect", { capability: "email.verify" })
    expect(foreign.text).not.toContain("own_account")
    const mine = await org.run(pinned)
    expect(mine.body).toMatchObject({
      status: "succeeded",
      provider: "leadmagic",
      billing: { charged: fee, platform_funded: false }
    })
    expect(mine.body.routing_reason).toContain("leadmagic (your account), quoted at $0.001")
    expect(mine.body.routing_reason).toBe(quote.body.routing_reason)
    expect(outcomes(mine.body)).toEqual(["leadmagic own succeeded"])
    const theirs = await other.run(pinned)
    expect(theirs.body).toMatchObject({ status: "succeeded", billing: { charged: price, platform_funded: true } })
    const shown = async () => (await org.get(`/v1/runs/${mine.body.run_id}`)).body.billing.platform_funded
    expect([await shown(), (await org.list()).body.items[0].billing.platform_funded]).toEqual([false, false])
    expect(theirs.body.routing_reason).not.toContain("your account")
    expect(outcomes(theirs.body)).toEqual(["leadmagic platform succeeded"])
    expect(keys()).toEqual([ownKey, "s3cret-of-the/account"])
    expect(await moved(org)).toEqual(["bonus 1.00", `reserve -${fee}`, `settle -${fee}`])
    const [stored] = await app.sql("SELECT provider_cost FROM runs WHERE run_id = $1", [mine.body.run_id])
    expect(stored).toEqual({ provider_cost: "0" })
    const receipt = await org.get(`/v1/runs/${mine.body.run_id}/receipt`)
    const signed = JSON.parse(Buffer.from(receipt.text.split(".")[1] ?? "", "base64url").toString())
    expect(signed).toMatchObject({ charge: fee, hold: fee, attempts: [{ provider: "leadmagic", account: "own" }] })
    expect(signed.decision.offers[0]).toMatchObject({ provider: "leadmagic", account: "own", price: fee })
  })

  test("ranks in the same waterfall, and after it is removed the service's account is used", async () => {
    playing()
    await put({ api_key: ownKey })
    there.play("leadmagic", answer(500, "oops"), delivering)
    there.play("millionverifier", answer(200, { result: "ok", email: "jane.doe@example.com" }))
    const { body } = await org.run({ ...verify(), routing: { strategy: "cheapest" } })
    expect(outcomes(body)).toEqual(["leadmagic own provider_error", "millionverifier platform succeeded"])
    expect(body.billing.charged).toBe("0.00444")
    await app.call(session, "DELETE", "/v1/provider-accounts/leadmagic")
    expect(outcomes((await org.run(pinned)).body)).toEqual(["leadmagic platform succeeded"])
  })

  test("a run that waits for its call says whose account will make it", async () => {
    const held = Promise.withResolvers<void>()
    there.play("leadmagic", (heard) => held.promise.then(() => delivering(heard)), delivering)
    await put({ api_key: ownKey })
    const first = (await org.run({ ...pinned, async: true })).body
    await until(
      "the call",
      () => Promise.resolve(keys().length),
      (calls) => calls === 1
    )
    const queued = (await org.run({ ...pinned, async: true })).body
    const { body } = await until(
      "the queue",
      () => org.get(`/v1/runs/${queued.run_id}`),
      (one) => one.body.status === "queued"
    )
    const listed = (await org.list()).body.items[0]
    expect(listed.status).toBe("queued")
    for (const { billing } of [first, queued, body, listed]) expect(billing.platform_funded).toBe(false)
    held.resolve()
    expect((await org.get(`/v1/runs/${queued.run_id}?wait=30`)).body.billing.platform_funded).toBe(false)
  })

  test("a raw endpoint is called through it, for the fee", async () => {
    there.play("leadmagic", answer(200, { credits_consumed: 5, data: 1 }))
    await put({ api_key: ownKey })
    const raw = { provider: "leadmagic", endpoint: "/v1/people/email-validation", input: { email: "jane@example.com" } }
    const quote = await org.post("/v1/quote", raw)
    expect(quote.body).toMatchObject({ hold: fee, maximum: fee, offers: [{ account: "own", price: fee }] })
    const { body } = await org.run(raw)
    expect(body).toMatchObject({ status: "succeeded", billing: { charged: fee, platform_funded: false } })
    expect(body.routing_reason).toContain("through your account")
    expect(keys()).toEqual([ownKey])
  })
})

test("a recipient on the provider's suppression list ends the run: no other account and no other provider is asked", async () => {
  const inactive = answer(422, { ErrorCode: 406, Message: "Found inactive addresses: jane@example.com." })
  there.play("postmark", ...Array.from({ length: 7 }, () => inactive))
  await put({ api_key: ownKey, fallback: true }, "postmark")
  await app.sql("INSERT INTO owned_resources (kind, resource_id, org_id) VALUES ('sender', 'me@own.example', $1)", [
    org.org_id
  ])
  const input = { from: "me@own.example", to: ["jane@example.com"], subject: "Hello", text: "Hello Jane" }
  const send = { capability: "email.send", input, routing: { strategy: "cheapest" } }
  const { body: quote } = await org.post("/v1/quote", send)
  const chosen = quote.offers.filter((one: { chosen: boolean }) => one.chosen)
  expect(chosen.map((one: { provider: string }) => one.provider)).toEqual(["postmark", "postmark", "resend"])
  const { status, body } = await org.run(send)
  expect([status, body.status, body.billing.charged]).toEqual([502, "failed", null])
  expect(outcomes(body)).toEqual(["postmark own recipient_suppressed"])
  expect(body.error).toEqual({ code: "provider_error", message: expect.stringContaining("suppression list") })
  expect(body.hints).toEqual([expect.stringContaining("you have to remove the address")])
  expect(await moved(org)).toEqual(["bonus 1.00", "reserve -0.00216", "release 0.00216"])
  // The account works, so it is not paused.
  for (const subject of ["2", "3", "4", "5", "6", "7"]) {
    const { body: again } = await org.run({ ...send, input: { ...input, subject } })
    expect(outcomes(again)).toEqual(["postmark own recipient_suppressed"])
  }
})

describe("a refused key", () => {
  test("without fallback the service's account is not called", async () => {
    playing()
    await put({ api_key: badKey })
    const { body } = await org.run(pinned)
    expect(body).toMatchObject({ status: "failed", error: { code: "provider_error" } })
    expect(outcomes(body)).toEqual(["leadmagic own provider_account"])
    expect(body.hints.join()).toContain("rungate provider-accounts set leadmagic")
    expect(keys()).toEqual([badKey])
    expect(JSON.stringify(body)).not.toContain(badKey)
    expect(await moved(org)).toEqual(["bonus 1.00", `reserve -${fee}`, `release ${fee}`])
  })

  test("with fallback the service's account delivers at its price, and the hold covers it", async () => {
    playing()
    await put({ api_key: badKey, fallback: true })
    const quote = await org.post("/v1/quote", pinned)
    expect(quote.body.hold).toBe(price)
    expect(quote.body.offers.slice(0, 2)).toMatchObject([
      { provider: "leadmagic", account: "own", price: fee, chosen: true },
      { provider: "leadmagic", price, chosen: true }
    ])
    const { body } = await org.run(pinned)
    expect(body).toMatchObject({ status: "succeeded", billing: { charged: price, platform_funded: true } })
    expect(body.routing_reason).toContain(
      "if it refuses your account, this service's account is called, quoted at $0.003"
    )
    expect(outcomes(body)).toEqual(["leadmagic own provider_account", "leadmagic platform succeeded"])
    expect(keys()).toEqual([badKey, "s3cret-of-the/account"])
    // The own account is paused for a while.
    expect(outcomes((await org.run(pinned)).body)).toEqual(["leadmagic platform succeeded"])
    // A new key is called at once.
    await put({ api_key: ownKey, fallback: true })
    expect(outcomes((await org.run(pinned)).body)).toEqual(["leadmagic own succeeded"])
  })

  test("fallback is for a refusal only, and never above the caller's cap", async () => {
    await put({ api_key: ownKey, fallback: true })
    there.play("leadmagic", answer(500, "oops"))
    expect(outcomes((await org.run(pinned)).body)).toEqual(["leadmagic own provider_error"])
    playing()
    await put({ api_key: badKey, fallback: true })
    const capped = { ...verify(), routing: { provider: "leadmagic", max_cost: "0.002" } }
    const { body } = await org.run(capped)
    expect(outcomes(body)).toEqual(["leadmagic own provider_account"])
    expect(keys().filter((key) => key?.includes("s3cret"))).toEqual([])
  })

  test("a run makes three attempts in all, those at the service's account included", async () => {
    const refused = answer(401, {})
    there.play("leadmagic", refused, answer(500, "oops"))
    there.play("millionverifier", refused, answer(200, { result: "ok", email: "jane.doe@example.com" }))
    for (const provider of ["leadmagic", "millionverifier"]) await put({ api_key: badKey, fallback: true }, provider)
    const { body } = await org.run({ ...verify(), routing: { strategy: "cheapest" } })
    expect(outcomes(body)).toEqual([
      "leadmagic own provider_account",
      "leadmagic platform provider_error",
      "millionverifier own provider_account"
    ])
    expect(body).toMatchObject({ status: "failed", billing: { charged: null } })
    expect(there.heard("millionverifier")).toHaveLength(1)
  })

  test("affects nobody else: neither the provider's health, nor a breaker, nor a pause", async () => {
    const health = async () =>
      (
        await app.sql(
          "SELECT coalesce(sum(count), 0)::int AS calls FROM attempt_windows WHERE subject LIKE '%leadmagic'"
        )
      )[0]
    const before = await health()
    await put({ api_key: badKey })
    there.play("leadmagic", answer(429, {}, { "retry-after": "600" }))
    expect(outcomes((await org.run(pinned)).body)).toEqual(["leadmagic own provider_rate_limited"])
    await put({ api_key: badKey })
    playing(20)
    for (let calls = 0; calls < 5; calls++) await org.run(pinned)
    expect(await health()).toEqual(before)
    expect(outcomes((await other.run(pinned)).body)).toEqual(["leadmagic platform succeeded"])
    // The organization's own failures don't pause the service's account for it either.
    await app.call(session, "DELETE", "/v1/provider-accounts/leadmagic")
    expect(outcomes((await org.run(pinned)).body)).toEqual(["leadmagic platform succeeded"])
  })
})

test("a run of an organization without accounts reads nothing about accounts", async () => {
  playing()
  await put({ api_key: ownKey })
  await app.sql("ALTER TABLE provider_accounts RENAME TO provider_accounts_away")
  try {
    const { body } = await other.run(pinned)
    expect(outcomes(body)).toEqual(["leadmagic platform succeeded"])
  } finally {
    await app.sql("ALTER TABLE provider_accounts_away RENAME TO provider_accounts")
  }
})

test("another process follows a change, and after a removal it never uses the key, whatever it planned", async () => {
  const second = await startApp({ beside: app, settings })
  try {
    playing(200)
    await put({ api_key: ownKey })
    const throughSecond = async () => outcomes((await org.over(second).run(pinned)).body)
    await until("the other process uses the account", throughSecond, ([one]) => one === "leadmagic own succeeded")
    await app.sql("DELETE FROM provider_accounts WHERE org_id = $1", [org.org_id])
    there.forget()
    expect(await throughSecond()).toEqual(["leadmagic own provider_account"])
    expect(keys()).toEqual([])
    playing(200)
    await put({ api_key: badKey })
    await app.call(session, "DELETE", "/v1/provider-accounts/leadmagic")
    await until("the other process knows", throughSecond, ([one]) => one === "leadmagic platform succeeded")
    expect(keys().filter((key) => key === ownKey)).toEqual([])
  } finally {
    await second.stop()
  }
})

test("T48 no key is in the database, in a log or in an answer", async () => {
  playing()
  const answers: Array<string> = []
  for (const api_key of [ownKey, badKey]) {
    answers.push((await put({ api_key, fallback: true })).text)
    const run = await org.run({ ...pinned, response: { include_raw: true } })
    answers.push(run.text, (await org.get(`/v1/runs/${run.body.run_id}/receipt`)).text)
  }
  for (const path of ["/v1/provider-accounts", "/v1/runs", "/v1/events", "/v1/usage"])
    answers.push((await org.get(path)).text)
  answers.push((await app.call(session, "GET", "/v1/audit-log")).text, await app.metrics())
  const stored = await dumpDatabase(app)
  const places = [
    ...stored,
    ...app.logs.map((text) => ({ place: "log", text })),
    ...answers.map((text) => ({ place: "answer", text }))
  ]
  const found = hitsIn(places, { "own key": ownKey, "bad key": badKey, "part of a key": "canary-" })
  expect(found).toEqual([])
  expect(stored.some(({ place }) => place.includes("provider_accounts"))).toBe(true)
  figures("own accounts at rest", { places: places.length, hits: found.length })
})

describe("rotation of the encryption key", () => {
  const sealedBy = async () => {
    const [row] = await app.sql("SELECT split_part(secret, '.', 2) AS name FROM provider_accounts WHERE org_id = $1", [
      org.org_id
    ])
    return row?.["name"]
  }

  test("the new key encrypts again what the old one has encrypted, and then the old one is not needed", async () => {
    await put({ api_key: ownKey, fallback: true })
    const before = await sealedBy()
    const beside = (keys: string) => startApp({ beside: app, settings: { ...settings, RUNGATE_ENCRYPTION_KEY: keys } })
    const both = await beside(`${encryptionKey(2)},${encryptionKey(1)}`)
    try {
      await until("the key is encrypted again", sealedBy, (now) => now !== before)
      expect(both.logs.join()).toContain("provider accounts: encrypted")
    } finally {
      await both.stop()
    }
    const changes = await app.call(session, "GET", "/v1/audit-log?action=provider_account.changed")
    expect(changes.body.items).toEqual([])
    const rotated = await beside(encryptionKey(2))
    const accounts = Effect.runSync(Effect.provideContext(Effect.serviceOption(ProviderAccounts), rotated.context))
    try {
      const opened = await Effect.runPromise(Option.getOrThrow(accounts).open(org.org_id, "leadmagic"))
      expect(Redacted.value(opened.api_key)).toBe(ownKey)
    } finally {
      await rotated.stop()
    }
  })

  test("a key that can't be decrypted is as one that the provider refused", async () => {
    playing()
    await put({ api_key: ownKey, fallback: true })
    await app.sql("UPDATE provider_accounts SET secret = 'v1.AAAAAAAA.AAAAAAAAAAAAAAAA.AAAA' WHERE org_id = $1", [
      org.org_id
    ])
    const { body } = await org.run(pinned)
    expect(outcomes(body)).toEqual(["leadmagic own provider_account", "leadmagic platform succeeded"])
    expect(body.attempts[0].detail).toContain("set it again")
  })

  test("a secret that is copied to another organization opens nothing there", async () => {
    playing()
    await put({ api_key: ownKey })
    const theirs = await other.session()
    await put({ api_key: badKey }, "leadmagic", theirs)
    await app.sql(
      `UPDATE provider_accounts SET secret = (SELECT secret FROM provider_accounts WHERE org_id = $1) WHERE org_id = $2`,
      [org.org_id, other.org_id]
    )
    expect(outcomes((await other.run(pinned)).body)).toEqual(["leadmagic own provider_account"])
    expect(keys()).toEqual([])
  })
})
