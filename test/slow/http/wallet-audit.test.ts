import { describe, expect, test } from "bun:test"
import { startApp, type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { runMain } from "../../chaos/processes.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"

describe("GET /v1/wallet/audit", () => {
  const app = withApp()
  const audit = async (org: Tenant) => (await org.get("/v1/wallet/audit")).body
  /** An answer stands for a moment: asks until it is of the ledger as it is. */
  const auditOf = (org: Tenant, holds: (body: Awaited<ReturnType<typeof audit>>) => boolean) =>
    until("a fresh audit", () => audit(org), holds)

  test("an empty wallet adds up, and nobody has audited all of them", async () => {
    const org = await app.tenant()
    const { status, body } = await org.get("/v1/wallet/audit")
    const zero = "0.00"
    expect(status).toBe(200)
    expect(body).toEqual({
      currency: "USD",
      adds_up: true,
      entries: 0,
      sums: { topup: zero, bonus: zero, refund: zero, settle: zero, reserve: zero, release: zero },
      balance: zero,
      balance_from_ledger: zero,
      reserved: zero,
      reserved_from_ledger: zero,
      head: null,
      chain_verified: true,
      violations: [],
      checked_at: expect.any(String),
      last_full_check: null
    })
  })

  test("the sums are those of the ledger, what is held too, and the head is the newest entry's", async () => {
    const org = await app.tenant("10.00")
    await org.run(verify())
    const slow = await org.run({
      capability: "email.verify",
      input: { email: "slow_60@sandbox.test" },
      async: true
    })
    await until(
      "the hold",
      () => org.ledger(),
      (entries) => entries.some((one) => one.reference === slow.body.run_id)
    )
    const entries = await org.ledger()
    const body = await auditOf(org, (found) => found.entries === entries.length)
    const micros = (amount: string) => {
      const [whole = "", fraction = ""] = amount.replace("-", "").split(".")
      const value = BigInt(whole + fraction.padEnd(6, "0"))
      return amount.startsWith("-") ? -value : value
    }
    for (const type of ["topup", "bonus", "refund", "settle", "reserve", "release"]) {
      const sum = entries.filter((one) => one.type === type).reduce((total, one) => total + micros(one.amount), 0n)
      expect([type, micros(body.sums[type])]).toEqual([type, sum])
    }
    const wallet = await org.wallet()
    expect(wallet.reserved).not.toBe("0.00")
    expect(body).toMatchObject({
      adds_up: true,
      chain_verified: true,
      violations: [],
      balance: wallet.balance,
      balance_from_ledger: wallet.balance,
      reserved: wallet.reserved,
      reserved_from_ledger: wallet.reserved
    })
    const [newest] = await app.sql(
      "SELECT seq::int AS seq, encode(hash, 'hex') AS hash FROM ledger WHERE org_id = $1 ORDER BY seq DESC LIMIT 1",
      [org.org_id]
    )
    expect(body.head).toEqual({ seq: Number(newest?.["seq"]), hash: String(newest?.["hash"]) })
  })

  test("a ledger that was tampered with does not add up, and the entry is named to its owner and to nobody else", async () => {
    const [org, other] = [await app.tenant("10.00"), await app.tenant("10.00")]
    await org.run(verify())
    await app.sql("ALTER TABLE ledger DISABLE TRIGGER USER")
    await app.sql("UPDATE ledger SET note = 'X' WHERE org_id = $1 AND seq = 2", [org.org_id])
    await app.sql("ALTER TABLE ledger ENABLE TRIGGER USER")
    const changed = await auditOf(org, (found) => found.adds_up === false)
    expect(changed).toMatchObject({ chain_verified: false, balance: "9.997", balance_from_ledger: "9.997" })
    expect(changed.violations.map((one: { subject: string }) => one.subject)).toEqual([`${org.org_id} entry 2`])
    await app.sql("UPDATE wallets SET balance = balance + 1 WHERE org_id = $1", [other.org_id])
    const wrong = await auditOf(other, (found) => found.adds_up === false)
    expect(wrong).toMatchObject({ chain_verified: true, balance: "10.000001", balance_from_ledger: "10.00" })
    expect(wrong.violations).toEqual([
      {
        equation: "E1 balance = sum of topup, bonus, refund and settle",
        subject: other.org_id,
        detail: "wallet 10000001, ledger 10000000"
      }
    ])
    expect(JSON.stringify(wrong)).not.toContain(org.org_id)
    const third = await app.tenant("1.00")
    expect(await audit(third)).toMatchObject({ adds_up: true, entries: 1, balance: "1.00" })
    await app.sql("UPDATE wallets SET balance = balance - 1 WHERE org_id = $1", [other.org_id])
  })

  test("only operators see why a command was dead-lettered", async () => {
    const org = await app.tenant("1.00")
    await app.sql(
      "INSERT INTO mailbox (lane, org_id, tag, parked) SELECT lane, org_id, 'Credit', 'our own parts' FROM wallets WHERE org_id = $1",
      [org.org_id]
    )
    const body = await auditOf(org, (found) => found.adds_up === false)
    expect(body.violations[0].subject).toBe(`Credit of ${org.org_id}`)
    expect(JSON.stringify(body)).not.toContain("our own parts")
    const shown = runMain(["admin", "show", org.org_id], { DATABASE_URL: app.databaseUrl }, [await compiledCommand()])
    expect((await shown.ended).code).toBe(1)
    expect(shown.output()).toContain("our own parts")
    await app.sql("DELETE FROM mailbox WHERE parked IS NOT NULL")
  })

  test("fifty who ask at once get one answer, and later ones a later one", async () => {
    const org = await app.tenant("1.00")
    const answers = await Promise.all(Array.from({ length: 50 }, () => audit(org)))
    expect(answers.every((one) => one.adds_up && one.entries === 1)).toBe(true)
    expect(new Set(answers.map((one) => one.checked_at)).size).toBeLessThan(10)
    await org.credit("2.00")
    const later = await auditOf(org, (found) => found.entries === 2)
    expect(later).toMatchObject({ adds_up: true, balance: "3.00", sums: { bonus: "3.00" } })
    expect(later.checked_at > (answers[0]?.checked_at ?? "")).toBe(true)
  })
})

test("the operator's audit prints the sheet and is what last_full_check tells", async () => {
  const app = await startApp()
  const org = await app.tenant("10.00")
  await org.run(verify())
  await org.post("/v1/wallet/topups/checkout", { amount: "25.00" })
  const operator = async () => {
    const child = Bun.spawn([await compiledCommand(), "audit"], {
      env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", DATABASE_URL: app.databaseUrl },
      stdout: "pipe",
      stderr: "pipe"
    })
    return { text: await new Response(child.stdout).text(), code: await child.exited }
  }
  const last = async () => (await org.get("/v1/wallet/audit")).body.last_full_check
  expect(await last()).toBeNull()
  const good = await operator()
  const lines = good.text.split("\n").map((line) => line.replace(/ {2,}/g, "  "))
  expect(lines).toContain("top-ups  25.00")
  expect(lines).toContain("refunds and disputes of top-ups  0.00")
  expect(lines).toContain("bonuses, including referrals  10.00")
  expect(lines).toContain("charged to runs  -0.003")
  expect(lines).toContain("balance of all wallets  34.997")
  expect(good.text).toContain("The books add up")
  expect(good.code).toBe(0)
  const first = await last()
  expect(first).toEqual({ checked_at: expect.any(String), adds_up: true })
  await app.sql("UPDATE wallets SET balance = balance + 1 WHERE org_id = $1", [org.org_id])
  const bad = await operator()
  expect(bad.text).toContain(
    "VIOLATION E6 the sum of all balances equals the money that came in minus the money that went out: all wallets"
  )
  expect(bad.code).toBe(1)
  const second = await last()
  expect(second.adds_up).toBe(false)
  expect(second.checked_at > first.checked_at).toBe(true)
  await app.stop()
})
