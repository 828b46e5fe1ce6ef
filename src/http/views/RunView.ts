/**
 * Shows a stored run on the wire, built as JSON text.
 *
 * Result, attempts and hints are stored as the text that is sent. So a provider's payload is returned byte for byte, and nothing is parsed
 * again.
 */
import { Schema } from "effect"
import { isFinalRow } from "../../actors/runs/Admission.ts"
import { isOpenAttempt } from "../../actors/runs/Delivery.ts"
import type { ListedRow, RunRow } from "../../layers/runs/RunStore.ts"
import { isErrorCode, statusOf } from "../../schema/Errors.ts"
import { usd } from "../../schema/money/Money.ts"
import { reasonOf } from "../../schema/guards/Reuse.ts"
import { nextStep } from "../../schema/accounts/OwnAccount.ts"
import { ownMessage } from "../../schema/accounts/OwnMessages.ts"
import { inputSubject } from "../../schema/runs/InputSubject.ts"
import { decodePlan } from "../../schema/runs/Plan.ts"
import { Attempt, controlsOf, isRunStatus, isStoppable } from "../../schema/runs/Run.ts"

/** The status that `POST /v1/run` answers: 202 while it runs, then 200 or that of its error. */
export const httpStatusOf = (run: RunRow): number => {
  if (!isFinalRow(run)) return 202
  return run.error_code !== null && isErrorCode(run.error_code) ? statusOf[run.error_code] : 200
}

export const pollUrl = (run_id: string) => `/v1/runs/${run_id}`

const erasedHint = (at: Date) =>
  `The input, result and metadata of this run were erased on ${at.toISOString().slice(0, 10)}; its charge stays in the ledger.`

const decodeAttempts = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Attempt)))

/** Without a call under way: it has no outcome yet, and it may still wait until its provider takes another call. */
const endedAttempts = (run: RunRow): string => {
  if (run.attempts === null) return "[]"
  return isFinalRow(run)
    ? run.attempts
    : JSON.stringify(decodeAttempts(run.attempts).filter((one) => !isOpenAttempt(one)))
}

/** False for a run that was served through the organization's own account, whose last call was made through it, or whose first one will be. */
const isPlatformFunded = ({ attempts, plan }: RunRow): boolean => {
  if (plan !== null && (attempts ?? "[]") === "[]") return nextStep(decodePlan(JSON.parse(plan)), [])?.own !== true
  // Most runs have no such call, and their attempts are not parsed.
  if (attempts === null || !/"account": ?"own"/.test(attempts)) return true
  const calls = decodeAttempts(attempts)
  return (calls.find(({ outcome }) => outcome === "succeeded") ?? calls.at(-1))?.account !== "own"
}

/** The run as a caller sees it who may not read the wallet. */
export const withoutWallet = <Row extends RunRow>(run: Row): Row => ({
  ...run,
  error_message: ownMessage(run.error_code, run.error_message)
})

/** `now` in milliseconds since 1970, for the duration of a run that is not finished. */
export const runJson = (run: RunRow, now: number, withResult: boolean): string => {
  const done = isFinalRow(run)
  const ended = run.finished_at?.getTime() ?? now
  const head = JSON.stringify({
    run_id: run.run_id,
    status: run.status,
    kind: run.kind,
    capability: run.capability,
    endpoint: run.endpoint,
    provider: run.provider,
    routing_reason: reasonOf(run),
    billing: {
      currency: "USD",
      quoted: usd(run.quoted),
      charged: run.charged === null ? null : usd(run.charged),
      platform_funded: isPlatformFunded(run)
    },
    timing: { duration_ms: Math.max(0, ended - run.created_at.getTime()) },
    done,
    poll_url: pollUrl(run.run_id),
    stoppable: isRunStatus(run.status) && isStoppable(run.status),
    request_id: run.request_id,
    created_at: run.created_at.toISOString()
  })
  const hints = run.erased_at === null ? (run.hints ?? "[]") : JSON.stringify([erasedHint(run.erased_at)])
  const parts = [
    head.slice(0, -1),
    `"metadata":${run.metadata ?? "{}"}`,
    `"attempts":${endedAttempts(run)}`,
    `"hints":${hints}`
  ]
  if (withResult && run.result !== null) parts.push(`"result":${run.result}`)
  if (run.reused_from !== null) parts.push(`"reused_from":${JSON.stringify(run.reused_from)}`)
  if (run.error_code !== null)
    parts.push(`"error":${JSON.stringify({ code: run.error_code, message: run.error_message ?? "" })}`)
  const controls = controlsOf({ code: run.error_code, control: run.control, key_id: run.key_id })
  if (controls.length > 0) parts.push(`"controls":${JSON.stringify(controls)}`)
  return `${parts.join(",")}}`
}

/** A run of a list: without its result, and with what tells it apart from others. */
export const listedJson = (run: ListedRow, now: number): string => {
  const apart = JSON.stringify({ key_id: run.key_id, subject: inputSubject(run.input) })
  return `${runJson(run, now, false).slice(0, -1)},${apart.slice(1)}`
}
