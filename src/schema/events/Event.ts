/**
 * Kinds of events and their form on the wire: `{type, timestamp, data}`, the same in event streams and in webhooks.
 *
 * Events hold no input and no result of a run. Details of attempts and messages of errors may quote them, and are erased with the run.
 */
import { Schema, Struct } from "effect"

/** Every kind, in words. */
export const eventWords = {
  "run.created": "a run was admitted or refused",
  "run.started": "the first provider of a run is called",
  "run.attempt": "an attempt of a run ended",
  "run.approval_required": "a run waits until a member approves it",
  "run.approved": "a member approved a run",
  "run.finished": "a run has ended",
  "wallet.changed": "the balance changed",
  "wallet.low": "the balance fell below the amount that you set",
  "budget.reached": "50, 80 or 100 percent of the daily limit, of a key's budget or of a label's is spent",
  "topup.failed": "a payment or an automatic top-up failed"
} as const
export const eventKinds = Struct.keys(eventWords)
export const EventKind = Schema.Literals(eventKinds)
export type EventKind = (typeof eventKinds)[number]

export const isEventKind = (text: string): text is EventKind => eventKinds.some((kind) => kind === text)

/** An event before it has its position. */
export interface NewEvent {
  readonly kind: EventKind
  readonly run_id: string | null
  /** Orders the events of a run, and makes each of them unique. Null for other events. */
  readonly step: number | null
  readonly data: object
  readonly happened_at: Date
}

/** The JSON text of an event. `data` is JSON text. */
export const eventJson = (kind: EventKind, happened_at: Date, data: string): string =>
  `{"type":"${kind}","timestamp":"${happened_at.toISOString()}","data":${data}}`
