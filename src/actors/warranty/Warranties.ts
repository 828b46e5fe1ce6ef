/**
 * Disputes of the outcome warranty: checks that a run is covered, asks the provider that sent a message whether it bounced, and decides.
 *
 * Only a bounce that a provider confirms, through the account that sent the message, refunds a run here. Everything else waits for the
 * operator. Questions to providers are few, because they use the operator's account (`askWaitMinutes`). A handler never moves money: the
 * decision stores a command, and the wallet's turn books it.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { Providers } from "../../layers/executor/Providers.ts"
import { ApprovalStore } from "../../layers/members/ApprovalStore.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { RunStore } from "../../layers/runs/RunStore.ts"
import { coverOfRow } from "../../layers/warranty/cover.ts"
import { type DisputeRow, Disputes } from "../../layers/warranty/Disputes.ts"
import { emailSend } from "../../schema/capabilities/email.send.ts"
import { type Problem, problem, refused, unknownRun } from "../../schema/Errors.ts"
import { looksLike } from "../../schema/Ids.ts"
import { asksPerHourMax, type Covered, warrantyDays } from "../../schema/wallet/Warranty.ts"
import { Lanes } from "../mailbox/Lanes.ts"
import { makeDecideRefund } from "./decideRefund.ts"
import { type Sent, sentBy } from "./sentBy.ts"
import type { RunRow } from "../../schema/nouns/Run.ts"

type Refusal = Problem<"invalid_request">

const off = problem("invalid_request", "This service has no outcome warranty: its operator has not turned it on.")

const tooMany = `providers were asked about ${asksPerHourMax} runs of this organization within an hour; about this one they are asked later`

/** Evidence that is a run id, or a link that ends with one. */
const runIdIn = (evidence: string): string | null => /\brun_[0-9a-z]{26}\b/.exec(evidence.trim())?.[0] ?? null

export interface Standing {
  /** The run can be disputed until then. Null if it can't be, or can't any more. */
  readonly until: Date | null
  readonly dispute: DisputeRow | null
}

export class Warranties extends Context.Service<
  Warranties,
  {
    /** How the warranty of a run stands. Null if it covers no such run and never did, or the operator has turned it off. */
    readonly standing: (org_id: string, run_id: string) => Effect.Effect<Standing | null>
    readonly dispute: (org_id: string, run_id: string, evidence: string) => Effect.Effect<DisputeRow, Refusal>
  }
>()("rungate/actors/warranty/Warranties") {
  static readonly layer = Layer.effect(
    Warranties,
    Effect.gen(function* () {
      const approvals = yield* ApprovalStore
      const catalog = yield* Catalog
      const providers = yield* Providers
      const runs = yield* RunStore
      const disputes = yield* Disputes
      const lanes = yield* Lanes
      const decideRefund = yield* makeDecideRefund
      const { warrantyShareBps } = yield* Settings

      const runOf = (org_id: string, run_id: string) =>
        looksLike("run", run_id) ? runs.find(org_id, run_id) : Effect.succeed(null)

      const sentOf = (row: RunRow): Sent | null => sentBy(row, catalog.offer(emailSend.slug, row.provider ?? ""))

      const now = (run_id: string) =>
        Effect.flatMap(disputes.find(run_id), (row) =>
          row === null ? Effect.die(new Error("a dispute that was there is not found")) : Effect.succeed(row)
        )

      const ask = Effect.fnUntraced(function* (
        org_id: string,
        run_id: string,
        cover: Covered,
        send: RunRow,
        sent: Sent
      ) {
        const of = { org_id, run_id }
        const { title } = sent.offer.provider
        const claimed = yield* disputes.claim(of, send.run_id, `${title} is being asked`)
        if (!claimed) {
          const dispute = yield* disputes.find(run_id)
          return dispute ?? (yield* disputes.open(of, send.run_id, tooMany))
        }
        const { message_id, own, offer } = sent
        const answered = yield* providers.bounced({ org_id, address: cover.address, message_id, own, offer })
        if (answered === null) {
          yield* disputes.note(of, "pending", `${title} can't be asked about this message; the operator decides`)
          return yield* now(run_id)
        }
        if (answered._tag === "Failure") {
          yield* disputes.note(of, "pending", `${title} did not say whether the message bounced; it is asked again`)
          return yield* now(run_id)
        }
        if (!answered.bounced) {
          yield* disputes.note(of, "not_bounced", `${answered.note}; dispute again if it bounces later`)
          return yield* now(run_id)
        }
        const decided = yield* decideRefund({ ...of, cover, send_run: send.run_id, note: answered.note })
        if (decided._tag === "Limited")
          yield* disputes.note(
            of,
            "pending",
            `${answered.note}; the operator's limit of refunds is used up for now; this is tried again`
          )
        if (decided._tag === "Refunded") yield* lanes.wake(decided.lane)
        return yield* now(run_id)
      })

      const standing = Effect.fn("Warranties.standing")(function* (org_id: string, run_id: string) {
        const dispute = yield* disputes.find(run_id)
        // Most services have no warranty, and most runs no dispute.
        if (dispute === null && warrantyShareBps === 0) return null
        const row = yield* runOf(org_id, run_id)
        if (row === null) return null
        const cover = warrantyShareBps === 0 ? null : coverOfRow(row)
        const until = cover?._tag === "Covered" ? cover.until : null
        if (until === null && dispute === null) return null
        const isOpen = dispute === null || dispute.state === "pending" || dispute.state === "not_bounced"
        const now = yield* Clock.currentTimeMillis
        return { until: until !== null && isOpen && now <= until.getTime() ? until : null, dispute }
      })

      const dispute = Effect.fn("Warranties.dispute")(function* (org_id: string, run_id: string, evidence: string) {
        const row = yield* runOf(org_id, run_id)
        if (row === null) return yield* Effect.fail(unknownRun(run_id))
        const before = yield* disputes.find(run_id)
        // An operator's decision stands as well: nobody asks a provider again and again behind it.
        if (before?.state === "refunded" || before?.state === "refused") return before
        if (warrantyShareBps === 0) return yield* Effect.fail(off)
        const cover = coverOfRow(row)
        if (cover._tag === "NotCovered")
          return yield* refused("path.run_id", `is not covered by the warranty: ${cover.why}`)
        if ((yield* Clock.currentTimeMillis) > cover.until.getTime())
          return yield* refused(
            "path.run_id",
            `was covered for ${warrantyDays} days after its end, until ${cover.until.toISOString()}`
          )
        const named = runIdIn(evidence)
        if (named === null)
          return yield* disputes.open({ org_id, run_id }, evidence, "the evidence is a text, so the operator decides")
        const send = yield* runOf(org_id, named)
        if (send === null) return yield* refused("evidence", `names ${named}, which is not a run of this organization`)
        if (row.finished_at !== null && (yield* approvals.startableAt(send)) < row.finished_at)
          return yield* refused("evidence", `names ${named}, which sent its message before ${run_id} ended`)
        const sent = sentOf(send)
        if (sent === null)
          return yield* refused(
            "evidence",
            `names ${named}, which is no run that sent an e-mail; give the id of one, or a text for the operator`
          )
        if (sent.accepted !== null && !sent.accepted.includes(cover.address))
          return yield* refused(
            "evidence",
            `names ${named}, which sent nothing to the address that ${run_id} called valid`
          )
        return yield* ask(org_id, run_id, cover, send, sent)
      })

      return Warranties.of({ standing, dispute })
    })
  )
}
