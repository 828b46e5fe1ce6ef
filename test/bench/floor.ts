/**
 * The floor: the smallest service that keeps the rules of Rungate's tables. It has the same two commits for each run, the same constraints and
 * triggers, the chain of hashes, the lease and the check of the API key, and nothing else: no routing, no limits, no history, no recovery.
 *
 * It is written in plain functions, with one connection that takes turns and one call of a PL/pgSQL function for each turn. What Rungate costs
 * beyond this is what its own code costs. With FLOOR_SHARED=1 several processes share the wallets: each turn takes a lock and reads its wallets.
 */
import { Client } from "pg"
import { sessionSettingsOf } from "../../src/layers/postgres/SessionSettings.ts"
import { link, type Linked, type Unlinked } from "../../src/layers/ledger/LedgerChain.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { MicroUsd } from "../../src/schema/money/Money.ts"

// The plans of the tables' triggers suit these settings, as in the service. Others read whole tables.
const options = Object.entries(sessionSettingsOf(null))
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(" ")
const client = new Client({ connectionString: process.env["DATABASE_URL"] ?? "", options })
await client.connect()

const shared = process.env["FLOOR_SHARED"] === "1"
const hold = 46_800n
const charge = 28_800n
const attempts = '[{"provider":"leadmagic","outcome":"succeeded","duration_ms":1,"detail":null}]'
const result =
  '{"email":"ada.lovelace@example.com","email_status":"valid","confidence":85,"first_name":"Ada","last_name":"Lovelace"}'
const plan = JSON.stringify({
  ...{ providers: ["leadmagic", "hunter"], attempts_max: 3, routing: "auto", include_raw: false, side_effect: false },
  excluded: []
})

/** A function whose arguments are arrays, as the names and types of their columns. */
const args = (prefix: string, columns: string) =>
  columns.split(", ").map((column) => {
    const [name = "", type = ""] = column.split(" ")
    return { name: `${prefix}_${name}`, column: name, type }
  })
const wallet = args(
  "w",
  "org_id text, version bigint, balance bigint, reserved bigint, seq bigint, head bytea, opened bigint"
)
const entry = args(
  "e",
  "org_id text, seq bigint, txn_id text, type text, amount bigint, balance bigint, reserved bigint, run_id text, hash bytea"
)
const begun = args("b", "run_id text, org_id text, key_id text, request_id text, input text, lease text")
const ended = args("d", "run_id text, org_id text, lease text")
const all = [...wallet, ...entry, ...begun, ...ended]
const rows = (group: typeof all) =>
  `unnest(${group.map(({ name }) => name).join(", ")}) AS n(${group.map(({ column }) => column).join(", ")})`

await client.query(`
  CREATE OR REPLACE FUNCTION floor_turn(at timestamptz, ${all.map(({ name, type }) => `${name} ${type}[]`).join(", ")}) RETURNS void
  LANGUAGE plpgsql AS $$
  DECLARE changed int;
  BEGIN
    UPDATE wallets w SET version = w.version + 1, balance = n.balance, reserved = n.reserved, entry_seq = n.seq, head = n.head,
                         open_runs = w.open_runs + n.opened
    FROM ${rows(wallet)} WHERE w.org_id = n.org_id AND w.version = n.version;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed <> cardinality(w_org_id) THEN RAISE 'a wallet has changed'; END IF;
    IF cardinality(d_run_id) > 0 THEN
      DELETE FROM open_runs o USING ${rows(ended)} WHERE o.run_id = n.run_id AND o.lease_token = n.lease;
      GET DIAGNOSTICS changed = ROW_COUNT;
      IF changed <> cardinality(d_run_id) THEN RAISE 'a lease has changed'; END IF;
      UPDATE runs_recent r SET status = 'succeeded', charged = ${charge}, provider_cost = 24000, provider = 'leadmagic', attempts = '${attempts}',
                               hints = '[]', result = '${result}', finished_at = at
      FROM ${rows(ended)} WHERE r.org_id = n.org_id AND r.run_id = n.run_id AND r.finished_at IS NULL;
    END IF;
    IF cardinality(b_run_id) > 0 THEN
      PERFORM FROM api_keys k WHERE k.key_id = ANY(b_key_id) AND k.revoked_at IS NULL FOR SHARE;
      INSERT INTO runs_recent (org_id, run_id, key_id, request_id, fingerprint, kind, capability, provider, hold, quoted, input, plan,
                               routing_reason, input_hash, created_at)
      SELECT org_id, run_id, key_id, request_id, 'fingerprint', 'capability', 'email.find', 'leadmagic', ${hold}, ${hold}, input::json, '${plan}',
             'best value of four', 'hash', at FROM ${rows(begun)};
      INSERT INTO open_runs (run_id, org_id, hold, state, provider, side_effect, worker_id, lease_token, attempts, since)
      SELECT run_id, org_id, ${hold}, 'running', 'leadmagic', false, 'floor', lease, '[{"provider":"leadmagic"}]', at FROM ${rows(begun)};
    END IF;
    INSERT INTO ledger (org_id, seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, hash, created_at)
    SELECT org_id, seq, txn_id, type, amount, balance, reserved, run_id, run_id, hash, at FROM ${rows(entry)};
  END $$`)
await client.query(
  "INSERT INTO workers (worker_id, expires_at) VALUES ('floor', now() + interval '1 day') ON CONFLICT DO NOTHING"
)

interface Wallet {
  readonly org_id: string
  version: bigint
  balance: bigint
  reserved: bigint
  seq: bigint
  head: Uint8Array | null
}
interface Run {
  readonly run_id: string
  readonly org_id: string
  readonly key_id: string
  readonly request_id: string
  readonly input: string
  readonly lease: string
}
interface Command {
  readonly run: Run
  readonly ends: boolean
  readonly done: () => void
}

const read = await client.query(
  "SELECT encode(k.key_hash, 'hex') AS token, k.key_id, w.org_id, w.version, w.balance, w.reserved, w.entry_seq, w.head FROM wallets w JOIN api_keys k USING (org_id)"
)
const wallets = new Map<string, Wallet>()
const callers = new Map<string, { readonly org_id: string; readonly key_id: string }>()
interface WalletRow {
  readonly org_id: string
  readonly version: string
  readonly balance: string
  readonly reserved: string
  readonly entry_seq: string
  readonly head: Uint8Array | null
}
const walletOf = ({ org_id, version, balance, reserved, entry_seq, head }: WalletRow): Wallet => ({
  ...{ org_id, head, version: BigInt(version), seq: BigInt(entry_seq) },
  ...{ balance: BigInt(balance), reserved: BigInt(reserved) }
})
for (const row of read.rows) {
  callers.set(row.token, { org_id: row.org_id, key_id: row.key_id })
  wallets.set(row.org_id, walletOf(row))
}

/** Nobody else changes the wallets until the turn ends. */
const lockWallets = async (commands: ReadonlyArray<Command>) => {
  await client.query("SELECT pg_advisory_lock(1)")
  const orgs = [...new Set(commands.map(({ run }) => run.org_id))]
  const text = "SELECT org_id, version, balance, reserved, entry_seq, head FROM wallets WHERE org_id = ANY($1)"
  const { rows } = await client.query({ name: "read", text, values: [orgs] })
  for (const row of rows) wallets.set(row.org_id, walletOf(row))
}

const book = (commands: ReadonlyArray<Command>) => {
  const touched = new Map<
    string,
    { readonly wallet: Wallet; readonly version: bigint; readonly head: Uint8Array | null; opened: number }
  >()
  const entries: Array<Unlinked> = []
  for (const { run, ends } of commands) {
    const wallet = wallets.get(run.org_id)
    if (wallet === undefined) throw new Error(`${run.org_id} has no wallet`)
    const one = touched.get(run.org_id) ?? { wallet, version: wallet.version, head: wallet.head, opened: 0 }
    touched.set(run.org_id, one)
    const post = (type: "reserve" | "settle" | "release", amount: bigint) => {
      wallet.seq += 1n
      wallet.reserved += type === "settle" ? amount : -amount
      if (type === "settle") wallet.balance += amount
      entries.push({
        ...{ org_id: run.org_id, seq: wallet.seq, txn_id: newId("txn"), type, amount: MicroUsd(amount) },
        ...{ balance_after: MicroUsd(wallet.balance), reserved_after: MicroUsd(wallet.reserved) },
        ...{ run_id: run.run_id, reference: run.run_id, note: null }
      })
    }
    if (ends) {
      post("settle", -charge)
      post("release", hold - charge)
    } else post("reserve", -hold)
    one.opened += ends ? -1 : 1
  }
  return { touched: [...touched.values()], entries }
}

const columns = <A>(values: ReadonlyArray<A>, ...of: ReadonlyArray<(value: A) => unknown>) =>
  of.map((read) => values.map(read))
const bytes = (value: Uint8Array | null) => (value === null ? null : Buffer.from(value))

let waiting: Array<Command> = []
let turning = false
const turns = async () => {
  while (waiting.length > 0) {
    const commands = waiting
    waiting = []
    if (shared) await lockWallets(commands)
    const micros = BigInt(Date.now()) * 1000n
    const { touched, entries } = book(commands)
    const linked = link(new Map(touched.map(({ wallet, head }) => [wallet.org_id, { head }])), entries, micros)
    for (const { wallet } of touched) {
      wallet.head = linked.heads.get(wallet.org_id) ?? wallet.head
      wallet.version += 1n
    }
    const runs = (ends: boolean) => commands.flatMap((one) => (one.ends === ends ? [one.run] : []))
    await client.query({
      name: "turn",
      text: `SELECT floor_turn($1, ${all.map((_, n) => `$${n + 2}`).join(", ")})`,
      values: [
        new Date(Number(micros / 1000n)),
        ...columns(
          touched,
          (t) => t.wallet.org_id,
          (t) => t.version,
          (t) => t.wallet.balance,
          (t) => t.wallet.reserved,
          (t) => t.wallet.seq,
          (t) => bytes(t.wallet.head),
          (t) => t.opened
        ),
        ...columns<Linked>(
          linked.entries,
          (e) => e.org_id,
          (e) => e.seq,
          (e) => e.txn_id,
          (e) => e.type,
          (e) => e.amount,
          (e) => e.balance_after,
          (e) => e.reserved_after,
          (e) => e.run_id,
          (e) => bytes(e.hash)
        ),
        ...columns(
          runs(false),
          (r) => r.run_id,
          (r) => r.org_id,
          (r) => r.key_id,
          (r) => r.request_id,
          (r) => r.input,
          (r) => r.lease
        ),
        ...columns(
          runs(true),
          (r) => r.run_id,
          (r) => r.org_id,
          (r) => r.lease
        )
      ]
    })
    if (shared) await client.query("SELECT pg_advisory_unlock(1)")
    for (const { done } of commands) done()
  }
  turning = false
}
const decided = (run: Run, ends: boolean) =>
  new Promise<void>((done) => {
    waiting.push({ run, ends, done })
    if (turning) return
    turning = true
    setImmediate(turns)
  })

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const token = (request.headers.get("authorization") ?? "").slice(7)
    const caller = callers.get(new Bun.CryptoHasher("sha256").update(token).digest("hex"))
    if (caller === undefined) return new Response("{}", { status: 401 })
    const { input } = await request.json()
    const ids = { run_id: newId("run"), request_id: newId("req"), lease: crypto.randomUUID() }
    const run = { ...caller, ...ids, input: JSON.stringify(input) }
    await decided(run, false)
    await decided(run, true)
    const billing = '{"quoted":"0.0468","charged":"0.0288"}'
    const body = `{"run_id":"${run.run_id}","status":"succeeded","billing":${billing},"attempts":${attempts},"result":${result}}`
    return new Response(body, { headers: { "content-type": "application/json", "x-request-id": run.request_id } })
  }
})
console.log(`Try: http://127.0.0.1:${server.port}`)
