/**
 * The same payload through HTTP, the command's flags, an MCP tool and the console's form: keys with rights and budget, allowances, webhooks,
 * the spend guard, the automatic top-up and senders. Each door sends one and the same request, or refuses it at the same field.
 */
import { expect, test } from "bun:test"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { parseOptions } from "../../src/http/api/Api.ts"
import { AllowancesApi } from "../../src/http/api/accounts/Allowances.ts"
import { KeysApi } from "../../src/http/api/accounts/Keys.ts"
import { SendersApi } from "../../src/http/api/accounts/Senders.ts"
import { TopUpsApi } from "../../src/http/api/TopUps.ts"
import { WalletApi } from "../../src/http/api/Wallet.ts"
import { WebhooksApi } from "../../src/http/api/Webhooks.ts"
import { draftOf, payloadOf } from "../../src/http/console/forms/draft.ts"
import { payloadForm } from "../../src/http/console/forms/payload.ts"
import type { ObjectField } from "../../src/http/console/forms/schema.ts"
import { malformedBody } from "../../src/http/middleware/MalformedRequest.ts"
import { eventKinds } from "../../src/schema/events/Event.ts"
import { howMany, sampleSeed } from "../kit/input-samples.ts"
import { called, type Left, typed } from "./doors.ts"

type Body = Readonly<Record<string, any>>
type Made = { readonly payload: unknown } | { readonly refused: ReadonlyArray<string> }

const seldom = <A, B>(good: fc.Arbitrary<A>, bad: fc.Arbitrary<B>) =>
  fc.oneof({ arbitrary: good, weight: 8 }, { arbitrary: bad, weight: 1 })
const micros = fc.integer({ min: 0, max: 2_000_000_000 })
const amount = seldom(
  micros.map((one) => (one / 1_000_000).toFixed(6)),
  fc.constantFrom("-1", "abc", "0.0000001", "1e3", "01.00", "99999999999")
)
const name = seldom(fc.stringMatching(/^[A-Za-z][\w .]{0,20}\w$/), fc.constant("x".repeat(201)))
const names = fc.array(name, { minLength: 1, maxLength: 3 })
/** What the console's inputs hold: whole minutes. */
const time = fc.integer({ min: 30_000_000, max: 60_000_000 }).map((minute) => new Date(minute * 60_000).toISOString())
const some = (fields: Record<string, fc.Arbitrary<unknown>>, requiredKeys: Array<string> = []) =>
  fc.record(fields, { requiredKeys }) as fc.Arbitrary<Body>

const allow = some({
  ...{ capabilities: names, providers: names, max_cost: amount },
  ...{ raw: fc.constant(true), read_only: fc.constant(true), mint: fc.constant(true) },
  read: seldom(fc.constantFrom("own", "organization"), fc.constant("all"))
}).filter((scope) => Object.keys(scope).length > 0)
const budget = some({ limit: amount, period: fc.constantFrom("day", "week", "month", "total") }, ["limit", "period"])

const flag = (word: string, value: unknown) =>
  (Array.isArray(value) ? value : value === undefined ? [] : [value]).flatMap((one) =>
    one === true ? [`--${word}`] : [`--${word}=${one}`]
  )
const scopeWords = ({ capabilities, providers, max_cost, raw, read_only, mint, read }: Body = {}) => [
  ...[...flag("allow-capability", capabilities), ...flag("allow-provider", providers), ...flag("max-cost", max_cost)],
  ...[
    ...flag("allow-raw", raw),
    ...flag("read-only", read_only),
    ...flag("allow-mint", mint),
    ...flag("allow-read", read)
  ]
]

interface Form {
  readonly name: string
  readonly endpoint: { readonly payload: ReadonlyMap<string, { readonly schemas: ReadonlyArray<Schema.Top> }> }
  readonly fields: ObjectField
  readonly bodies: fc.Arbitrary<Body>
  readonly words: (body: Body) => ReadonlyArray<string>
  /** The arguments of the tool that does the same. */
  readonly tool?: readonly [name: string, given: (body: Body) => Body]
  /** What a door fills by itself. */
  readonly filled?: ReadonlyArray<string>
}

const forms: ReadonlyArray<Form> = [
  {
    name: "a key",
    endpoint: KeysApi.endpoints.create,
    fields: payloadForm("keys", "create"),
    bodies: some({ name, environment: fc.constantFrom("test", "live"), budget, expires_at: time, allow }, [
      "name",
      "environment"
    ]),
    words: (body) => [
      ...["keys", "create", body["name"], "--environment", body["environment"]],
      ...flag("budget", body["budget"] && `${body["budget"].limit}/${body["budget"].period}`),
      ...[...flag("expires", body["expires_at"]), ...scopeWords(body["allow"])]
    ]
  },
  {
    name: "the change of a key",
    endpoint: KeysApi.endpoints.change,
    fields: payloadForm("keys", "change"),
    bodies: some({ name, budget, allow, expires_at: time }).filter((body) => Object.keys(body).length > 0),
    words: (body) => [
      ...["keys", "update", "key_1", ...flag("name", body["name"])],
      ...flag("budget", body["budget"] && `${body["budget"].limit}/${body["budget"].period}`),
      ...[...flag("expires", body["expires_at"]), ...scopeWords(body["allow"])]
    ]
  },
  {
    name: "an allowance",
    endpoint: AllowancesApi.endpoints.create,
    fields: payloadForm("allowances", "create"),
    bodies: some({ name, amount, expires_at: time, allow }, ["name", "amount", "expires_at"]),
    words: ({ name, amount, expires_at, allow }) => [
      ...["allowances", "create", name, `--amount=${amount}`, "--expires", expires_at, ...scopeWords(allow)]
    ],
    tool: ["allowances", ({ expires_at: _time, ...body }) => ({ action: "create", expires_in_seconds: 60, ...body })],
    filled: ["expires_at"]
  },
  {
    name: "a webhook",
    endpoint: WebhooksApi.endpoints.create,
    fields: payloadForm("webhooks", "create"),
    bodies: some(
      {
        url: seldom(fc.webUrl(), fc.constant(`https://example.com/${"x".repeat(2_000)}`)),
        events: fc.uniqueArray(seldom(fc.constantFrom<string>(...eventKinds), fc.constant("run.lost")), {
          minLength: 1
        })
      },
      ["url", "events"]
    ),
    words: ({ url, events }) => ["webhooks", "create", url, "--events", events.join(",")]
  },
  {
    name: "the spend guard",
    endpoint: WalletApi.endpoints.setGuard,
    fields: payloadForm("wallet", "setGuard"),
    bodies: some({
      ...{ per_run_limit: amount, daily_limit: amount, low_balance: amount },
      contact_guard_days: seldom(fc.integer({ min: 1, max: 365 }), fc.constantFrom(0, 366))
    }).filter((body) => Object.keys(body).length > 0),
    words: (body) => [
      ...["spend-guard", "set", ...flag("per-run", body["per_run_limit"]), ...flag("daily", body["daily_limit"])],
      ...[...flag("low-balance", body["low_balance"]), ...flag("contact-days", body["contact_guard_days"])]
    ]
  },
  {
    name: "the automatic top-up",
    endpoint: TopUpsApi.endpoints.setAutoTopup,
    fields: payloadForm("topups", "setAutoTopup"),
    bodies: some({ enabled: fc.constant(true), threshold: amount, amount }, ["enabled", "threshold", "amount"]),
    words: ({ threshold, amount }) => ["auto-topup", "set", `--threshold=${threshold}`, `--amount=${amount}`]
  },
  {
    name: "a sender",
    endpoint: SendersApi.endpoints.add,
    fields: payloadForm("senders", "add"),
    bodies: some({ domain: seldom(fc.domain(), fc.constant("x".repeat(254))) }, ["domain"]),
    words: ({ domain }) => ["senders", "add", domain]
  }
]

const jsonOf = (value: unknown) =>
  JSON.stringify(value, (_, one) => (typeof one === "bigint" ? `${one} microdollars` : one))
const without = (value: Body, names: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
/** Flags in another place or of another name than their field. */
const flagFields: Readonly<Record<string, string>> = {
  ...{ "allow-capability": "allow", "allow-provider": "allow", "max-cost": "allow", "allow-read": "allow" },
  ...{ "per-run": "per_run_limit", daily: "daily_limit", "contact-days": "contact_guard_days", expires: "expires_at" }
}
const refused = (paths: ReadonlyArray<string>): Made => ({
  refused: [...new Set(paths.map((path) => path.split(".")[0] ?? ""))]
})

const judge = ({ endpoint, filled = [] }: Form) => {
  const [payload] = endpoint.payload.values()
  const schema = payload?.schemas[0] ?? Schema.Unknown
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(schema as Schema.Codec<unknown>), parseOptions)
  return (text: string): Made => {
    const decoded = decode(JSON.parse(text))
    if (Result.isSuccess(decoded)) return { payload: without(JSON.parse(jsonOf(decoded.success)), filled) }
    return refused((malformedBody(text, decoded.failure).error.details ?? []).map(({ path }) => path))
  }
}

const arrived = (http: (text: string) => Made, left: Left): Made => {
  if (left._tag === "Sent") return http(left.text)
  const { details } = JSON.parse(left.words).error ?? {}
  if (details !== undefined) return refused(details.map(({ path }: { path: string }) => path))
  const options = [...left.words.matchAll(/"option":"(?:--)?([\w-]+)"|--([\w-]+) /g)].map(
    ([, one, other = ""]) => one ?? other
  )
  return refused(options.map((option) => flagFields[option] ?? option.replaceAll("-", "_")))
}

for (const form of forms)
  test(`${form.name} is the same request in every door`, async () => {
    const http = judge(form)
    const same = (door: string, body: Body, made: Made) => {
      const own = http(JSON.stringify(body))
      if (!("refused" in own) || !("refused" in made))
        return expect({ door, body, ...made }).toEqual({ door, body, ...own })
      expect([door, body, made.refused.length > 0]).toEqual([door, body, true])
      expect({ door, body, refused: own.refused }).toEqual({
        door,
        body,
        refused: expect.arrayContaining([...made.refused])
      })
    }
    for (const body of fc.sample(form.bodies, { seed: sampleSeed, numRuns: howMany(500, 25) })) {
      same("command", body, arrived(http, await typed(form.words(body))))
      same("console", body, http(JSON.stringify(payloadOf(form.fields, draftOf(form.fields, body)))))
      if (form.tool === undefined) continue
      const [tool, given] = form.tool
      same("tool", body, arrived(http, await called(tool, given(body))))
    }
  })
