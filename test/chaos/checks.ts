/**
 * Everything that must hold of a quiet installation: what clients were told, what providers saw, and the books, compared with each other.
 *
 * A finding is a sentence about what does not hold, under the name of its check.
 */
import type { Meter } from "./meter.ts"

export const checks = {
  acknowledged: "every acknowledged run is there, and every run ends",
  keys: "no idempotency key has two runs",
  calls: "providers see each attempt at most once, and nothing without a run",
  charges: "a run is charged once, and only for an answer that a provider gave",
  answers: "what an answer said of an ended run is what the books say",
  wallets: "no wallet is below zero, and nothing stays reserved",
  books: "the equations of the books hold (rungate audit)"
} as const
export type Check = keyof typeof checks

export interface Finding {
  readonly check: Check
  readonly text: string
}

export interface RunState {
  readonly org_id: string
  readonly run_id: string
  readonly key: string
  readonly status: string
  readonly capability: string
  /** Microdollars. */
  readonly charged: number | null
  readonly attempts: ReadonlyArray<{ readonly provider: string; readonly outcome: string }>
}

/** A final status and its charge in microdollars. */
export const ended = (status: string, charged: number | null): string =>
  charged === null ? status : `${status}, charged ${charged}`

/** What the checks ask of an installation (`World`). */
interface Checked {
  readonly runs: () => Promise<ReadonlyArray<RunState>>
  readonly meter: Meter
  /** By idempotency key: the run that some answer named. */
  readonly acknowledged: ReadonlyMap<string, string>
  /** By run: what answers said of ended runs, as `ended` writes it. */
  readonly told: ReadonlyMap<string, ReadonlySet<string>>
  readonly query: <Row extends Record<string, unknown>>(text: string) => Promise<ReadonlyArray<Row>>
  readonly audit: () => Promise<ReadonlyArray<string>>
}

export const finals = ["succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"]

/** Runs, keys and calls. `keys`: only of these, because all runs of a long soak are many. */
const ofRuns = async (world: Checked, keys: ReadonlySet<string> | null): Promise<ReadonlyArray<Finding>> => {
  const found: Array<Finding> = []
  const find = (check: Check, text: string) => found.push({ check, text })
  const runs = (await world.runs()).filter(({ key }) => keys === null || keys.has(key))
  const byKey = new Map<string, string>()
  for (const run of runs) {
    const calls = world.meter.of(run.key)
    // A run that was asked for without a key has none.
    const before = run.key === null ? undefined : byKey.get(run.key)
    if (before !== undefined) find("keys", `${run.key} has the runs ${before} and ${run.run_id}`)
    byKey.set(run.key, run.run_id)
    if (!finals.includes(run.status)) find("acknowledged", `${run.run_id} is ${run.status}`)
    const repeats = calls.filter(({ asked_again }) => asked_again).length
    if (calls.length > run.attempts.length + repeats)
      find("calls", `${run.run_id}: ${calls.length} calls, ${run.attempts.length} attempts (E8)`)
    if (run.attempts.length > 3) find("calls", `${run.run_id}: ${run.attempts.length} attempts (E8)`)
    if (run.status === "cancelled" && calls.length > 0) find("calls", `${run.run_id} was cancelled and called (E13)`)
    if (run.capability === "email.send" && run.attempts.some((one) => one.outcome === "worker_lost"))
      find("calls", `${run.run_id} may have been sent and does not say so`)
    if (run.capability === "email.send" && calls.length > 1)
      find("calls", `${run.run_id} was sent ${calls.length} times`)
    if (run.attempts.some((one) => one.outcome === "started")) find("calls", `${run.run_id} ends with an open attempt`)
    if (run.status === "succeeded" && calls.length === 0) find("calls", `${run.run_id} succeeded without a call`)
    const charged = run.charged ?? 0
    if (charged > 0 && !calls.some(({ delivers }) => delivers))
      find("charges", `${run.run_id} is charged ${charged} microdollars, and no provider delivered`)
    if (charged > 0 && run.status !== "succeeded" && run.status !== "no_match")
      find("charges", `${run.run_id} is ${run.status} and charged ${charged} microdollars`)
    for (const told of world.told.get(run.run_id) ?? []) {
      const now = ended(run.status, run.charged)
      if (told !== now) find("answers", `${run.run_id} was told to be ${told}, and is ${now} (E14)`)
    }
  }
  for (const [key, run_id] of world.acknowledged) {
    if (keys !== null && !keys.has(key)) continue
    const now = byKey.get(key)
    if (now === undefined) find("acknowledged", `${run_id} was acknowledged and is not there`)
    else if (now !== run_id) find("keys", `${run_id} was acknowledged for ${key}, which has ${now}`)
  }
  for (const call of world.meter.calls) {
    if ((keys === null || keys.has(call.key)) && !byKey.has(call.key))
      find("calls", `${call.provider} was called for no run (E8 orphan)`)
  }
  return found
}

/** The ledger's and the wallets' rows, and what a quiet installation must not have left. */
const ofRows = async (world: Checked): Promise<ReadonlyArray<Finding>> => {
  const found: Array<Finding> = []
  const find = (check: Check, text: string) => found.push({ check, text })
  const unlisted = await world.query<{ run_id: string }>(`
    SELECT r.run_id FROM runs r LEFT JOIN unknown_outcomes u USING (run_id)
    WHERE (r.error_code IS NOT DISTINCT FROM 'outcome_unknown') <> (u.run_id IS NOT NULL)`)
  for (const { run_id } of unlisted) find("calls", `${run_id} and the list of unknown outcomes disagree (E8)`)
  const settled = await world.query<{ run_id: string; settles: number; sum: number; charged: number }>(`
    SELECT r.run_id, count(l.*) AS settles, coalesce(-sum(l.amount), 0)::bigint AS sum, coalesce(r.charged, 0) AS charged
    FROM runs r LEFT JOIN ledger l ON l.run_id = r.run_id AND l.type = 'settle'
    GROUP BY r.run_id, r.charged HAVING count(l.*) > 1 OR coalesce(-sum(l.amount), 0) <> coalesce(r.charged, 0)`)
  for (const { run_id, settles, sum, charged } of settled)
    find("charges", `${run_id} was charged ${charged} and has ${settles} settlements of ${sum} microdollars`)
  const [left] = await world.query<{ open: number; reserved: number; parked: number; below: number }>(`
    SELECT (SELECT count(*) FROM open_runs) AS open, (SELECT coalesce(sum(reserved), 0)::bigint FROM wallets) AS reserved,
           (SELECT count(*) FROM mailbox WHERE parked IS NOT NULL) AS parked,
           (SELECT count(*) FROM wallets WHERE balance < reserved OR reserved < 0) AS below`)
  if (left?.open !== 0) find("acknowledged", `${left?.open} open runs are left`)
  if (left?.parked !== 0) find("acknowledged", `${left?.parked} commands were dead-lettered`)
  if (left?.reserved !== 0) find("wallets", `${left?.reserved} microdollars stay reserved`)
  if (left?.below !== 0) find("wallets", `${left?.below} wallets are below zero`)
  return found
}

export const findings = async (
  world: Checked,
  keys: ReadonlySet<string> | null = null
): Promise<ReadonlyArray<Finding>> => [
  ...(await ofRuns(world, keys)),
  ...(await ofRows(world)),
  ...(await world.audit()).map((text) => ({ check: "books" as const, text }))
]
