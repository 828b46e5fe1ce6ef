/** The configuration as code: what a file changes, that it is applied whole or not at all, and that applying an export changes nothing. */
import { afterEach, describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Client } from "pg"
import { until, verify, withApp } from "../../kit/app.ts"
import { howMany } from "../../kit/input-samples.ts"

const app = withApp({ settings: { RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" } })
afterEach(async () => {
  await app.books()
})

type Body = Readonly<Record<string, unknown>>

const begun = async (balance = "10.00") => {
  const org = await app.tenant(balance)
  const session = await org.session()
  // A machine under load does not compare a file within the service's limit. The service says so, changes nothing, and is asked again.
  const send = (method: string, path: string, body?: unknown) =>
    until(
      `an answer of ${path}`,
      () => app.call(session, method, path, body === undefined ? {} : { body }),
      ({ status }) => status !== 503
    )
  const preview = (configuration: unknown, more: Body = {}) =>
    send("POST", "/v1/configuration/preview", { configuration, ...more })
  const exported = async () => (await send("GET", "/v1/configuration")).body
  const put = (configuration: unknown, more: Body) => send("PUT", "/v1/configuration", { configuration, ...more })
  const apply = async (configuration: unknown, more: Body = {}) => {
    const { status, body } = await preview(configuration, more)
    expect([status, body.error]).toEqual([200, undefined])
    const applied = await put(configuration, { ...more, digest: body.digest })
    expect([applied.status, applied.body.error]).toEqual([200, undefined])
    expect(applied.body.changes).toEqual(body.changes)
    return applied.body
  }
  const rows = async () =>
    JSON.stringify([
      (await send("GET", "/v1/configuration")).body,
      await app.sql("SELECT count(*)::int AS n FROM audit_log WHERE org_id = $1", [org.org_id]),
      await app.sql("SELECT version, budget_labels FROM wallets WHERE org_id = $1", [org.org_id])
    ])
  return { org, session, send, preview, put, apply, exported, rows }
}

const whole = {
  keys: [
    {
      name: "agent",
      budget: { limit: "5", period: "day" },
      allow: { capabilities: ["email.find", "email.verify"], raw: null, max_cost: "0.5" },
      expires_at: "2099-12-31T00:00:00Z"
    },
    { name: "ci", allow: {} }
  ],
  spend_guard: { per_run_limit: "1", daily_limit: "20.0", low_balance: "2.00", contact_guard_days: 30 },
  webhooks: [
    { url: "https://example.com/hooks", events: ["run.finished", "run.finished", "wallet.low"], status: "paused" }
  ],
  label_budgets: [
    { label: "customer", value: "acme", limit: "25", period: "month" },
    { label: "customer", limit: "1.00", period: "day" }
  ]
}

describe("a configuration", () => {
  test("is applied, with new secrets once, and changes nothing the second time", async () => {
    const { org, apply, exported, preview } = await begun()
    const { changes, created } = await apply(whole)
    expect(changes).toContainEqual({
      action: "change",
      section: "spend_guard",
      name: "spend_guard",
      fields: expect.arrayContaining([{ field: "daily_limit", before: null, after: "$20.00" }])
    })
    expect(changes.map((one: { action: string; name: string }) => `${one.action} ${one.name}`)).toEqual([
      "change spend_guard",
      ...["create agent", "create ci", "create https://example.com/hooks", "create customer=acme", "create customer"]
    ])
    const [key, , hook] = created
    expect([key.name, hook.secret]).toEqual(["agent", expect.stringMatching(/^whsec_/)])
    expect((await app.call(key.secret, "GET", "/v1/runs")).status).toBe(200)
    expect((await preview(whole)).body).toMatchObject({ changes: [], replay: null })
    expect((await apply(whole)).created).toEqual([])
    const { configuration } = await exported()
    expect(JSON.stringify(configuration)).not.toContain("whsec_")
    expect(configuration.keys[0]).toEqual({
      name: "agent",
      expires_at: "2099-12-31T00:00:00.000Z",
      budget: { limit: "5.00", period: "day" },
      allow: { capabilities: ["email.find", "email.verify"], max_cost: "0.50" }
    })
    expect((await preview(configuration, { prune: true })).body.changes).toEqual([])
    const log = await app.sql(
      "SELECT action, actor FROM audit_log WHERE org_id = $1 AND action ~ '^(key|spend_guard|webhook|label_budget)' ORDER BY 1",
      [org.org_id]
    )
    expect(new Set(log.map(({ action }) => String(action).split(".")[0]))).toEqual(
      new Set(["key", "key_budget", "label_budget", "spend_guard", "webhook"])
    )
  })

  test("leaves what it does not name, unless it is pruned", async () => {
    const { apply, exported } = await begun()
    await apply(whole)
    const { changes } = await apply({ keys: [{ name: "agent", budget: { limit: "9.00", period: "day" } }] })
    expect(changes).toEqual([
      {
        action: "change",
        section: "keys",
        name: "agent",
        fields: [{ field: "budget", before: "limit $5.00, period day", after: "limit $9.00, period day" }]
      }
    ])
    const before = (await exported()).configuration
    expect(before.keys.find((one: { name: string }) => one.name === "agent").allow).not.toBeNull()
    await apply({ keys: [{ name: "agent" }], label_budgets: [] }, { prune: true })
    const after = (await exported()).configuration
    expect(after).toEqual({
      ...before,
      keys: before.keys.filter((one: { name: string }) => one.name === "agent"),
      label_budgets: []
    })
  })

  test("is refused whole when one of its changes is, and leaves nothing when the service fails in the middle", async () => {
    const { preview, put, exported, rows } = await begun()
    const { digest } = await exported()
    const before = await rows()
    const wrong = { ...whole, keys: [{ name: "a" }, { name: "b", allow: { capabilities: ["email.fnd"] } }] }
    for (const answer of [await preview(wrong), await put(wrong, { digest })]) {
      expect([answer.status, answer.body.error.details[0].path]).toEqual([
        400,
        "configuration.keys.1.allow.capabilities.0"
      ])
      expect(answer.body.error.message).toContain("Did you mean `email.find`?")
    }
    expect(await rows()).toBe(before)
    await app.sql(`CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$`)
    await app.sql(
      `CREATE TRIGGER planted BEFORE INSERT ON label_budgets FOR EACH ROW WHEN (NEW.value IS NULL) EXECUTE FUNCTION planted()`
    )
    expect((await put(whole, { digest })).status).toBe(500)
    await app.sql("DROP FUNCTION planted CASCADE")
    expect(await rows()).toBe(before)
    expect((await put(whole, { digest })).status).toBe(200)
  })

  test("is refused when anything changed since the preview, also when it is sent twice", async () => {
    const { preview, put, send, exported } = await begun()
    const { digest } = (await preview(whole)).body
    await send("POST", "/v1/spend-guard", { daily_limit: "3.00" })
    const late = await put(whole, { digest })
    expect([late.status, late.body.error.code]).toEqual([409, "configuration_changed"])
    const now = (await preview(whole)).body.digest
    const both = await Promise.all([put(whole, { digest: now }), put(whole, { digest: now })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await exported()).configuration.keys.map((one: { name: string }) => one.name)).toEqual([
      "agent",
      "ci",
      "test key"
    ])
  })

  test("of another organization is neither seen nor changed", async () => {
    const [one, other] = [await begun(), await begun()]
    await one.apply(whole)
    const before = await one.rows()
    await other.apply({ keys: [{ name: "agent" }], label_budgets: [], webhooks: [] }, { prune: true })
    expect(await one.rows()).toBe(before)
    const { digest } = await one.exported()
    expect((await other.put({}, { digest })).status).toBe(409)
  })

  test("needs an admin, and no key may apply it", async () => {
    const { org, session, send } = await begun()
    await org.session()
    const { user } = (await send("GET", "/v1/auth/session")).body
    await app.sql("UPDATE members SET role = 'member' WHERE org_id = $1 AND user_id = $2", [org.org_id, user.id])
    for (const token of [session, org.key])
      expect((await app.call(token, "POST", "/v1/configuration/preview", { body: { configuration: {} } })).status).toBe(
        403
      )
    expect((await send("GET", "/v1/configuration")).status).toBe(200)
  })

  test("names what can't be told apart, and what is unknown, with its place", async () => {
    const { send, preview, exported } = await begun()
    for (const _ of [1, 2]) await send("POST", "/v1/api-keys", { name: "twin", environment: "test" })
    const twins = await preview({ keys: [{ name: "twin", budget: null }] })
    expect([twins.status, twins.body.error.message]).toEqual([
      400,
      expect.stringMatching(/by the name "twin": key_\w+, key_\w+\. Rename or remove all but one/)
    ])
    expect((await preview({ keys: [{ name: "other" }] })).status).toBe(200)
    expect((await exported()).error.details[0].path).toBe("configuration.keys")
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [{ keys: [{ name: "a" }, { name: "a" }] }, "configuration.keys.1"],
      [{ keys: [{ name: "a", budget: { limit: 5, period: "day" } }] }, "configuration.keys.0.budget.limit"],
      [{ keys: [{ name: "a", budgt: null }] }, "configuration.keys.0.budgt"],
      [{ keys: [{ name: "a", expires_at: "2020-01-01T00:00:00Z" }] }, "configuration.keys.0.expires_at"],
      [{ webhooks: [{ url: "ftp://example.com", events: ["run.finished"] }] }, "configuration.webhooks.0.url"],
      [{ spend_guard: { time_zone: "Europe/Berln" } }, "configuration.spend_guard.time_zone"],
      [{ label_budgets: [{ label: "a b", limit: "1", period: "day" }] }, "configuration.label_budgets.0.label"],
      [JSON.parse('{"__proto__": {"keys": []}}'), "configuration.__proto__"],
      [{ constructor: {} }, "configuration.constructor"],
      [
        {
          label_budgets: Array.from({ length: 501 }, (_, n) => ({
            label: "l",
            value: `${n}`,
            limit: "1",
            period: "day"
          }))
        },
        "configuration"
      ]
    ]
    for (const [configuration, path] of cases) {
      const { status, body } = await preview(configuration)
      expect([status, body.error?.details?.[0]?.path]).toEqual([400, path])
    }
  })
})

test("the runs of the last 30 days that changed rules would have blocked are counted by rule", async () => {
  const { org, preview } = await begun()
  for (const n of [1, 2, 3]) {
    const { status } = await org.post("/v1/run", {
      ...verify(`replay${n}`),
      metadata: { customer: n < 3 ? "acme" : "b" }
    })
    expect(status).toBe(200)
  }
  const blocked = async (configuration: unknown, more: Body = {}) => {
    const { replay } = (await preview(configuration, more)).body
    return {
      ...replay,
      rules: Object.fromEntries(
        replay.rules.map((one: { rule: string; blocked_runs: number }) => [one.rule, one.blocked_runs])
      )
    }
  }
  // A run holds 0.0048 and is charged 0.003.
  const daily = await blocked({ spend_guard: { daily_limit: "0.0100", per_run_limit: "0.0048" } })
  expect(daily).toMatchObject({
    ...{ runs: 3, blocked_runs: 1, cut: false },
    rules: { "spend_guard.daily_limit": 1, "spend_guard.per_run_limit": 0 }
  })
  expect(await blocked({ spend_guard: { per_run_limit: "0.0047" } })).toMatchObject({ blocked_runs: 3 })
  expect(await blocked({ spend_guard: { contact_guard_days: 30 } })).toMatchObject({
    ...{ runs: 0, blocked_runs: 0, not_replayed: ["spend_guard.contact_guard_days"] }
  })
  expect(await blocked({ spend_guard: { daily_limit: "0" } })).toMatchObject({ blocked_runs: 3 })
  expect(
    await blocked({ keys: [{ name: "test key", allow: { capabilities: ["email.find"], providers: ["hunter"] } }] })
  ).toMatchObject({
    ...{ blocked_runs: 3, rules: { "keys.test key.allow": 3 }, not_replayed: ["keys.test key.allow.providers"] }
  })
  expect(await blocked({ keys: [{ name: "test key", budget: { limit: "0.0060", period: "total" } }] })).toMatchObject({
    rules: { "keys.test key.budget": 2 }
  })
  const each = { label: "customer", limit: "0.0050", period: "month" }
  expect(await blocked({ label_budgets: [each] })).toMatchObject({ rules: { "label_budgets.customer": 1 } })
  // A word that each object of JavaScript inherits is no label of these runs.
  expect(await blocked({ label_budgets: [{ ...each, label: "constructor" }] })).toMatchObject({
    rules: { "label_budgets.constructor": 0 }
  })
  expect(await blocked({ label_budgets: [each, { ...each, value: "acme", limit: "0.0100" }] })).toMatchObject({
    ...{ blocked_runs: 0, rules: { "label_budgets.customer": 0, "label_budgets.customer=acme": 0 } }
  })
  expect(await blocked({ keys: [] }, { prune: true })).toMatchObject({ rules: { "keys.test key": 3 } })
})

test("many previews of one organization let those of others through", async () => {
  const [flood, other] = [await begun(), await begun()]
  const client = new Client({ connectionString: app.databaseUrl })
  await client.connect()
  try {
    await client.query("BEGIN")
    await client.query("SELECT 1 FROM wallets WHERE org_id = $1 FOR UPDATE", [flood.org.org_id])
    // Each waits for the lock up to two seconds.
    let answered = 0
    const preview = () => app.call(flood.session, "POST", "/v1/configuration/preview", { body: { configuration: {} } })
    const many = Array.from({ length: 20 }, () => preview().finally(() => (answered += 1)))
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    await until(
      "one waits",
      () => app.sql(waiting),
      (rows) => rows.length === 1
    )
    expect((await other.preview(whole)).status).toBe(200)
    expect(answered).toBeLessThan(many.length)
    await client.query("ROLLBACK")
    for (const { status } of await Promise.all(many)) expect([200, 503]).toContain(status)
  } finally {
    await client.end()
  }
})

const amount = fc.integer({ min: 0, max: 5_000_000 }).map((cents) => (cents / 100).toFixed(2))
const budget = fc.record({ limit: amount, period: fc.constantFrom("day", "week", "month", "total") })
const orNull = <A>(one: fc.Arbitrary<A>) => fc.option(one, { nil: null })
const configurations = fc.record({
  keys: fc.uniqueArray(
    fc.record(
      {
        name: fc.constantFrom("a", "b", "yes", "1.0", "# c", "ü: x"),
        budget: orNull(budget),
        allow: orNull(
          fc.record(
            {
              capabilities: orNull(fc.subarray(["email.find", "email.verify"])),
              raw: orNull(fc.boolean()),
              read: orNull(fc.constantFrom("own", "organization")),
              max_cost: orNull(amount),
              labels: orNull(fc.dictionary(fc.constantFrom("customer", "team"), fc.constantFrom("x", "y")))
            },
            { requiredKeys: [] }
          )
        ),
        expires_at: orNull(fc.constantFrom("2099-01-01T00:00:00Z", "2098-05-05T10:00:00+02:00"))
      },
      { requiredKeys: ["name"] }
    ),
    { selector: ({ name }) => name, maxLength: 4 }
  ),
  spend_guard: fc.record(
    { per_run_limit: orNull(amount), daily_limit: orNull(amount), low_balance: orNull(amount) },
    { requiredKeys: [] }
  ),
  webhooks: fc.uniqueArray(
    fc.record(
      {
        url: fc.constantFrom("https://example.com/a", "https://EXAMPLE.com/b", "https://example.com:443/c?x=1"),
        events: fc.uniqueArray(fc.constantFrom("run.finished", "wallet.low", "topup.failed"), { minLength: 1 }),
        status: orNull(fc.constantFrom("active", "paused"))
      },
      { requiredKeys: ["url", "events"] }
    ),
    { selector: ({ url }) => url, maxLength: 3 }
  ),
  approval_rules: fc.uniqueArray(
    fc.record(
      {
        name: fc.constantFrom("Large", "b: c"),
        min_hold: orNull(amount),
        capabilities: orNull(fc.subarray(["email.find", "email.verify"], { minLength: 1 })),
        role: orNull(fc.constantFrom("member", "owner")),
        active: orNull(fc.boolean()),
        labels: orNull(fc.dictionary(fc.constantFrom("customer"), fc.constantFrom("x")))
      },
      { requiredKeys: ["name"] }
    ),
    { selector: ({ name }) => name, maxLength: 2 }
  ),
  label_budgets: fc.uniqueArray(
    fc
      .tuple(fc.constantFrom("customer", "team"), orNull(fc.constantFrom("x", "y=z", " ")), budget)
      .map(([label, value, rest]) => ({ label, value, ...rest })),
    { selector: ({ label, value }) => `${label}=${value}`, maxLength: 4 }
  )
})

const ruled = (conditions: { readonly min_hold?: string }) => ({
  ...{ keys: [], spend_guard: {}, webhooks: [], label_budgets: [] },
  approval_rules: [{ name: "Large" as const, ...conditions }]
})

test("any configuration, applied, leaves nothing to change, and an export brings its state back", async () => {
  const { apply, exported, preview } = await begun()
  await fc.assert(
    fc.asyncProperty(configurations, configurations, async (first, second) => {
      await apply(first, { prune: true })
      expect((await preview(first, { prune: true })).body.changes).toEqual([])
      const a = (await exported()).configuration
      expect((await preview(a, { prune: true })).body.changes).toEqual([])
      await apply(second, { prune: true })
      await apply(a, { prune: true })
      expect((await exported()).configuration).toEqual(a)
    }),
    // An export says of each condition whether the rule has it, so the one that the second file adds goes again.
    { numRuns: howMany(20, 5), examples: [[ruled({}), ruled({ min_hold: "1.00" })]] }
  )
})
