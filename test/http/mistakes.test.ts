/**
 * The 25 mistakes that a developer makes in the first ten minutes. Each answer names the field or header, says what was expected in common
 * words, and what to do next.
 */
import { beforeAll, describe, expect, test } from "bun:test"
import { clientOf } from "../../packages/client/src/client.ts"
import { connect, RungateError } from "../../src/http/client/Rungate.ts"
import { verify, type Tenant, withApp } from "../kit/app.ts"
import { calling, postTo } from "./mcp-request.ts"

const app = withApp()
let org: Tenant
beforeAll(async () => {
  org = await app.tenant("5.00")
})

const find = { capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "example.com" } }
const run = (body: unknown) => org.post("/v1/run", body)
const capped = (max_cost: unknown) => run({ ...verify(), routing: { max_cost } })
const wallet = (headers: Readonly<Record<string, string>>) => app.call(null, "GET", "/v1/wallet", { headers })
const sent = (raw: string, type = "application/json") =>
  org.post("/v1/run", undefined, { raw, headers: { "content-type": type } })
const bearer = "Send Authorization: Bearer <token>, with the word Bearer before the API key."

type Row = readonly [
  name: string,
  ask: () => ReturnType<Tenant["post"]>,
  status: number,
  code: string,
  ...messages: ReadonlyArray<string>
]

const rows: ReadonlyArray<Row> = [
  ["1 no key", () => wallet({}), 401, "unauthorized", "has no credential", "Authorization: Bearer <token>"],
  [
    "2 an unknown key",
    () => wallet({ authorization: `Bearer rg_test_${"a".repeat(43)}` }),
    401,
    "unauthorized",
    "unknown, revoked or expired",
    "POST /v1/api-keys"
  ],
  [
    "3 a live key in the sandbox",
    () => wallet({ authorization: `Bearer rg_live_${"a".repeat(43)}` }),
    401,
    "unauthorized",
    "this service is a sandbox. Use a test key (rg_test_)"
  ],
  [
    "4 the key in x-api-key",
    () => wallet({ "x-api-key": org.key }),
    401,
    "unauthorized",
    `in the header x-api-key, which is not read. ${bearer}`
  ],
  [
    "4 a key without Bearer",
    () => wallet({ authorization: org.key }),
    401,
    "unauthorized",
    `The header Authorization has no bearer token. ${bearer}`
  ],
  ["5 JSON with a comma too many", () => sent('{"input": {},}'), 400, "invalid_request", "line 1, column 14: expected"],
  [
    "6 no content type",
    () => sent(JSON.stringify(verify()), "text/plain"),
    415,
    "unsupported_media_type",
    "Content-Type: application/json"
  ],
  ["7 no body", () => sent(""), 400, "invalid_request", "The request body is empty. Send a JSON object."],
  [
    "8 a misspelled capability",
    () => run({ ...find, capability: "email.fnd" }),
    404,
    "capability_not_found",
    "Did you mean `email.find`?",
    "POST /v1/discover"
  ],
  [
    "9 a misspelled field",
    () => run({ ...find, wait_second: 5 }),
    400,
    "invalid_request",
    "Unknown field `wait_second`. Did you mean `wait_seconds`?"
  ],
  ["10 a path without /v1", () => org.post("/run", find), 404, "not_found", "Did you mean POST /v1/run?", "GET /docs"],
  ["10 a misspelled path", () => org.post("/v1/discovr", {}), 404, "not_found", "Did you mean POST /v1/discover?"],
  [
    "10 a path that lacks a part",
    () => org.get("/v1/capabilities"),
    404,
    "not_found",
    "Did you mean GET /v1/catalog/capabilities?"
  ],
  ["10 /v1 twice", () => org.post("/v1/v1/run", find), 404, "not_found", "Did you mean POST /v1/run?"],
  [
    "11 an unknown run",
    () => org.get("/v1/runs/run_00000000000000000000000000"),
    400,
    "invalid_request",
    'There is no run "run_00000000000000000000000000". List your runs with GET /v1/runs.'
  ],
  [
    "12 runs for run",
    () => org.post("/v1/runs", find),
    405,
    "method_not_allowed",
    "It accepts GET, HEAD. Did you mean POST /v1/run?"
  ],
  [
    "13 no input",
    () => run({ capability: "email.verify" }),
    400,
    "invalid_request",
    "input is missing: a JSON object with the fields that POST /v1/inspect shows"
  ],
  [
    "14 a misspelled field of the input",
    () => run({ ...find, input: { fullname: "Ada Lovelace" } }),
    400,
    "invalid_request",
    "input.fullname is not a known field. Did you mean `full_name`?"
  ],
  [
    "15 max_cost as a number",
    () => capped(0.1),
    400,
    "invalid_request",
    'routing.max_cost must be text in double quotes: a decimal string in USD such as "10.00", at most 6 decimals'
  ],
  [
    "15 max_cost with a $",
    () => capped("$0.10"),
    400,
    "invalid_request",
    'must be a decimal string in USD such as "10'
  ],
  [
    "16 max_cost at the top",
    () => run({ ...verify(), max_cost: "0.10" }),
    400,
    "invalid_request",
    "Unknown field `max_cost`. Did you mean `routing.max_cost`?"
  ],
  [
    "17 a max_cost that is too low",
    () => capped("0.000001"),
    409,
    "provider_not_available",
    "routing.max_cost is below every price. The lowest is up to $0.003 at leadmagic",
    'set it to "0.003" or more'
  ],
  [
    "18 input beside input",
    () => run({ capability: "email.verify", email: "ada@example.com" }),
    400,
    "invalid_request",
    "Unknown field `email`. A field of the capability belongs inside `input`."
  ],
  [
    "18 input as text",
    () => run({ capability: "email.verify", input: '{"email":"ada@example.com"}' }),
    400,
    "invalid_request",
    "input must be a JSON object"
  ],
  [
    "19 no domain for a domain",
    () => run({ ...find, input: { full_name: "Ada Lovelace", company_domain: "example com" } }),
    400,
    "invalid_request",
    "input.company_domain must be a domain such as example.com"
  ],
  [
    "20 no e-mail address",
    () => run({ capability: "email.verify", input: { email: "ada" } }),
    400,
    "invalid_request",
    "input.email must be an e-mail address such as ada@example.com"
  ],
  [
    "21 a provider that does not serve it",
    () => run({ ...verify(), routing: { provider: "huntr" } }),
    400,
    "invalid_request",
    'routing.provider "huntr" does not serve email.verify. Did you mean `hunter`?'
  ],
  [
    "22 a number in quotes, or one too large",
    () => run({ ...verify(), wait_seconds: "30" }),
    400,
    "invalid_request",
    "wait_seconds must be a whole number between 0 and 120"
  ],
  [
    "25 a list for one run",
    () => run([verify()]),
    400,
    "invalid_request",
    "The request body must be a JSON object with fields such as capability"
  ]
]

describe("a request", () => {
  test.each(rows)("%s", async (_, ask, status, code, ...messages) => {
    const { status: got, body } = await ask()
    expect([got, body.error.code, body.error.message]).toEqual([status, code, expect.any(String)])
    for (const message of messages) expect(body.error.message).toContain(message)
  })

  test("19 a web address in the place of a domain is taken for its host, unless the run acts outside", async () => {
    const at = (company_domain: string) => run({ ...find, input: { full_name: "Ada Lovelace", company_domain } })
    const [plain, address] = [await at("example.com"), await at("https://example.com/about?x=1")]
    expect([address.status, address.body.result]).toEqual([200, plain.body.result])
    const listed = await run({
      capability: "web.search",
      input: { query: "ada", include_domains: ["http://example.com/"] }
    })
    expect([listed.status, listed.body.status]).toEqual([200, "succeeded"])
    const bought = await run({ capability: "domain.register", input: { domain: "https://example.com/" } })
    expect(bought.status).toBe(400)
    const message = "must be a domain such as example.com"
    expect(bought.body.error.details).toContainEqual({ path: "input.domain", message })
  })
})

describe("a client", () => {
  /** The client in this repository, and the published one, which has an operation as a text. */
  const clients = [
    ["of the source", (url: unknown) => connect({ url, key: org.key } as never).wallet.get({})],
    [
      "of the package",
      (url: unknown) => {
        const published = clientOf({ url, key: org.key } as never, { wallet: { get: "GET /v1/wallet" } }) as never
        return (published as { wallet: { get: () => Promise<unknown> } }).wallet.get()
      }
    ]
  ] as const

  test.each(clients)("%s: 23 https at an http port fails at once, and says so", async (_, read) => {
    const error = await read(app.url.replace("http:", "https:")).catch((one: unknown) => one)
    expect(error).toMatchObject({ code: "unreachable", message: expect.stringContaining("Use an http:// address") })
  })

  test.each(clients)("%s: 24 a base URL with /v1 is one without", async (_, read) => {
    expect(await read(`${app.url}/v1/`)).toMatchObject({ currency: "USD" })
  })

  test.each(clients)("%s: an address that is not set is refused before anything is sent", (_, read) => {
    for (const url of [undefined, "", "localhost:8787"])
      expect(() => read(url)).toThrow("connect needs url: the address")
    expect(() => connect({ url: "" })).toThrow(RungateError)
  })
})

describe("an MCP tool", () => {
  const answer = async (given: Record<string, unknown>) => {
    const response = await postTo(app.url, calling("run", { wait_seconds: 10, ...given }), { key: org.key })
    return JSON.stringify(await response.json())
  }

  test("takes an amount as a number, and the input as JSON text", async () => {
    const text = await answer({ ...verify(), input: JSON.stringify(verify().input), max_cost: 0.05 })
    expect(text).toContain("succeeded")
  })

  test("refuses a number that is no exact amount, and an input that is no JSON", async () => {
    expect(await answer({ ...verify(), max_cost: 0.1 + 0.2 })).toContain("max_cost must be text in double quotes")
    expect(await answer({ ...verify(), max_cost: 1e-7 })).toContain("max_cost must be text in double quotes")
    // It has 16 digits, and was another number in the text that was parsed.
    expect(await answer({ ...verify(), max_cost: Number("9999999999.999999") })).toContain(
      "max_cost must be text in double quotes"
    )
    expect(await answer({ ...verify(), input: "ada@example.com", max_cost: 0.05 })).toContain(
      "input must be a JSON object"
    )
  })
})
