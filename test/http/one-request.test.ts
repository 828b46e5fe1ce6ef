/**
 * One request, whatever door it comes through: HTTP, the flags of the command, the arguments of an MCP tool, a row of a batch and the form of
 * the console make the same run of it, or refuse it at the same field. A door that has no place for a part of a request is given it without.
 */
import { expect, test } from "bun:test"
import { Effect, Result, Schema } from "effect"
import fc from "fast-check"
import { unparse } from "papaparse"
import { parseOptions } from "../../src/http/api/Api.ts"
import { BatchRequest } from "../../src/http/api/Batches.ts"
import { RunRequest } from "../../src/http/api/Runs.ts"
import { guessedColumns, inputFieldsOf } from "../../src/http/client/Columns.ts"
import { formOf, inputsOf } from "../../src/http/console/pages/batches/new/inputs.ts"
import { type Inspected, partsOf } from "../../src/http/console/pages/catalog/useForm.ts"
import { begin, optionsFrom, requestOf as requestOfForm } from "../../src/http/console/pages/catalog/useForm.ts"
import { commandsOf } from "../../src/http/console/running/commands.ts"
import { type RunBody, withCap } from "../../src/http/console/running/request.ts"
import { malformedBody } from "../../src/http/middleware/MalformedRequest.ts"
import { batchRows } from "../../src/http/submission/BatchRows.ts"
import { csvRuns } from "../../src/http/submission/CsvRuns.ts"
import { requestOf } from "../../src/http/submission/SubmitRun.ts"
import { decodeRowRequest } from "../../src/schema/batches/RowRequest.ts"
import { shipped } from "../../src/layers/catalog/Endpoints.ts"
import { acceptOf, phoneTypes } from "../../src/schema/catalog/Acceptance.ts"
import { reachable } from "../../src/schema/catalog/Definitions.ts"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { isReuse, reuseSecondsDefault } from "../../src/schema/guards/Reuse.ts"
import { storedMetadata } from "../../src/schema/runs/Metadata.ts"
import { strategies } from "../../src/schema/runs/Routing.ts"
import { howMany, sampled, sampleSeed } from "../kit/input-samples.ts"
import { accepted } from "../kit/schema-inputs.ts"
import { called, type Left, typed } from "./doors.ts"

type Body = Readonly<Record<string, any>>
/** The run that a door makes of a request, or the names of the fields that it refuses. */
type Made = { readonly run: unknown } | { readonly refused: ReadonlyArray<string> }

const caller = { org_id: "o", key_id: null, access: null, request_id: "r", idempotency_key: null, fingerprint: "f" }
const runCaller = { ...caller, wait_millis: 0, metadata: null }

/** The fields of a request that stand alone in every door. */
const fields = [
  ...["capability", "provider", "endpoint", "method", "input", "path", "query", "strategy", "max_cost", "max_total"],
  ...["allow_fallback", "metadata", "reuse", "unless_contacted_within_seconds", "include_raw", "accept"]
]
const flags: Readonly<Record<string, string>> = {
  "no-fallback": "allow_fallback",
  "unless-contacted": "unless_contacted_within_seconds",
  "reuse-only": "reuse",
  ...{ "phone-type": "accept", "max-age": "accept", agree: "accept" }
}
/** `runs.0.routing.max_cost` as `max_cost`: doors have their fields in other places. */
const fieldOf = (path: string): string =>
  path
    .split(".")
    .filter((part) => fields.includes(part))
    .at(0) ?? path.replace(/^.*\./, "")
const placeOf = (path: string): string => fieldOf(path.replace(/^routing\.(provider|\w+)/, "$1"))
const refused = (paths: ReadonlyArray<string>): Made => ({ refused: [...new Set(paths.map(placeOf))].toSorted() })

const written = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (_, one) => (typeof one === "bigint" ? `${one} microdollars` : one)))
/** What of a planned run does not depend on who asks, with what absence means. */
const meant = ({ _tag, request }: { readonly _tag: string; readonly request: Body }): Made => {
  const { metadata, reuse, accept, input_text: _text, ...all } = request
  const rest = Object.fromEntries(Object.entries(all).filter(([name]) => !Object.hasOwn(runCaller, name)))
  // One recipient means the same as a list of one.
  if (rest["capability"] === "email.send") rest["input"] = { ...rest["input"], to: [rest["input"].to].flat() }
  const taken = isReuse(reuse) ? { ...reuse, max_age_seconds: reuse.max_age_seconds ?? reuseSecondsDefault } : null
  return { run: written({ _tag, ...rest, reuse: taken, accept: acceptOf(accept), metadata: storedMetadata(metadata) }) }
}

const decodeRun = Schema.decodeUnknownResult(Schema.toCodecJson(RunRequest), parseOptions)
const decodeBatch = Schema.decodeUnknownResult(Schema.toCodecJson(BatchRequest), parseOptions)
const refusal = (error: { readonly error: { readonly details?: ReadonlyArray<{ readonly path: string }> } }) =>
  refused((error.error.details ?? []).map(({ path }) => path))

/** HTTP: the body of `POST /v1/run`. */
const http = (text: string): Made => {
  const decoded = decodeRun(JSON.parse(text))
  if (Result.isFailure(decoded)) return refusal(malformedBody(text, decoded.failure))
  const { metadata = null } = decoded.success
  const planned = Effect.runSync(
    Effect.result(requestOf(decoded.success, { ...runCaller, metadata }, Effect.succeed(text)))
  )
  return Result.isFailure(planned) ? refusal(planned.failure) : meant(planned.success)
}

const arrived = (left: Left): Made => {
  if (left._tag === "Sent") return http(left.text)
  const { details } = JSON.parse(left.words).error ?? {}
  if (details !== undefined) return refused(details.map(({ path }: { path: string }) => path))
  const options = [...left.words.matchAll(/"option":"(?:--)?([\w-]+)"|(--[\w-]+) /g)]
  const names = options.map(([, option, flag = ""]) => (option ?? flag).replace(/^--/, ""))
  return refused(names.map((name) => flags[name] ?? name.replaceAll("-", "_")))
}

/** A batch: the row that is stored until it is started. */
const inBatch = (text: string): Made => {
  const decoded = decodeBatch(JSON.parse(text))
  if (Result.isFailure(decoded)) return refusal(malformedBody(text, decoded.failure))
  const rows = batchRows({ plan: () => Effect.succeed({}) } as never)(decoded.success.runs, runCaller)
  const stored = Effect.runSync(Effect.result(rows))
  if (Result.isFailure(stored)) return refusal(stored.failure)
  const { _tag, ...request } = decodeRowRequest(stored.success[0] ?? "")
  return meant({ _tag, request })
}

const flag = (name: string, value: unknown): ReadonlyArray<string> =>
  value === undefined ? [] : [`--${name}`, typeof value === "string" ? value : JSON.stringify(value)]
const seconds = (value: unknown) => (value === undefined ? undefined : `${value}s`)

const targetWords = ({ capability, provider, endpoint, method, path, query }: Body) =>
  capability === undefined
    ? [provider, endpoint, ...flag("method", method), ...flag("path", path), ...flag("query", query)]
    : [capability]
/** The words of a command that say this request. */
const words = (body: Body) => {
  const { capability, input, routing = {}, reuse, metadata = {}, unless_contacted_within_seconds: guard, accept } = body
  return [
    ...targetWords(body),
    ...flag("input", input),
    ...(capability === undefined ? [] : flag("provider", routing.provider)),
    ...flag("strategy", routing.strategy),
    ...(routing.allow_fallback === false ? ["--no-fallback"] : []),
    ...flag("max-cost", routing.max_cost),
    ...flag("max-total", routing.max_total),
    ...flag("unless-contacted", seconds(guard)),
    ...flag("accept", accept?.fields?.join(",")),
    ...flag("phone-type", accept?.phone_type),
    ...flag("max-age", accept?.max_age_days === undefined ? undefined : `${accept.max_age_days}d`),
    ...(accept?.agree === undefined ? [] : ["--agree"]),
    ...flag("reuse", seconds(reuse?.max_age_seconds)),
    ...(reuse?.mode === "only" ? ["--reuse-only"] : []),
    ...Object.entries(metadata).flatMap(([name, value]) => flag("metadata", `${name}=${value}`)),
    ...(body["response"]?.include_raw === true ? ["--include-raw"] : [])
  ]
}

/** The arguments of a tool that say this request. */
const parameters = ({ routing = {}, response, ...rest }: Body) => {
  const { max_cost, max_total, ...chosen } = routing ?? {}
  return written({
    ...rest,
    ...{ max_cost, max_total, include_raw: response?.include_raw },
    routing: Object.keys(chosen).length === 0 ? undefined : chosen
  })
}

const inspectedOf = (slug: string) => {
  const one = capabilities.find((capability) => capability.slug === slug)
  const accept = { fields: [], phone_types: phoneTypes, max_age_days: "date", agree: true, description: "" }
  return { capability: slug, input_schema: one?.input.jsonSchema, accept } as unknown as Inspected
}

const slugs = capabilities.map(({ slug }) => slug)
const amount = fc.integer({ min: 0, max: 2_000_000_000 }).map((micros) => (micros / 1_000_000).toFixed(6))
const badAmount = fc.constantFrom("", "-1", "abc", "0.0000001", "1e3", "01.00", "99999999999")
const seldom = <A, B>(good: fc.Arbitrary<A>, bad: fc.Arbitrary<B>) =>
  fc.oneof({ arbitrary: good, weight: 12 }, { arbitrary: bad, weight: 1 })
const cap = seldom(amount, badAmount)
const label = fc
  .string({ unit: "grapheme", maxLength: 12 })
  .filter((text) => text.isWellFormed() && !text.includes("\0"))
const metadata = fc.dictionary(
  seldom(fc.stringMatching(/^[a-z][\w.-]{0,8}$/), fc.constantFrom("a b", "é", "x".repeat(65))),
  seldom(label, fc.constant("x".repeat(501))),
  { minKeys: 1, maxKeys: 3, noNullPrototype: true }
)
const span = seldom(fc.integer({ min: 1, max: 31_536_000 }), fc.constantFrom(0, 31_536_001, 99_999_999))
const shared = {
  metadata,
  reuse: fc.record({ mode: fc.constantFrom("prefer", "only"), max_age_seconds: span })
}
const accept = fc.record(
  {
    fields: fc.array(seldom(fc.stringMatching(/^[a-z][a-z_.]{0,11}$/), fc.constant("x".repeat(101))), {
      ...{ minLength: 1, maxLength: 3 }
    }),
    phone_type: seldom(fc.constantFrom(...phoneTypes), fc.constant("fax")),
    max_age_days: seldom(fc.integer({ min: 1, max: 3_650 }), fc.constantFrom(0, 3_651)),
    agree: fc.constant(2)
  },
  { requiredKeys: [] }
)
const capability = fc.constantFrom(...capabilities).chain(({ slug, input }) =>
  fc.record(
    {
      capability: seldom(fc.constant(slug), fc.constantFrom("", "x".repeat(201))),
      input: accepted(input.jsonSchema),
      routing: fc.record(
        {
          ...{ max_cost: cap, max_total: cap, allow_fallback: fc.boolean() },
          provider: seldom(fc.constantFrom("auto", "hunter", "exa"), fc.constantFrom("", "x".repeat(201))),
          strategy: seldom(fc.constantFrom(...strategies), fc.constantFrom("best", ""))
        },
        { requiredKeys: [] }
      ),
      ...shared,
      response: fc.record({ include_raw: fc.boolean() }),
      unless_contacted_within_seconds: span,
      accept
    },
    { requiredKeys: ["capability", "input"] }
  )
)
const values = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,6}$/),
  fc.oneof(label, fc.integer(), fc.boolean(), fc.constant(null)),
  {
    maxKeys: 3,
    noNullPrototype: true
  }
)
const raw = fc.record(
  {
    provider: seldom(fc.constantFrom("exa", "sec_edgar"), fc.constantFrom("", "x".repeat(201))),
    endpoint: seldom(fc.constantFrom("/search", "/submissions/CIK{cik}.json"), fc.constantFrom("", "x".repeat(1001))),
    method: seldom(fc.constantFrom("GET", "POST", "DELETE"), fc.constantFrom("get", "HEAD")),
    input: values,
    path: values,
    query: values,
    routing: fc.record({ max_cost: cap, max_total: cap }, { requiredKeys: [] }),
    ...shared
  },
  { requiredKeys: ["provider", "endpoint", "input"] }
)
const bodies: fc.Arbitrary<Body> = fc.oneof(capability, raw)
/** What only JSON can say: a member that is null, one that no request has, and one of the other kind of request. */
const slips: ReadonlyArray<Body> = [
  ...[
    {},
    {},
    {},
    {},
    { metadata: null, reuse: null },
    { routing: { strategy: null, max_cost: null } },
    { routing: null }
  ],
  ...[
    { reuse: { mode: "prefer", max_age_seconds: null } },
    { reuse: { mode: "prefer" } },
    { reuse: { mode: "never" } }
  ],
  ...[
    { accept: null },
    { accept: { fields: null, agree: null } },
    { accept: { agree: 3 } },
    { reuse: { mode: "always" } },
    { metadata: {} },
    { metadata: { n: 1 } },
    { inputs: {} },
    { routing: { speed: 1 } }
  ],
  ...[{ provider: "exa", endpoint: "/search" }, { path: { a: "b" } }, { method: "GET" }, { capability: "email.find" }],
  ...[{ capability: null }, { endpoint: null }, { unless_contacted_within_seconds: null }, { response: {} }],
  ...[{ response: { include_raw: null } }, { routing: { allow_fallback: "no" } }, { routing: { max_total: true } }]
]
const loose = fc.tuple(bodies, fc.constantFrom(...slips)).map(([body, slip]) => ({
  ...body,
  ...slip,
  ...("routing" in slip && slip["routing"] !== null ? { routing: { ...body["routing"], ...slip["routing"] } } : {})
}))
const sample = (count: number, of: fc.Arbitrary<Body> = bodies) =>
  fc.sample(of, { seed: sampleSeed, numRuns: howMany(count * 20, count) })

/** What a door makes of a body, beside what HTTP makes of it. Of several wrong fields a door may name the first only. */
const expectSame = (body: Body, made: Made) => {
  const own = http(JSON.stringify(body))
  if (!("refused" in own) || !("refused" in made)) return expect({ body, ...made }).toEqual({ body, ...own })
  expect([body, made.refused.length > 0]).toEqual([body, true])
  expect({ body, refused: own.refused }).toEqual({ body, refused: expect.arrayContaining([...made.refused]) })
}

test("a body of POST /v1/run is the same run in a row of a batch", () => {
  for (const body of sample(200, loose)) expectSame(body, inBatch(JSON.stringify({ runs: [body] })))
})

test("and as the flags of rungate run, call and quote", async () => {
  for (const body of sample(30)) {
    const command = body["capability"] === undefined ? "call" : "run"
    expectSame(body, arrived(await typed([command, ...words(body), "--yes"])))
    const { response: _response, metadata: _metadata, ...quoted } = body
    expectSame(quoted, arrived(await typed(["quote", ...words(quoted)])))
  }
})

test("and as the arguments of the tools run, quote and run_batch", async () => {
  for (const body of sample(70, loose)) {
    const { routing } = body
    const capped = { ...body, routing: { ...routing, max_cost: routing?.max_cost ?? "0.05" } }
    expectSame(capped, arrived(await called("run", parameters(capped))))
    const { response: _response, metadata: _metadata, ...quoted } = body
    expectSame(quoted, arrived(await called("quote", parameters(quoted))))
    const batch = await called("run_batch", { runs: [body], max_total: "1.00" })
    expectSame(body, batch._tag === "Sent" ? inBatch(batch.text) : arrived(batch))
  }
})

/** What the console's form sends for a request that fills it. */
const formed = (inspected: Inspected, body: Body): Made => {
  const { routing: { max_cost = "", max_total = "" } = {} as Body } = body
  const parts = partsOf(inspected)
  const options = Object(optionsFrom(body))
  // Caps are typed anew.
  const typedOptions = { ...options, routing: { ...options.routing, max_cost, max_total } }
  const { problems, body: sent } = requestOfForm(inspected, parts, begin(parts, body, typedOptions))
  return sent === null ? refused([...problems.keys()]) : http(JSON.stringify(sent))
}

test("and in the form of the console", () => {
  for (const body of fc.sample(capability, { seed: sampleSeed, numRuns: howMany(2_000, 80) }) as Array<Body>) {
    const { routing: { max_cost, max_total, provider, strategy } = {} as Body, accept } = body
    // A choice of the form is one of its options, and an empty field is no field.
    if (!slugs.includes(body["capability"]) || !["", ...strategies].includes(strategy ?? "")) continue
    if ([max_cost, max_total, provider, strategy].includes("") || accept?.phone_type === "fax") continue
    expectSame(body, formed(inspectedOf(body["capability"]), body))
  }
})

test("and of a raw endpoint, from its example", async () => {
  const all = await Effect.runPromise(shipped)
  for (const { provider, endpoints, definitions } of all) {
    for (const { path, method, body, body_type: bodyType, path_params, query_params, example } of sampled(
      endpoints,
      3
    )) {
      const shown = (schema: object | null) => schema && { ...schema, $defs: reachable(definitions, [schema as never]) }
      const input = { pathParams: shown(path_params), queryParams: shown(query_params), body: shown(body), bodyType }
      const inspected = { provider, endpoint: path, method, input } as unknown as Inspected
      // As inspect and the details of a run have it: nothing that is empty, and on GET the query as the input.
      const some = (values: object = {}) => (Object.keys(values).length === 0 ? undefined : values)
      const { path: places, query, input: value } = example
      const own = method === "GET" ? { input: query ?? {} } : { query: some(query), input: value ?? {} }
      const target = { provider, endpoint: path, method, path: some(places) }
      const request = written({ ...target, ...own, routing: { max_cost: "0.05" } })
      expectSame(request, formed(inspected, request))
    }
  }
})

/** The words that a shell makes of each command. */
const shellWords = (commands: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const script = [
    'say() { printf "%s\\0" "$@"; printf "\\n\\0"; }; rungate() { say "$@"; }; curl() { say "$@"; }',
    ...commands
  ]
  const { stdout, exitCode } = Bun.spawnSync(["sh"], {
    stdin: Buffer.from(script.join("\n")),
    env: { RUNGATE_API_KEY: "k" }
  })
  expect(exitCode).toBe(0)
  return stdout
    .toString()
    .split("\n\0")
    .slice(0, -1)
    .map((line) => line.split("\0").slice(0, -1))
}

test("and in what the console copies for a shell, and for an MCP host", async () => {
  const cap = "0.0468"
  const requests = sample(25)
  const copies = requests.map((body) => new Map(commandsOf(body as RunBody, { address: "http://x", cap })))
  const copied = (name: string) => copies.map((one) => one.get(name) ?? "")
  const [curls, commands] = [shellWords(copied("curl")), shellWords(copied("Command (CLI)"))]
  for (const [at, body] of requests.entries()) {
    const capped = withCap(body as RunBody, cap)
    const curl = curls[at] ?? []
    expectSame(capped, http(curl[curl.indexOf("-d") + 1] ?? ""))
    const command = commands[at] ?? []
    expectSame(capped, arrived(await typed([...command, ...(command[0] === "api" ? [] : ["--yes"])])))
    const { name: tool, arguments: given } = JSON.parse(copied("MCP tool call")[at] ?? "")
    expectSame(capped, arrived(await called(tool, given)))
  }
})

/** The cells of an input as a spreadsheet has them. Null if one can't stand in a cell. */
const cellsOf = (input: Body): ReadonlyArray<readonly [string, string]> | null => {
  const cells = Object.entries(input).map(([name, value]) => {
    const cell = Array.isArray(value) ? value.join(";") : typeof value === "object" ? "" : String(value)
    const isText = Array.isArray(value)
      ? value.length > 0 && value.every((one) => typeof one === "string" && one === one.trim() && !/^$|;/.test(one))
      : typeof value !== "object"
    return isText && cell.trim() === cell && cell !== "" ? ([name, cell] as const) : null
  })
  return cells.every((one) => one !== null) && cells.length > 0 ? cells : null
}

/** A field that takes one text or a list takes a cell without a semicolon as one. So a list of one becomes that one. */
const asRead = (schema: Body, input: Body) => {
  const fields = inputFieldsOf(schema)
  const isOne = (name: string, value: unknown): value is [unknown] =>
    fields.get(name) === "several" && Array.isArray(value) && value.length === 1
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, isOne(name, value) ? value[0] : value]))
}

test("and from the cells of a CSV, which API, command and console read alike", () => {
  let read = 0
  for (const { slug, input: of } of capabilities) {
    for (const input of fc.sample(accepted(of.jsonSchema), { seed: sampleSeed, numRuns: howMany(60, 3) })) {
      const cells = cellsOf(input)
      if (cells === null) continue
      read += 1
      const header = cells.map(([name]) => name)
      const rows = [cells.map(([, cell]) => cell)]
      const fieldsOf = inputFieldsOf(of.jsonSchema)
      const byService = Effect.runSync(csvRuns(unparse([header, ...rows]), undefined, fieldsOf))
      const byConsole = inputsOf(formOf(of.jsonSchema), header, rows, guessedColumns([...fieldsOf.keys()], header))
      expect([slug, byService]).toEqual([slug, [asRead(of.jsonSchema, input)]])
      expect([slug, byConsole]).toEqual([slug, byService])
    }
    // As people write them, and not as the API takes them.
    const typed = ["https://www.example.com/about", "TRUE", "7", "a; b", "0.5", "no", "  x  "]
    const names = [...inputFieldsOf(of.jsonSchema).keys()]
    const rows = typed.map((cell) => names.map(() => cell))
    const byService = Effect.runSync(csvRuns(unparse([names, ...rows]), undefined, inputFieldsOf(of.jsonSchema)))
    const trimmed = rows.map((row) => row.map((cell) => cell.trim()))
    const byConsole = inputsOf(formOf(of.jsonSchema), names, trimmed, guessedColumns(names, names))
    expect([slug, byConsole]).toEqual([slug, byService])
  }
  expect(read).toBeGreaterThan(30)
})
