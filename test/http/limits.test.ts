import { beforeAll, describe, expect, test } from "bun:test"
import { figures, type Tenant, verify, withApp } from "../kit/app.ts"

type Case = readonly [method: string, path: string, body: unknown, field: string | null]

/** `field` null: inside the bounds, so anything but a 400 or a 5xx. */
const wait = (seconds: unknown): Case => [
  "POST",
  "/v1/run",
  { ...verify(), wait_seconds: seconds },
  Number.isInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= 120 ? null : "wait_seconds"
]
const query = (path: string, name: string, value: string, good: boolean): Case => [
  "GET",
  `${path}?${name}=${value}`,
  undefined,
  good ? null : `query.${name}`
]
const list = (path: string): ReadonlyArray<Case> =>
  ["1", "200"]
    .map((value) => query(path, "limit", value, true))
    .concat(
      ["0", "201", "-1", "1e9", "1.5", "", "NaN", "Infinity", "0x10", "%20", "9".repeat(400)].map((value) =>
        query(path, "limit", value, false)
      )
    )
const search = (input: Record<string, unknown>, field: string | null): Case => [
  "POST",
  "/v1/run",
  { capability: "people.search", input: { titles: ["x"], ...input } },
  field
]
const find = (company_domain: string, full_name: string, field: string | null): Case => [
  "POST",
  "/v1/run",
  { capability: "email.find", input: { company_domain, full_name } },
  field
]
const cap = (max_cost: unknown, good: boolean): Case => [
  "POST",
  "/v1/run",
  { ...verify(), routing: { max_cost } },
  good ? null : "routing.max_cost"
]
/** Money that the contract takes but no offer fits is refused elsewhere; here only the form counts. */
const guard = (value: unknown, good: boolean): Case => [
  "POST",
  "/v1/spend-guard",
  { daily_limit: value },
  good ? null : "daily_limit"
]
const deep = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`)

const cases: ReadonlyArray<Case> = [
  ...[0, 1, 120, -1, 121, 1.5, 1e9, "1", true, [], {}].map(wait),
  ...list("/v1/runs"),
  ...list("/v1/wallet/transactions"),
  ...list("/v1/api-keys"),
  ...["0", "1", "120"].map((value) => query("/v1/runs/{run}", "wait", value, true)),
  ...["-1", "121", "1.5", "", "ten"].map((value) => query("/v1/runs/{run}", "wait", value, false)),
  ...[1, 100].map((limit) => search({ limit }, null)),
  ...[0, 101, -1, 1.5, "1"].map((limit) => search({ limit }, "input.limit")),
  search({ titles: Array.from({ length: 20 }, () => "x") }, null),
  search({ titles: Array.from({ length: 21 }, () => "x") }, "input.titles"),
  search({ titles: [] }, "input.titles"),
  search({ titles: ["x".repeat(200)] }, null),
  search({ titles: ["x".repeat(201)] }, "input.titles.0"),
  search({ titles: [""] }, "input.titles.0"),
  search({ titles: [1] }, "input.titles.0"),
  search({ titles: deep(5_000) }, "input"),
  search({ titles: deep(61) }, "input.titles.0"),
  find("example.com", "Jane Doe", null),
  find("example.com", "x".repeat(200), null),
  find("example.com", "x".repeat(201), "input.full_name"),
  find("", "Jane Doe", "input.company_domain"),
  find("not a domain", "Jane Doe", "input.company_domain"),
  find(`${"x".repeat(64)}.com`, "Jane Doe", "input.company_domain"),
  ...["1.00", "9999999999.999999"].map((value) => cap(value, true)),
  ...["10000000000.00", "1.0000001", "-0.01", "1,00", "", " 1", "1.", ".5", "NaN", 1, true, []].map((value) =>
    cap(value, false)
  ),
  ...["0.00", "9999999999.999999", null].map((value) => guard(value, true)),
  ...["10000000000.00", "-1", "1e1", 0].map((value) => guard(value, false)),
  ["POST", "/v1/run", { capability: "x".repeat(201), input: {} }, "capability"],
  // The body is a level of its own: 63 more are parsed and judged by the schema, 64 are not parsed.
  ["POST", "/v1/run", { ...verify(), input: deep(63) }, "input"],
  ["POST", "/v1/run", { ...verify(), input: deep(64) }, "input"],
  ["POST", "/v1/run", { ...verify(), input: deep(5_000) }, "input"],
  ["POST", "/v1/inspect", { capability: "" }, "capability"],
  ["GET", `/v1/runs?cursor=${"x".repeat(201)}`, undefined, "query.cursor"],
  ...["api-keys", "allowances", "batches"].map(
    (list) => ["GET", `/v1/${list}?cursor=run_01m81nzk95mq351g8pvrxgm8m4`, undefined, "query.cursor"] as const
  ),
  ["GET", `/v1/runs?status=${"x".repeat(2000)}`, undefined, "query.status"]
]

describe("T55 limits.boundary", () => {
  let org: Tenant
  const app = withApp()
  beforeAll(async () => {
    org = await app.tenant("1000.00")
  })

  test("a value at a bound is taken, one beyond it is a 400 that names the field", async () => {
    const { body } = await org.run(verify())
    const violations: Array<string> = []
    await Promise.all(
      cases.map(async ([method, path, asked, field]) => {
        const answer = await app.call(
          org.key,
          method,
          path.replace("{run}", body.run_id),
          asked === undefined ? {} : { body: asked }
        )
        const what = `${method} ${path} ${JSON.stringify(asked)?.slice(0, 80)}: ${answer.status} ${answer.text.slice(0, 200)}`
        const paths: ReadonlyArray<string> = answer.body?.error?.details?.map((one: { path: string }) => one.path) ?? []
        if (
          field === null
            ? answer.status === 400 || answer.status >= 500
            : answer.status !== 400 || !paths.includes(field)
        )
          violations.push(what)
      })
    )
    expect(violations).toEqual([])
    await app.books()
    figures("T55 limits.boundary", { cases: cases.length, violations: violations.length })
  })

  test("depth alone breaks nothing: a very deep body is refused", async () => {
    for (const raw of [
      "[".repeat(200_000),
      `{"capability":"email.verify","input":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
    ]) {
      const { status, body } = await org.post("/v1/run", undefined, {
        raw,
        headers: { "content-type": "application/json" }
      })
      expect([status, body.error.code]).toEqual([400, "invalid_request"])
    }
    // Of another organization: the cases above have set this one's limits.
    expect((await (await app.tenant("1.00")).run(verify())).status).toBe(200)
  })
})
