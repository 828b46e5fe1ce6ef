/** SQL that stores new runs: admission writes them with the commands that reserve their money, and a turn with what it decides of them. */
import type { SqlClient, Statement } from "effect/sql"
import { bigints, texts } from "../postgres/Rows.ts"
import type { RunRow } from "../../schema/nouns/Run.ts"
import type { Plan } from "../../schema/runs/Plan.ts"

/** A run that is about to be stored, in status `created`. */
export interface NewRun {
  readonly run_id: string
  readonly org_id: string
  /** The API key of the request; null for a session, which was checked when the request arrived. */
  readonly key_id: string | null
  /** The version of the API key whose scope the request was checked against. Null for a session. */
  readonly key_version: bigint | null
  /** The budget of that API key, which the run counts against. */
  readonly budget_id: string | null
  /** Digest of target and input (schema/guards/InputHash.ts). */
  readonly input_hash: string
  readonly request_id: string
  readonly idempotency_key: string | null
  /** Digest of the request without its waiting options. The same Idempotency-Key with another digest is a conflict. */
  readonly fingerprint: string
  readonly kind: "capability" | "endpoint"
  readonly capability: string | null
  readonly endpoint: string | null
  readonly provider: string | null
  readonly hold: bigint
  readonly quoted: bigint
  /** JSON text. */
  readonly input: string
  readonly plan: Plan
  readonly routing_reason: string
  /** JSON text of the caller's labels; null when there are none. */
  readonly metadata: string | null
}

/** Condition on an API key `k` that may be used. */
export const isUsableKey = "k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())"

/** Many runs have one plan. */
const planTexts = new WeakMap<Plan, string>()
const textOf = (plan: Plan): string => {
  const text = planTexts.get(plan) ?? JSON.stringify(plan)
  planTexts.set(plan, text)
  return text
}

/** Further columns of the runs: their values as SQL, and their names. */
interface More {
  readonly values: Statement.Fragment
  readonly names: string
}

/** The runs as rows, for `FROM`. */
export const newRunRows = (sql: SqlClient.SqlClient, runs: ReadonlyArray<NewRun>, more: More) => sql`unnest(
              ${texts(runs.map((r) => r.run_id))}, ${texts(runs.map((r) => r.org_id))}, ${texts(runs.map((r) => r.key_id))},
              ${texts(runs.map((r) => r.request_id))}, ${texts(runs.map((r) => r.idempotency_key))},
              ${texts(runs.map((r) => r.fingerprint))}, ${texts(runs.map((r) => r.kind))}, ${texts(runs.map((r) => r.capability))},
              ${texts(runs.map((r) => r.endpoint))}, ${texts(runs.map((r) => r.provider))}, ${bigints(runs.map((r) => r.hold))},
              ${bigints(runs.map((r) => r.quoted))}, ${texts(runs.map((r) => r.input))}, ${texts(runs.map((r) => textOf(r.plan)))},
              ${texts(runs.map((r) => r.routing_reason))}, ${texts(runs.map((r) => r.metadata))}, ${texts(runs.map((r) => r.budget_id))},
              ${texts(runs.map((r) => r.input_hash))}, ${more.values}
            ) AS n(run_id, org_id, key_id, request_id, idempotency_key, fingerprint, kind, capability, endpoint, provider, hold,
                   quoted, input, plan, routing_reason, metadata, budget_id, input_hash, ${sql.literal(more.names)})`

/** Inserts such rows. Without `more` the runs are created now and have not ended. */
export const insertRuns = (sql: SqlClient.SqlClient, from: Statement.Fragment, more?: More) => sql`
            INSERT INTO runs_recent (org_id, run_id, key_id, request_id, idempotency_key, fingerprint, kind, capability, endpoint, provider,
                              hold, quoted, input, plan, routing_reason, metadata, budget_id, input_hash, key_claimed${sql.literal(more === undefined ? "" : `, ${more.names}`)})
            SELECT org_id, run_id, key_id, request_id, idempotency_key, fingerprint, kind, capability, endpoint, provider,
                   hold, quoted, input::json, plan::json, routing_reason, metadata::jsonb, budget_id, input_hash,
                   CASE WHEN idempotency_key IS NOT NULL THEN true END${more === undefined ? sql.literal("") : sql`, ${more.values}`}
            FROM ${from}`

/** The row of a run that was just stored, without a look-up. It has no input and mostly no plan: a client that waits keeps it in memory. */
export const admittedRow = (run: NewRun, created_at: Date): RunRow => ({
  org_id: run.org_id,
  run_id: run.run_id,
  request_id: run.request_id,
  key_id: run.key_id,
  kind: run.kind,
  capability: run.capability,
  endpoint: run.endpoint,
  provider: null,
  status: "created",
  quoted: run.quoted,
  charged: null,
  routing_reason: run.routing_reason,
  attempts: null,
  hints: null,
  plan: run.plan.own === undefined ? null : JSON.stringify(run.plan),
  result: null,
  metadata: run.metadata,
  error_code: null,
  error_message: null,
  control: null,
  reused_from: null,
  created_at,
  finished_at: null,
  erased_at: null,
  approval: null,
  available: null
})
