/** Batches over the API: many runs in one request, their results, their limit, and how they end. */
import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { parse } from "papaparse"
import { oneBackend, type Reply, type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../kit/held-provider.ts"

interface Line {
  readonly row: number
  readonly status: string
  readonly run_id: string | null
  readonly charged: string | null
  readonly result?: { readonly email?: string }
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly details?: ReadonlyArray<{ path: string }>
  }
}

describe.each(oneBackend)("batches, queues on %s", (backend) => {
  const held = heldProvider()
  let org: Tenant
  const app = withApp({ backend, held })
  beforeAll(async () => {
    org = await app.tenant("20.00")
  })
  afterEach(async () => {
    await app.books()
  })

  const create = (body: unknown, headers: Readonly<Record<string, string>> = {}, by = org) =>
    by.post("/v1/batches", body, { headers })
  const upload = (text: string, query: string) =>
    app.call(org.key, "POST", `/v1/batches?${query}`, { raw: text, headers: { "content-type": "text/csv" } })
  const read = async (id: string, by = org) => (await by.get(`/v1/batches/${id}`)).body
  const finished = async ({ status, body, text }: Reply, by = org) => {
    expect([status, status === 202 ? "" : text]).toEqual([202, ""])
    await until(
      "the batch to finish",
      () => read(body.id, by),
      ({ done }: { done: boolean }) => done
    )
    return read(body.id, by)
  }
  const results = async (id: string, by = org): Promise<ReadonlyArray<Line>> => {
    const { status, text } = await by.get(`/v1/batches/${id}/results`)
    expect(status).toBe(200)
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
  }
  const paths = ({ status, body }: Reply) => [status, body.error.code, body.error.details?.[0]?.path]
  const people = (count: number, name = "p") => Array.from({ length: count }, (_, n) => verify(`${name}${n}`))

  test("runs each row once, reports each, and charges the sum", async () => {
    const before = await org.wallet()
    const accepted = await create({ runs: people(30), max_total: "1.00", metadata: { campaign: "batch" } })
    expect(accepted.headers.get("location")).toBe(`/v1/batches/${accepted.body.id}`)
    const batch = await finished(accepted)
    expect(batch).toMatchObject({
      status: "finished",
      max_total: "1.00",
      charged: "0.09",
      metadata: { campaign: "batch" }
    })
    expect(batch.rows).toMatchObject({
      total: 30,
      open: 0,
      succeeded: 30,
      failed: 0,
      blocked: 0,
      invalid: 0,
      cancelled: 0
    })
    const lines = await results(batch.id)
    expect(lines.map(({ row }) => row)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1))
    expect(new Set(lines.map(({ run_id }) => run_id)).size).toBe(30)
    expect(lines.every(({ charged, result }) => charged === "0.003" && result !== undefined)).toBe(true)
    const after = await org.wallet()
    expect(Number(before.balance) - Number(after.balance)).toBeCloseTo(0.09, 6)
    expect(after.reserved).toBe("0.00")
    const { items } = (await org.list("?metadata.campaign=batch&limit=200")).body
    expect(items).toHaveLength(30)
  })

  test("one bad row does not stop the others, and says what is wrong", async () => {
    const runs = [verify("good"), { capability: "email.verify", input: { email: "not an address" } }, verify("fine")]
    const batch = await finished(await create({ runs }))
    expect(batch.rows).toMatchObject({ succeeded: 2, invalid: 1 })
    const [, bad] = await results(batch.id)
    expect(bad).toMatchObject({
      row: 2,
      status: "invalid",
      run_id: null,
      charged: null,
      error: { code: "invalid_request" }
    })
    expect(bad?.error?.details?.[0]?.path).toBe("input.email")
  })

  test.each([
    ["no runs", { runs: [] }, "runs"],
    [
      "a row with a misspelled cap",
      { runs: [verify(), { ...verify(), routing: { max_cots: "0.01" } }] },
      "runs.1.routing.max_cots"
    ],
    ["a row that waits", { runs: [{ ...verify(), wait_seconds: 3 }] }, "runs.0.wait_seconds"],
    ["a row without a target", { runs: [verify(), { input: {} }] }, "runs.1.capability"],
    ["a misspelled limit", { runs: [verify()], max_totl: "1.00" }, "max_totl"],
    ["a limit that is no amount", { runs: [verify()], max_total: 5 }, "max_total"],
    ["runs that are no list", { runs: "many" }, "runs"],
    [
      "a raw input whose number lost digits",
      { runs: [{ provider: "dataforseo", endpoint: "/v3/serp", input: { ids: [1, 2 ** 60] } }] },
      "runs.0.input.ids.1"
    ]
  ])("refuses %s as a whole", async (_, body, path) => {
    const before = (await org.get("/v1/batches?limit=200")).body.items.length
    expect(paths(await create(body))).toEqual([400, "invalid_request", path])
    expect((await org.get("/v1/batches?limit=200")).body.items.length).toBe(before)
  })

  test("refuses an unknown capability as a whole", async () => {
    const { status, body } = await create({ runs: [verify(), { capability: "email.verfy", input: {} }] })
    expect([status, body.error.code]).toEqual([404, "capability_not_found"])
    expect(body.error.message).toStartWith("runs.1: ")
  })

  test("refuses 10,001 runs, and a body of more than 8 MiB", async () => {
    const runs = Array.from({ length: 10_001 }, () => ({ capability: "email.verify", input: {} }))
    expect(paths(await create({ runs }))).toEqual([400, "invalid_request", "runs"])
    const { status, body } = await upload(`email\n${"x".repeat(8 * 1024 * 1024)}`, "capability=email.verify")
    expect([status, body.error.code]).toEqual([413, "payload_too_large"])
  })

  test("an Idempotency-Key stands for one batch", async () => {
    const headers = { "idempotency-key": "one-batch" }
    const first = await create({ runs: people(3, "idem") }, headers)
    const again = await create({ runs: people(3, "idem") }, headers)
    expect([again.status, again.body.id, again.headers.get("idempotent-replay")]).toEqual([202, first.body.id, "true"])
    expect((await create({ runs: people(4, "idem") }, headers)).body.error.code).toBe("idempotency_key_reused")
    const batch = await finished(first)
    expect(batch.rows.succeeded).toBe(3)
    const { items } = (await org.list("?limit=200")).body
    const own = new Set((await results(batch.id)).map(({ run_id }) => run_id))
    expect(items.filter((one: { run_id: string }) => own.has(one.run_id))).toHaveLength(3)
  })

  test("a repeat with its Idempotency-Key joins the batch, also if its rows could not begin any more", async () => {
    const later = await app.tenant("1.00")
    const headers = { "idempotency-key": "later" }
    const first = await create({ runs: people(1, "later") }, headers, later)
    const allow = { capabilities: ["people.enrich"] }
    await app.call(await later.session(), "PATCH", `/v1/api-keys/${later.key_id}`, { body: { allow } })
    expect((await create({ runs: people(1, "later") }, {}, later)).status).toBe(403)
    const again = await create({ runs: people(1, "later") }, headers, later)
    expect([again.status, again.body.id]).toEqual([202, first.body.id])
    expect((await create({ runs: people(2, "later") }, headers, later)).body.error.code).toBe("idempotency_key_reused")
  })

  test("max_total lets only so many rows run, and the rest makes no run", async () => {
    // A row holds 0.0039 and charges 0.003: the third one would hold more than is left.
    const batch = await finished(await create({ runs: people(20, "capped"), max_total: "0.0078" }))
    expect(batch).toMatchObject({ status: "finished", charged: "0.006" })
    expect(batch.rows).toMatchObject({ succeeded: 2, blocked: 18 })
    const refused = (await results(batch.id)).filter(({ status }) => status === "blocked")
    expect(refused.every(({ run_id, error }) => run_id === null && error?.code === "budget_exceeded")).toBe(true)
  })

  test("an empty wallet ends the batch with one run, and a retry after a top-up runs all rows", async () => {
    const poor = await app.tenant()
    const runs = async () => (await poor.list("?limit=200")).body.items.length
    const batch = await finished(await create({ runs: people(150, "poor") }, {}, poor), poor)
    expect(batch).toMatchObject({ status: "finished", charged: "0.00", rows: { total: 150, open: 0, blocked: 150 } })
    const lines = await results(batch.id, poor)
    expect(lines.map(({ status, error }) => `${status} ${error?.code}`)).toEqual(
      Array(150).fill("blocked insufficient_balance")
    )
    expect(await runs()).toBe(1)
    const [first, ...rest] = lines
    expect(first?.run_id).toStartWith("run_")
    for (const { run_id, error } of rest)
      expect([run_id, error?.message]).toEqual([
        null,
        expect.stringContaining("Top up with POST /v1/wallet/topups/checkout")
      ])
    expect((await poor.wallet()).reserved).toBe("0.00")

    // As a process leaves it that dies before it recorded the end of the first row: the next one finds the same end.
    await app.sql(
      "UPDATE batch_rows SET status = 'running', run_id = NULL, error = NULL WHERE batch_id = $1 AND row = 1",
      [batch.id]
    )
    await app.sql(
      "UPDATE batches SET status = 'running', finished_at = NULL, blocked = blocked - 1 WHERE batch_id = $1",
      [batch.id]
    )
    const again = await until(
      "the batch to finish again",
      () => read(batch.id, poor),
      ({ done }: { done: boolean }) => done
    )
    expect([again, await runs()]).toMatchObject([{ status: "finished", rows: { open: 0, blocked: 150 } }, 1])

    await poor.credit("1.00")
    const retried = await finished(await poor.post(`/v1/batches/${batch.id}/retry`, {}), poor)
    expect(retried).toMatchObject({ charged: "0.45", rows: { succeeded: 150, blocked: 0 } })
    expect(await runs()).toBe(151)
  })

  test("a row waits for the money that open rows hold", async () => {
    // A row holds 0.0048 and charges 0.003, so the money is enough for three rows, of which two hold theirs at once.
    const poor = await app.tenant("0.0125")
    const batch = await finished(await create({ runs: people(20, "last") }, {}, poor), poor)
    expect(batch).toMatchObject({ charged: "0.009", rows: { succeeded: 3, blocked: 17 } })
    expect((await poor.list("?limit=200")).body.items).toHaveLength(4)
  })

  test("results come in pages of at most 8 MiB, whatever their number, and all of them as one stream", async () => {
    const { id } = await finished(await create({ runs: people(4, "large") }))
    const mib = 1024 * 1024
    // Row 3 alone is larger than a page. Compressed, all of them are small.
    for (const [n, size] of [3 * mib, 4 * mib, 9 * mib, 10].entries())
      await app.sql(
        `UPDATE runs SET result = json_build_object('email', repeat('x', $3::int)) WHERE org_id = $1
         AND run_id = (SELECT run_id FROM batch_rows WHERE batch_id = $2 AND row = ${n + 1})`,
        [org.org_id, id, size]
      )
    const page = async (query: string, accept = "application/x-ndjson") => {
      const { status, text } = await org.get(`/v1/batches/${id}/results${query}`, { headers: { accept } })
      expect(status).toBe(200)
      return text
    }
    const rowsIn = (text: string): ReadonlyArray<number> =>
      text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).row]))
    const pages: Array<ReadonlyArray<number>> = []
    for (let cursor = 0; ; ) {
      const rows = rowsIn(await page(`?limit=200&cursor=${cursor}`))
      pages.push(rows)
      if (rows.length === 0) break
      cursor = rows.at(-1) ?? expect.unreachable()
    }
    expect(pages).toEqual([[1, 2], [3], [4], []])
    expect(rowsIn(await page("?limit=1&cursor=3"))).toEqual([4])
    expect(rowsIn(await page("?cursor=1"))).toEqual([2, 3, 4])
    const csv = parse<Record<string, string>>(await page("?limit=2", "text/csv"), {
      header: true,
      skipEmptyLines: true
    })
    expect(csv.data.map(({ row }) => row)).toEqual(["1", "2"])
    for (const [query, path] of [
      ["limit=201", "query.limit"],
      ["cursor=-1", "query.cursor"]
    ])
      expect(paths(await org.get(`/v1/batches/${id}/results?${query}`))).toEqual([400, "invalid_request", path])
  })

  test("cancel stops the rows that have not started", async () => {
    const slow = Array.from({ length: 200 }, (_, n) => rehearseHeld(String(n)))
    const { body } = await create({ runs: slow })
    await until(
      "a row to run",
      () => org.list("?status=running"),
      ({ body: list }: Reply) => list.items.length > 0
    )
    const cancelled = await org.post(`/v1/batches/${body.id}/cancel`)
    expect([cancelled.status, cancelled.body.status]).toEqual([200, "cancelling"])
    const rows = await until(
      "the others to be cancelled",
      async () => (await read(body.id)).rows,
      ({ cancelled, open }) => open === held.calls() && cancelled > 0
    )
    expect(rows.open + rows.cancelled).toBe(200)
    held.release()
    await until(
      "the batch to end",
      () => read(body.id),
      ({ done }: { done: boolean }) => done
    )
    const batch = await read(body.id)
    expect(batch.status).toBe("cancelled")
    expect(batch.rows.open).toBe(0)
    expect(batch.rows.cancelled).toBeGreaterThan(0)
    expect((await org.wallet()).reserved).toBe("0.00")
    expect((await org.post(`/v1/batches/${body.id}/cancel`)).body).toEqual(batch)
  })

  test("the audit finds a batch that counts wrongly", async () => {
    const { id } = await finished(await create({ runs: people(2, "audited") }))
    const wrongs = ["charged = charged + 1", "succeeded = succeeded - 1, failed = failed + 1"]
    const rights = ["charged = charged - 1", "succeeded = succeeded + 1, failed = failed - 1"]
    for (const [n, wrong] of wrongs.entries()) {
      await app.sql(`UPDATE batches SET ${wrong} WHERE batch_id = $1`, [id])
      await expect(app.books()).rejects.toThrow(/E16/)
      await app.sql(`UPDATE batches SET ${rights[n]} WHERE batch_id = $1`, [id])
    }
  })

  test("another organization's batch does not exist", async () => {
    const other = await app.tenant("1.00")
    const { body } = await create({ runs: people(1, "mine") })
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/results"],
      ["POST", "/cancel"]
    ] as const) {
      const { status, body: answer } = await app.call(other.key, method, `/v1/batches/${body.id}${path}`)
      expect([status, answer.error.code]).toEqual([400, "invalid_request"])
    }
    expect((await other.get("/v1/batches")).body.items).toEqual([])
    expect((await org.get("/v1/batches/bat_unknown")).status).toBe(400)
  })

  test("a key's budget counts too, and a revoked key starts no further row", async () => {
    const session = await org.session()
    const mint = async (rules: object) =>
      (await app.call(session, "POST", "/v1/api-keys", { body: { name: "k", environment: "test", ...rules } })).body
    const key = await mint({ budget: { limit: "0.0078", period: "total" } })
    const sent = await app.call(key.api_key, "POST", "/v1/batches", {
      body: { runs: people(10, "keyed"), max_total: "1.00" }
    })
    const batch = await finished(sent)
    expect(Number(batch.charged)).toBeLessThanOrEqual(0.0078)
    expect(batch.rows.succeeded + batch.rows.blocked).toBe(10)
    const record = (await app.call(session, "GET", `/v1/api-keys/${key.id}`)).body
    expect(record.budget.spent).toBe(batch.charged)
  })

  describe("CSV", () => {
    test("maps columns to fields, and answers CSV", async () => {
      const csv = `Mail;Note\n"first@example.com";"a;b"\nsecond@example.com;\n\nnonsense;x\n`
      const batch = await finished(await upload(csv, "capability=email.verify&map=email=Mail&max_total=1.00"))
      expect(batch.rows).toMatchObject({ total: 3, succeeded: 2, invalid: 1 })
      const { text, headers } = await org.get(`/v1/batches/${batch.id}/results`, { headers: { accept: "text/csv" } })
      expect(headers.get("content-type")).toStartWith("text/csv")
      const { data } = parse<Record<string, string>>(text, { header: true, skipEmptyLines: true })
      expect(data.map(({ row, status, error_code }) => [row, status, error_code])).toEqual([
        ["1", "succeeded", ""],
        ["2", "succeeded", ""],
        ["3", "invalid", "invalid_request"]
      ])
    })

    test("has labels, as a list is filtered by them, and counts in their budgets", async () => {
      const tenant = await app.tenant("5.00")
      const session = await tenant.session()
      const budget = { label: "customer", value: "acme & söhne", limit: "0.005", period: "total" }
      await app.call(session, "PUT", "/v1/label-budgets", { body: budget })
      const query = `capability=email.verify&metadata.customer=${encodeURIComponent(budget.value)}&metadata.campaign=spring`
      const started = await app.call(tenant.key, "POST", `/v1/batches?${query}`, {
        raw: "email\na@example.com\nb@example.com\n",
        headers: { "content-type": "text/csv" }
      })
      expect([started.status, started.body.metadata]).toEqual([202, { customer: budget.value, campaign: "spring" }])
      const ended = () => tenant.get(`/v1/batches/${started.body.id}`)
      const { body } = await until("the end", ended, (one) => one.body.done)
      expect(body.rows).toMatchObject({ succeeded: 1, blocked: 1 })
    })

    test.each([
      [
        "a label with a wrong name",
        "email\na@example.com",
        "capability=email.verify&metadata.a%20b=x",
        "query.metadata.<name>"
      ],
      [
        "a label that is too long",
        "email\na@example.com",
        `capability=email.verify&metadata.a=${"x".repeat(501)}`,
        "query.metadata.a"
      ],
      ["no capability", "email\na@example.com", "map=email=email", "query.capability"],
      ["an unknown column", "email\na@example.com", "capability=email.verify&map=email=Mail", "query.map"],
      ["an unknown field", "email\na@example.com", "capability=email.verify&map=mail=email", "query.map"],
      ["a map without =", "email\na@example.com", "capability=email.verify&map=email", "query.map"],
      ["no column of a field", "a,b\n1,2", "capability=email.verify", "query.map"],
      ["no rows", "email\n", "capability=email.verify", "body"],
      ["an open quote", 'email\n"a@example.com', "capability=email.verify", "body"],
      ["nothing", "", "capability=email.verify", "body"],
      ["a NUL", "email\na\u0000@example.com", "capability=email.verify", "runs.0.input.email"]
    ])("refuses %s", async (_, csv, query, path) => {
      expect(paths(await upload(csv, query))).toEqual([400, "invalid_request", path])
    })

    test("takes a formula as text", async () => {
      const batch = await finished(await upload("email\n=1+1\n", "capability=email.verify"))
      expect(batch.rows.invalid).toBe(1)
    })
  })
})
