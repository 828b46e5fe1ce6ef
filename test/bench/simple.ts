/**
 * The yardstick: the simplest honest Postgres service. Two single-statement transactions per run, no actors, no queue.
 *
 * It checks the key, reserves with a conditional update, "calls" an instant provider, settles, and answers. It has no
 * idempotency, no attempts, no limits, no history, no recovery: what Rungate does beyond this is what it may cost more.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"

const url = process.env["DATABASE_URL"] ?? ""
const layer = PgClient.layer({
  url: Redacted.make(url),
  maxConnections: 16,
  startupParameters: { synchronous_commit: "on" }
})

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS simple_wallets (org_id text PRIMARY KEY, key text UNIQUE, balance bigint NOT NULL, reserved bigint NOT NULL DEFAULT 0 CHECK (balance - reserved >= 0), CHECK (reserved >= 0))`
  yield* sql`CREATE TABLE IF NOT EXISTS simple_runs (run_id text PRIMARY KEY, org_id text NOT NULL, status text NOT NULL, hold bigint NOT NULL, charged bigint, input json NOT NULL, result json, created_at timestamptz NOT NULL DEFAULT now())`
  yield* sql`CREATE TABLE IF NOT EXISTS simple_ledger (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, org_id text NOT NULL, run_id text NOT NULL, type text NOT NULL, amount bigint NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`
  yield* sql`INSERT INTO simple_wallets SELECT 'org_' || n, 'key_' || n, 1000000000000 FROM generate_series(0, 99) n ON CONFLICT DO NOTHING`

  const run = (key: string, input: string) =>
    Effect.gen(function* () {
      const run_id = crypto.randomUUID()
      const [reserved] = yield* sql<{ org_id: string }>`
        WITH w AS (UPDATE simple_wallets SET reserved = reserved + 29400 WHERE key = ${key} AND balance - reserved >= 29400 RETURNING org_id),
             r AS (INSERT INTO simple_runs (run_id, org_id, status, hold, input) SELECT ${run_id}, org_id, 'running', 29400, ${input}::text::json FROM w),
             l AS (INSERT INTO simple_ledger (org_id, run_id, type, amount) SELECT org_id, ${run_id}, 'reserve', -29400 FROM w)
        SELECT org_id FROM w`
      if (reserved === undefined) return new Response('{"error":"insufficient"}', { status: 402 })
      const result = JSON.stringify({ email: "ada.lovelace@example.com", email_status: "valid", confidence: 85 })
      yield* sql`
        WITH w AS (UPDATE simple_wallets SET reserved = reserved - 29400, balance = balance - 12000 WHERE org_id = ${reserved.org_id}),
             r AS (UPDATE simple_runs SET status = 'succeeded', charged = 12000, result = ${result}::text::json WHERE run_id = ${run_id}),
             l AS (INSERT INTO simple_ledger (org_id, run_id, type, amount) VALUES (${reserved.org_id}, ${run_id}, 'settle', -12000), (${reserved.org_id}, ${run_id}, 'release', 17400))
        SELECT 1`
      return Response.json({
        run_id,
        status: "succeeded",
        billing: { quoted: "0.0294", charged: "0.012" },
        result: JSON.parse(result)
      })
    })

  const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { input } = await request.json()
      const key = (request.headers.get("authorization") ?? "").slice(7)
      return runPromise(run(key, JSON.stringify(input)))
    }
  })
  console.log(`Try: http://127.0.0.1:${server.port}`)
  yield* Effect.never
})

Effect.runFork(program.pipe(Effect.provide(layer), Effect.orDie))
