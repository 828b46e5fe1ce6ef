import { afterEach, describe, expect, test } from "bun:test"
import { oneBackend, verify, withApp } from "../kit/app.ts"

describe.each(oneBackend)("the wallet, queues on %s", (backend) => {
  const app = withApp({ backend })
  afterEach(async () => {
    await app.books()
  })

  test("GET /v1/wallet starts at zero", async () => {
    const { status, body } = await (await app.tenant()).get("/v1/wallet")
    expect([status, body]).toEqual([200, { currency: "USD", balance: "0.00", reserved: "0.00", available: "0.00" }])
  })

  test("a checkout of the sandbox credits a labeled top-up, which is there when it answers", async () => {
    const org = await app.tenant()
    const { status, body } = await org.post("/v1/wallet/topups/checkout", { amount: "25.00" })
    expect(status).toBe(200)
    expect(body).toEqual({
      status: "simulated",
      session_id: expect.stringMatching(/^cs_[0-9a-z]{26}$/),
      transaction_id: expect.stringMatching(/^txn_[0-9a-z]{26}$/)
    })
    expect(await org.wallet()).toMatchObject({ balance: "25.00", available: "25.00" })
    expect(await org.ledger()).toEqual([
      {
        id: body.transaction_id,
        type: "topup",
        amount: "25.00",
        balance_after: "25.00",
        reference: body.session_id,
        note: expect.stringContaining("simulated"),
        created_at: expect.stringMatching(/Z$/)
      }
    ])
  })

  test("a run and its ledger entries have one clock, and it never goes back", async () => {
    const org = await app.tenant("5.00")
    // The process takes most of them without the mailbox, and so in one turn with their entries. Turns that recall the wallet reckon the time.
    for (let count = 0; count < 9; count++) await org.run(verify())
    const { body } = await org.run(verify())
    expect((await org.get(`/v1/runs/${body.run_id}`)).body.created_at).toBe(body.created_at)
    const wrong = await app.sql(
      `SELECT * FROM (
         SELECT r.created_at, r.finished_at, min(l.created_at) AS held_at, max(l.created_at) AS settled_at,
                lag(r.finished_at) OVER (ORDER BY min(l.seq)) AS before
         FROM ledger l JOIN runs r ON r.run_id = l.run_id WHERE l.org_id = $1 GROUP BY r.org_id, r.run_id, r.created_at, r.finished_at
       ) n WHERE held_at < created_at OR settled_at <> finished_at OR created_at < before`,
      [org.org_id]
    )
    expect(wrong).toEqual([])
  })

  const amounts = [
    ["10.00", 200],
    ["10", 200],
    ["9.99", 400],
    ["0.00", 400],
    ["10.001", 400],
    ["999999.99", 200],
    ["1000000.00", 400],
    ["-10.00", 400],
    ["+10.00", 400],
    ["1e3", 400],
    ["0x10", 400],
    [" 10.00", 400],
    ["10.0000001", 400],
    ["010.00", 400],
    ["", 400],
    ["99999999999", 400],
    [10, 400],
    [null, 400]
  ] as const
  if (backend === "postgres") {
    test.each(amounts)("a checkout of %p answers %d", async (amount, status) => {
      const org = await app.tenant()
      const answer = await org.post("/v1/wallet/topups/checkout", { amount })
      expect(answer.status).toBe(status)
      if (status === 400) {
        expect(answer.body.error.details[0].path).toBe("amount")
        expect(await org.ledger()).toEqual([])
      }
    })
  }

  test("GET /v1/wallet/transactions pages through the whole ledger, newest first", async () => {
    const org = await app.tenant("5.00")
    for (let i = 0; i < 4; i++) await org.run(verify(`person.${i}`))
    const seen: Array<{ id: string; amount: string; balance_after: string; type: string }> = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? "?limit=3" : `?limit=3&cursor=${cursor}`
      const { body } = await org.get(`/v1/wallet/transactions${query}`)
      expect(body.items.length).toBeLessThanOrEqual(3)
      seen.push(...body.items)
      cursor = body.next_cursor
    } while (cursor !== null)
    expect(seen).toHaveLength(13)
    expect(new Set(seen.map((one) => one.id)).size).toBe(13)
    // Settles, top-ups and bonuses move the balance; reserves and releases do not.
    let balance = 0
    for (const one of seen.toReversed()) {
      if (one.type !== "reserve" && one.type !== "release") balance += Math.round(Number(one.amount) * 1e6)
      expect(Math.round(Number(one.balance_after) * 1e6)).toBe(balance)
    }
    expect((await org.wallet()).balance).toBe(seen[0]?.balance_after ?? "")
  })

  test("GET /v1/wallet/transactions shows the entries of one type, one run and one time, with the balance after each", async () => {
    const org = await app.tenant("5.00")
    const { body: run } = await org.run(verify("filtered.one"))
    await org.run(verify("filtered.two"))
    const all = await org.ledger()
    const listed = async (query: string) => (await org.get(`/v1/wallet/transactions?${query}`)).body.items
    for (const type of ["reserve", "settle", "release", "topup", "bonus", "refund"])
      expect([type, await listed(`type=${type}`)]).toEqual([type, all.filter((one) => one.type === type)])
    expect(await listed(`run_id=${run.run_id}`)).toEqual(all.filter((one) => one.reference === run.run_id))
    expect(await listed(`run_id=${run.run_id}&type=settle`)).toHaveLength(1)
    const day = all[0]?.created_at.slice(0, 10) ?? ""
    // A test that runs at midnight has entries of two days.
    const ofDay = all.filter((one) => one.created_at.startsWith(day))
    expect(await listed(`from=${day}&to=${day}`)).toEqual(ofDay)
    expect(await listed("to=2020-01-01")).toEqual([])
    expect(await listed(`type=settle&limit=1`)).toEqual(all.filter((one) => one.type === "settle").slice(0, 1))
    const other = await app.tenant("5.00")
    expect((await other.get(`/v1/wallet/transactions?run_id=${run.run_id}`)).body.items).toEqual([])
    const csv = await org.get("/v1/wallet/transactions?type=settle", { headers: { accept: "text/csv" } })
    expect(csv.text.trim().split("\n")).toHaveLength(3)
  })

  if (backend === "postgres") {
    test.each([
      "type=charge",
      "type=",
      "run_id=none",
      "run_id=%00",
      "from=yesterday",
      "to=2026-02-30",
      "to=2026-11-01&from=2026-11-02"
    ])("GET /v1/wallet/transactions refuses the filter ?%s", async (query) => {
      const { status, body } = await (await app.tenant()).get(`/v1/wallet/transactions?${query}`)
      expect([status, body.error.code]).toEqual([400, "invalid_request"])
      expect(body.error.details[0].path).toBe(`query.${query.split("=")[0]}`)
    })

    test.each([
      "limit=0",
      "limit=201",
      "limit=x",
      "cursor=x",
      "cursor=-1",
      "cursor=0",
      "cursor=1e3",
      `cursor=${"9".repeat(20)}`
    ])("GET /v1/wallet/transactions refuses ?%s", async (query) => {
      const { status, body } = await (await app.tenant()).get(`/v1/wallet/transactions?${query}`)
      expect([status, body.error.code]).toEqual([400, "invalid_request"])
      expect(body.error.details[0].path).toBe(`query.${query.split("=")[0]}`)
    })

    test("the ledger of one organization shows nothing of another's", async () => {
      const [one, other] = [await app.tenant("5.00"), await app.tenant("7.00")]
      expect((await one.ledger()).map((entry) => entry.amount)).toEqual(["5.00"])
      expect((await other.ledger()).map((entry) => entry.amount)).toEqual(["7.00"])
    })
  }

  test("a hundred credits at once are all there", async () => {
    const org = await app.tenant()
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => org.post("/v1/wallet/topups/checkout", { amount: "10.00" }))
    )
    expect(answers.every((one) => one.status === 200)).toBe(true)
    expect(new Set(answers.map((one) => one.body.transaction_id)).size).toBe(100)
    expect((await org.wallet()).balance).toBe("1000.00")
  })
})
