/** Each rule of a run's and of an entry's row is refused by its name, in every partition, whoever writes the row by hand. */
import { beforeAll, describe, expect, test } from "bun:test"
import { Client } from "pg"
import { makeId } from "../../src/schema/Ids.ts"
import { type Tenant, verify, withApp } from "../kit/app.ts"

type Change = Readonly<Record<string, unknown>>

/** For each rule, what breaks it in the row of a run that has succeeded. */
const wrongRuns: Readonly<Record<string, Change>> = {
  runs_kind_check: { kind: "actor" },
  run_kind: { endpoint: "hunter/v2/email-finder" },
  runs_status_check: { status: "running" },
  run_finished: { finished_at: null },
  runs_hold_check: { hold: -1 },
  runs_quoted_check: { quoted: -1 },
  run_charge: { charged: 1_000_000_000_000 },
  run_charged_only_when_delivered: { status: "failed" },
  runs_provider_cost_check: { provider_cost: -1 },
  runs_idempotency_key_check: { idempotency_key: "" }
}

/** For each rule, what breaks it in an entry that settles a run. */
const wrongEntries: Readonly<Record<string, Change>> = {
  ledger_seq_check: { seq: 0 },
  ledger_type_check: { type: "gift" },
  ledger_sign: { amount: 1 },
  ledger_run: { run_id: null },
  ledger_reserved_after_check: { reserved_after: -1 },
  ledger_hash_length: { hash: "\\x00" },
  ledger_ids: { txn_id: "txn|1" }
}

const app = withApp()
let org: Tenant
let run_id: string

/** The rule that refused a statement. */
const ruleOf = (text: string, given: ReadonlyArray<unknown>): Promise<unknown> =>
  app.sql(text, given).then(
    () => "not refused",
    (error) => error.constraint ?? error.message
  )
/** The rules that a function of the database names. */
const rulesOf = async (name: string) =>
  [
    ...String((await app.sql("SELECT prosrc FROM pg_proc WHERE proname = $1", [name]))[0]?.["prosrc"]).matchAll(
      /THEN '(\w+)'/g
    )
  ]
    .map(([, rule]) => String(rule))
    .sort()
/** The tables that hold a table's rows, and itself. */
const placesOf = async (table: string) =>
  (await app.sql("SELECT relid::regclass::text AS place FROM pg_partition_tree($1::regclass)", [table])).map(
    ({ place }) => String(place)
  )
const insert = (place: string, table: string, where: string) =>
  `INSERT INTO ${place} SELECT (jsonb_populate_record(r, $2::jsonb)).* FROM ${table} r WHERE run_id = $1 ${where}`

beforeAll(async () => {
  org = await app.tenant("10.00")
  run_id = (await org.run(verify("ada"))).body.run_id
})

describe("a run", () => {
  test("has a case for each rule", async () => {
    expect(await rulesOf("run_rules")).toEqual(Object.keys(wrongRuns).sort())
  })

  test.each(Object.entries(wrongRuns))("%s", async (rule, change) => {
    const [[column, value] = ["", null]] = Object.entries(change)
    for (const place of await placesOf("runs"))
      expect([place, await ruleOf(insert(place, "runs", ""), [run_id, JSON.stringify(change)])]).toEqual([place, rule])
    expect(await ruleOf(`UPDATE runs SET ${column} = $2 WHERE run_id = $1`, [run_id, value])).toBe(rule)
  })

  test("is final, and holds what its rate card says", async () => {
    await expect(app.sql("UPDATE runs SET status = 'no_match' WHERE run_id = $1", [run_id])).rejects.toThrow("is final")
    await expect(app.sql("UPDATE runs SET charged = 0 WHERE run_id = $1", [run_id])).rejects.toThrow("is final")
    const raw = {
      status: "created",
      finished_at: null,
      charged: null,
      kind: "endpoint",
      capability: null,
      endpoint: "x"
    }
    const plan = { raw: { estimate: "0.5" } }
    for (const hold of [0, 499_999])
      await expect(
        app.sql(insert("runs", "runs", ""), [run_id, JSON.stringify({ ...raw, plan, hold })])
      ).rejects.toThrow("holds less than its rate card says")
  })
})

describe("an entry", () => {
  test("has a case for each rule", async () => {
    expect(await rulesOf("ledger_chains")).toEqual(Object.keys(wrongEntries).sort())
  })

  test.each(Object.entries(wrongEntries))("%s", async (rule, change) => {
    const [month] = await app.sql("SELECT tableoid::regclass::text AS place FROM ledger WHERE run_id = $1", [run_id])
    // A month refuses an entry without a run by its bounds.
    for (const place of rule === "ledger_run" ? ["ledger"] : ["ledger", String(month?.["place"])]) {
      const given = JSON.stringify({ run_id: makeId("run", Date.now()), seq: 1_000, ...change })
      expect([place, await ruleOf(insert(place, "ledger", "AND type = 'settle'"), [run_id, given])]).toEqual([
        place,
        rule
      ])
    }
  })
})

describe("entries of one statement", () => {
  /** Two entries that hold and release 100 of each organization, with the last one changed. The wallets are not. */
  const insertBoth = async (change: Change, orgs: ReadonlyArray<string>, shift = 0) => {
    const rows = []
    for (const org_id of orgs) {
      const [wallet] = await app.sql("SELECT balance, reserved, entry_seq FROM wallets WHERE org_id = $1", [org_id])
      const [balance, reserved, seq] = [wallet?.["balance"], wallet?.["reserved"], wallet?.["entry_seq"]].map(Number)
      const of = {
        org_id,
        run_id: makeId("run", Date.now()),
        balance_after: balance,
        reference: "x",
        hash: `\\x${"00".repeat(32)}`
      }
      const created_at = new Date().toISOString()
      rows.push(
        {
          ...of,
          created_at,
          txn_id: "txn_1",
          seq: Number(seq) + shift + 1,
          type: "reserve",
          amount: -100,
          reserved_after: Number(reserved) + 100
        },
        {
          ...of,
          created_at,
          txn_id: "txn_2",
          seq: Number(seq) + shift + 2,
          type: "release",
          amount: 100,
          reserved_after: Number(reserved)
        }
      )
    }
    const changed = rows.map((row, n) => (n === rows.length - 1 ? { ...row, ...change } : row))
    return ruleOf("INSERT INTO ledger SELECT * FROM jsonb_populate_recordset(NULL::ledger, $1::jsonb)", [
      JSON.stringify(changed.toReversed())
    ])
  }
  let other: Tenant

  beforeAll(async () => {
    other = await app.tenant("10.00")
  })

  test.each<Change>([{ seq: 1_000 }, { balance_after: 1 }, { reserved_after: 7 }])(
    "continue each other: %o",
    async (change) => {
      const end = `entry ${change["seq"] ?? ""}`
      for (const orgs of [[org.org_id], [org.org_id, other.org_id]])
        expect(await insertBoth(change, orgs)).toMatch(
          new RegExp(`^the ledger does not continue at ${orgs.at(-1)} ${end}`)
        )
    }
  )

  test("end where their wallets stand", async () => {
    expect(await insertBoth({}, [other.org_id])).toBe(`wallet ${other.org_id} does not equal its newest ledger entry`)
  })

  test("begin where the chain of each organization stands", async () => {
    expect(await insertBoth({}, [org.org_id, other.org_id], 5)).toContain("the ledger does not continue at")
  })
})

test("no temporary table of a session stands in for what a rule reads", async () => {
  const client = new Client({ connectionString: app.databaseUrl })
  await client.connect()
  try {
    await client.query("CREATE TEMP TABLE payments AS SELECT * FROM payments")
    await client.query(
      "INSERT INTO payments (payment_id, org_id, kind, amount, state) VALUES ('pay_x', $1, 'checkout', 10000, 'paid')",
      [org.org_id]
    )
    const credit = { run_id: null, seq: 1_000, type: "topup", amount: 10_000, reference: "pay_x" }
    const text = insert("ledger", "ledger", "AND type = 'settle'")
    await expect(client.query(text, [run_id, JSON.stringify(credit)])).rejects.toThrow("has no paid payment")
    await client.query("CREATE TEMP TABLE ledger AS SELECT * FROM ledger WHERE false")
    await client.query(
      "INSERT INTO pg_temp.ledger (org_id, seq, type, amount) SELECT org_id, entry_seq + 1, 'refund', -1000000000 FROM wallets WHERE org_id = $1",
      [org.org_id]
    )
    await expect(
      client.query("UPDATE wallets SET balance = -1, entry_seq = entry_seq + 1 WHERE org_id = $1", [org.org_id])
    ).rejects.toThrow("wallet_solvent")
  } finally {
    await client.end()
  }
})
