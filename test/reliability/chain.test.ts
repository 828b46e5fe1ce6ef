/**
 * The ledger's hash chain: whatever somebody with every right changes in an entry, and with every trigger off, the auditor names the
 * place.
 */
import { beforeAll, describe, expect, test } from "bun:test"
import { Context, Effect } from "effect"
import { Audit } from "../../src/layers/audit/Audit.ts"
import { type App, figures, startApp, type Tenant, timed, verify, withApp } from "../kit/app.ts"

const audit = (app: App) => Effect.runPromise(Context.get(app.context, Audit).run)

/** Lines of the auditor about the chain. */
const brokenLinks = async (app: App) =>
  (await audit(app)).violations.filter(({ equation }) => equation.startsWith("E9")).map(({ subject }) => subject)

describe("T04 ledger.immutable (chain)", () => {
  let org: Tenant
  const app = withApp()
  beforeAll(async () => {
    org = await app.tenant("100.00")
    for (let i = 0; i < 20; i++) await org.run(verify(`c${i}`))
    await org.credit("1.00")
    await org.run(verify("last"))
    const other = await app.tenant("5.00")
    await other.run(verify())
  })

  /** Does `work` as somebody who may switch triggers off. */
  const unguarded = async (work: () => Promise<unknown>) => {
    await app.sql("ALTER TABLE ledger DISABLE TRIGGER USER")
    await work()
    await app.sql("ALTER TABLE ledger ENABLE TRIGGER USER")
  }
  /** One entry of each: a run's, and a credit, which has a note. */
  const entry = async (type: string) => {
    const [row] = await app.sql(
      "SELECT seq::int AS seq FROM ledger WHERE org_id = $1 AND type = $2 AND seq > 5 ORDER BY seq LIMIT 1",
      [org.org_id, type]
    )
    return Number(row?.["seq"])
  }

  /** A change of one bit that undoes itself when it is done again, by column. */
  const text = (column: string) =>
    `convert_from(set_byte(convert_to(${column}, 'UTF8'), length(${column}) - 1, get_byte(convert_to(${column}, 'UTF8'), length(${column}) - 1) # 1), 'UTF8')`
  const number = (column: string) => `${column} # 1`
  const flips: Readonly<Record<string, readonly [type: string, flip: string]>> = {
    org_id: ["bonus", text("org_id")],
    seq: ["bonus", "seq # 1048576"],
    txn_id: ["settle", text("txn_id")],
    // A byte of it makes no type; another type of the same sign is the least that can be done to it.
    type: ["bonus", "CASE type WHEN 'bonus' THEN 'topup' ELSE 'bonus' END"],
    amount: ["settle", number("amount")],
    balance_after: ["settle", number("balance_after")],
    reserved_after: ["settle", number("reserved_after")],
    run_id: ["settle", text("run_id")],
    reference: ["settle", text("reference")],
    note: ["bonus", text("note")],
    created_at: [
      "settle",
      "CASE WHEN extract(microseconds FROM created_at)::int % 2 = 0 THEN created_at + interval '1 microsecond' ELSE created_at - interval '1 microsecond' END"
    ],
    hash: ["settle", "set_byte(hash, 31, get_byte(hash, 31) # 1)"]
  }

  test("one bit in any column of an entry is refused, and done without the triggers it is named", async () => {
    const columns = await app.sql(
      "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'ledger'"
    )
    expect(Object.keys(flips).sort()).toEqual(columns.map((one) => String(one["name"])).sort())
    expect(await brokenLinks(app)).toEqual([])
    const missed: Array<string> = []
    for (const [column, [type, flip]] of Object.entries(flips)) {
      const seq = await entry(type)
      // Found again by a column that stays as it is.
      const by = column === "txn_id" ? "reference" : "txn_id"
      const [row] = await app.sql(`SELECT ${by} AS name FROM ledger WHERE org_id = $1 AND seq = $2`, [org.org_id, seq])
      const tamper = () =>
        app.sql(`UPDATE ledger SET ${column} = ${flip} WHERE ${by} = $1 AND type IN ('settle', 'bonus', 'topup')`, [
          row?.["name"]
        ])
      const refused = await tamper().then(
        () => false,
        (error: Error) => error.message.includes("append-only")
      )
      if (!refused) missed.push(`${column}: not refused`)
      await unguarded(tamper)
      const found = await brokenLinks(app)
      // What left its place is missed by the entry that came after it.
      const place = column === "org_id" || column === "seq" ? seq + 1 : seq
      if (!found.includes(`${org.org_id} entry ${place}`)) missed.push(`${column} of ${seq}: ${found.join(", ")}`)
      await unguarded(tamper)
    }
    expect(missed).toEqual([])
    await app.books()
    figures("T04 ledger.immutable (one bit)", {
      columns: columns.length,
      named: columns.length,
      violations: missed.length
    })
  })

  test("an entry left out, two in each other's place, one rewritten with its own hash, one appended: each is named", async () => {
    const at = await entry("settle")
    const [last] = await app.sql("SELECT entry_seq::int AS seq FROM wallets WHERE org_id = $1", [org.org_id])
    const newest = Number(last?.["seq"])
    await app.sql("CREATE TABLE kept AS SELECT * FROM ledger WHERE org_id = $1", [org.org_id])
    const cases: ReadonlyArray<readonly [what: string, tamper: string, named: number]> = [
      ["the first left out", "DELETE FROM ledger WHERE org_id = $1 AND seq = 1", 2],
      ["one left out", `DELETE FROM ledger WHERE org_id = $1 AND seq = ${at}`, at + 1],
      ["the newest left out", `DELETE FROM ledger WHERE org_id = $1 AND seq = ${newest}`, newest],
      [
        "two in each other's place",
        `UPDATE ledger l SET seq = 2 * ${at} + 1 - l.seq FROM ledger o
         WHERE l.org_id = $1 AND l.seq IN (${at}, ${at + 1}) AND o.org_id = $1 AND o.seq = l.seq`,
        at
      ],
      [
        "rewritten, with a hash that fits",
        `UPDATE ledger l SET note = 'x', hash = ledger_hash(p.hash, json_populate_record(l, '{"note":"x"}'))
         FROM ledger p WHERE l.org_id = $1 AND l.seq = ${at} AND p.org_id = $1 AND p.seq = ${at} - 1`,
        at + 1
      ],
      [
        "one appended, with a hash that fits",
        `INSERT INTO ledger
         SELECT f.* FROM ledger l,
           LATERAL json_populate_record(l, json_build_object('seq', l.seq + 1, 'txn_id', 'txn_forged', 'type', 'bonus', 'amount', 1,
             'balance_after', l.balance_after + 1, 'run_id', NULL, 'reference', 'forged')) n,
           LATERAL json_populate_record(n, json_build_object('hash', ledger_hash(l.hash, n))) f
         WHERE l.org_id = $1 AND l.seq = ${newest}`,
        newest
      ]
    ]
    // Two numbers can't be exchanged one row after the other while the key is checked at once.
    await app.sql("ALTER TABLE ledger_first DROP CONSTRAINT ledger_first_pkey")
    for (const { name } of await app.sql(
      "SELECT indexname AS name FROM pg_indexes WHERE indexname ~ '^ledger_.*_chain$'"
    ))
      await app.sql(`DROP INDEX ${name}`)
    const missed: Array<string> = []
    for (const [what, tamper, seq] of cases) {
      await unguarded(() => app.sql(tamper, [org.org_id]))
      const found = await brokenLinks(app)
      if (!found.includes(`${org.org_id} entry ${seq}`)) missed.push(`${what}: ${found.join(", ")}, not ${seq}`)
      await unguarded(async () => {
        await app.sql("DELETE FROM ledger WHERE org_id = $1", [org.org_id])
        await app.sql("INSERT INTO ledger SELECT * FROM kept")
      })
    }
    // Who rewrites the wallet as well still has to know what stood there before.
    await app.sql("UPDATE wallets SET head = sha256(head) WHERE org_id = $1", [org.org_id])
    if (!(await brokenLinks(app)).includes(`${org.org_id} entry ${newest}`)) missed.push("another head")
    await app.sql("UPDATE wallets w SET head = k.hash FROM kept k WHERE k.org_id = w.org_id AND k.seq = w.entry_seq")
    expect(missed).toEqual([])
    await app.books()
    figures("T04 ledger.immutable (entries)", { cases: cases.length + 1, violations: missed.length })
  })
})

test("T04 a longer ledger is verified quickly, and the one changed entry in it is found", async () => {
  const app = await startApp()
  const org = await app.tenant("1.00")
  const entries = 20_000
  await app.sql("ALTER TABLE ledger DISABLE TRIGGER USER")
  await app.sql(`
    DO $$
    DECLARE e ledger;
    BEGIN
      SELECT * INTO e FROM ledger WHERE org_id = '${org.org_id}';
      FOR n IN 2..${entries} LOOP
        e.seq := n; e.txn_id := 'txn_' || n; e.reference := 'many_' || n; e.amount := 1; e.balance_after := e.balance_after + 1;
        e.hash := ledger_hash(e.hash, e);
        INSERT INTO ledger SELECT e.*;
      END LOOP;
      UPDATE wallets SET entry_seq = e.seq, balance = e.balance_after, head = e.hash WHERE org_id = e.org_id;
    END $$`)
  await app.sql("ANALYZE ledger")
  expect((await audit(app)).violations).toEqual([])
  const { value, millis } = await timed(() => audit(app))
  expect(value.entries).toBe(entries)
  await app.sql("UPDATE ledger SET note = 'X' WHERE org_id = $1 AND seq = 12345", [org.org_id])
  expect((await audit(app)).violations.map(({ equation, subject }) => [equation.slice(0, 2), subject])).toEqual([
    ["E9", `${org.org_id} entry 12345`]
  ])
  figures("T04 ledger.immutable (speed)", { entries, entries_per_s: Math.round((entries * 1_000) / millis) })
  await app.stop()
})
