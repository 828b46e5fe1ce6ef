/** The ledger can't be changed, and when somebody with every right changes it all the same, the auditor says where. */
import { beforeAll, describe, expect, test } from "bun:test"
import { Context, Effect } from "effect"
import { Audit } from "../../src/layers/audit/Audit.ts"
import { figures, rehearse, type Tenant, timed, verify, withApp } from "../kit/app.ts"
import { compiledCommand } from "../kit/compiled-command.ts"
import { indexedAndCounted } from "../kit/finished-work.ts"

describe("T04 ledger.immutable", () => {
  let org: Tenant
  const app = withApp()
  beforeAll(async () => {
    org = await app.tenant("100.00")
    for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 20 }, (_, n) => org.run(verify(`p${i}.${n}`))))
    await org.run(rehearse("error"))
  })
  const audit = () => Effect.runPromise(Context.get(app.context, Audit).run)

  test("UPDATE, DELETE and TRUNCATE are refused, and an entry that does not continue the chain too", async () => {
    const values = "$1, 99999, 'txn_x', 'bonus', 1, 1, 0, NULL, 'x', NULL, sha256('')"
    const attempts: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
      ["UPDATE ledger SET amount = amount * 2 WHERE org_id = $1", [org.org_id]],
      ["UPDATE ledger SET note = 'x' WHERE org_id = $1 AND seq = 1", [org.org_id]],
      ["DELETE FROM ledger WHERE org_id = $1 AND seq = 1", [org.org_id]],
      ["DELETE FROM ledger WHERE false", []],
      ["TRUNCATE ledger", []],
      [
        `INSERT INTO ledger (org_id, seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, note, hash) VALUES (${values})`,
        [org.org_id]
      ],
      ["UPDATE wallets SET reserved = balance + 1 WHERE org_id = $1", [org.org_id]],
      ["UPDATE runs SET status = 'running', finished_at = NULL WHERE org_id = $1", [org.org_id]]
    ]
    let refused = 0
    for (const [text, given] of attempts) {
      const error = await app.sql(text, given).then(
        () => `not refused: ${text}`,
        (failure: Error) => failure.message
      )
      expect(error).toMatch(/append-only|does not continue|wallet_solvent|is final|check/)
      refused += 1
    }
    expect((await audit()).violations).toEqual([])
    figures("T04 ledger.immutable (refusals)", {
      attempts: attempts.length,
      refused,
      violations: attempts.length - refused
    })
  })

  test("tampering with the triggers disabled is named by the auditor", async () => {
    // Usage that is counted while an entry is wrong stays wrong after the entry is right again.
    await indexedAndCounted(app)
    const { value: clean, millis } = await timed(audit)
    expect(clean.violations).toEqual([])
    const one = `org_id = '${org.org_id}'`
    const [settled] = await app.sql(
      `SELECT seq::text AS seq, run_id FROM ledger WHERE ${one} AND type = 'settle' ORDER BY seq LIMIT 1`
    )
    const seq = String(settled?.["seq"])
    const run_id = String(settled?.["run_id"])
    const cases: ReadonlyArray<readonly [string, string, string, string, ReadonlyArray<string>]> = [
      [
        "an amount",
        "ledger",
        `UPDATE ledger SET amount = amount - 1 WHERE ${one} AND seq = ${seq}`,
        `UPDATE ledger SET amount = amount + 1 WHERE ${one} AND seq = ${seq}`,
        ["E1", "E4", "E5", "E6", "E7", "E9"]
      ],
      [
        "a balance_after",
        "ledger",
        `UPDATE ledger SET balance_after = balance_after + 1 WHERE ${one} AND seq = ${seq}`,
        `UPDATE ledger SET balance_after = balance_after - 1 WHERE ${one} AND seq = ${seq}`,
        ["E7", "E9"]
      ],
      [
        "a number",
        "ledger",
        `UPDATE ledger SET seq = seq + 1000000 WHERE ${one} AND seq = ${seq}`,
        `UPDATE ledger SET seq = seq - 1000000 WHERE ${one} AND seq = ${seq} + 1000000`,
        ["E7", "E9"]
      ],
      [
        "an entry's run",
        "ledger",
        `UPDATE ledger SET run_id = 'run_none' WHERE ${one} AND seq = ${seq}`,
        `UPDATE ledger SET run_id = '${run_id}' WHERE ${one} AND seq = ${seq}`,
        ["E4", "E5", "E9"]
      ],
      [
        "a wallet's balance",
        "wallets",
        `UPDATE wallets SET balance = balance + 1 WHERE ${one}`,
        `UPDATE wallets SET balance = balance - 1 WHERE ${one}`,
        ["E1"]
      ],
      [
        "a wallet's hold",
        "wallets",
        `UPDATE wallets SET reserved = reserved + 1 WHERE ${one}`,
        `UPDATE wallets SET reserved = reserved - 1 WHERE ${one}`,
        ["E2"]
      ],
      [
        "a run's charge",
        "runs",
        `UPDATE runs SET charged = charged - 1 WHERE ${one} AND run_id = '${run_id}'`,
        `UPDATE runs SET charged = charged + 1 WHERE ${one} AND run_id = '${run_id}'`,
        ["E5"]
      ]
    ]
    const missed: Array<string> = []
    for (const [name, table, tamper, undo, equations] of cases) {
      await app.sql(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
      await app.sql(tamper)
      const { violations } = await audit()
      const found = new Set(violations.map((violation) => violation.equation.split(" ")[0] ?? ""))
      for (const equation of equations)
        if (!found.has(equation)) missed.push(`${name}: ${equation} not among ${[...found].join(", ")}`)
      const named = violations.every(
        ({ subject }) => subject.includes(org.org_id) || subject.startsWith("run_") || subject === "all wallets"
      )
      if (!named) missed.push(`${name}: ${JSON.stringify(violations)}`)
      if (
        equations.includes("E7") &&
        !violations.some((violation) => violation.subject.includes(`entry ${name === "a number" ? "" : seq}`))
      ) {
        missed.push(`${name}: the entry is not named`)
      }
      await app.sql(undo)
      await app.sql(`ALTER TABLE ${table} ENABLE TRIGGER USER`)
    }
    expect(missed).toEqual([])
    expect((await audit()).violations).toEqual([])
    figures("T04 ledger.immutable (tampering)", {
      cases: cases.length,
      missed: missed.length,
      entries: clean.entries,
      entries_per_s: Math.round((clean.entries * 1_000) / millis),
      violations: missed.length
    })
  })

  test("`rungate audit` exits 0 when the books add up, and 1 with the place when they don't", async () => {
    const run = async () => {
      const child = Bun.spawn([await compiledCommand(), "audit"], {
        env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", DATABASE_URL: app.databaseUrl },
        stdout: "pipe",
        stderr: "pipe"
      })
      return { text: await new Response(child.stdout).text(), code: await child.exited }
    }
    const good = await run()
    expect(good.text).toContain("The books add up")
    expect(good.code).toBe(0)
    await app.sql("UPDATE wallets SET balance = balance + 1 WHERE org_id = $1", [org.org_id])
    const bad = await run()
    await app.sql("UPDATE wallets SET balance = balance - 1 WHERE org_id = $1", [org.org_id])
    expect(bad.text).toContain(`VIOLATION E1 balance = sum of topup, bonus, refund and settle: ${org.org_id}`)
    expect(bad.code).toBe(1)
    await app.books()
  })
})
