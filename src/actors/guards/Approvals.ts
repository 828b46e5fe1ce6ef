/**
 * Asks the wallet's turn to decide about runs that wait for an approval: for members, and when the time of an approval is over.
 *
 * The command is stored before anybody waits, so a decision counts even if this process dies. A turn applies each once.
 */
import { Effect, Layer } from "effect"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import { encodeRuling } from "../../layers/guards/ApprovalTurn.ts"
import { ApprovalStore } from "../../layers/members/ApprovalStore.ts"
import { DueWork } from "../../layers/postgres/DueWork.ts"
import { problem, type ProblemOf } from "../../schema/Errors.ts"
import type { Ruling } from "../../schema/guards/Approval.ts"
import { CommandClient } from "../mailbox/CommandClient.ts"

type Undecided = ProblemOf<"invalid_request" | "forbidden" | "service_unavailable">

const because = (path: string, message: string) =>
  problem("invalid_request", `This run ${message}.`, [{ path, message }])
const isDecided = because("path.run_id", "does not wait for an approval any more")
const refusals: Readonly<Record<string, Undecided>> = {
  expired: because("path.run_id", "was not approved in time, so it has ended"),
  changed: because("digest", "is not what you saw: its digest is another one. Read GET /v1/approvals/{run_id} again"),
  role: problem(
    "forbidden",
    "Your role may not decide about this run. GET /v1/approvals/{run_id} says which role may."
  ),
  own_run: problem(
    "forbidden",
    "You started this run, and its rule asks for the yes of another member (self_approval is false)."
  )
}
const notYet = problem(
  "service_unavailable",
  "The decision is stored and will be applied; read GET /v1/approvals/{run_id} in a few seconds."
)

/** Decides once: a second answer fails, also the same one. */
export const makeDecideApproval = Effect.map(CommandClient, (commands) =>
  Effect.fn("Approvals.decide")(function* (org_id: string, run_id: string, ruling: Ruling) {
    const { verdict, status } = yield* commands
      .ask({ org_id, run_id, tag: "Approval", payload: encodeRuling(ruling) })
      .pipe(Effect.catchTag("NoReplyYet", () => Effect.fail(notYet)))
    yield* crashPoint("approval.decided")
    const isDone = verdict === "Decided" && status !== "expired"
    if (!isDone) return yield* Effect.fail(refusals[status ?? ""] ?? isDecided)
  })
)

/** Ends runs that nobody approved in time, and those whose time was over while no process ran. Every worker process does it. */
export const ApprovalWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const [decide, store] = [yield* makeDecideApproval, yield* ApprovalStore]
    const expire = { act: "expire", by: null, via: "session", digest: null } as const
    const pass = Effect.flatMap(store.due, (due) =>
      // One that fails, as that of an organization that is moving to another cell does, is tried again by the next pass.
      Effect.forEach(due, ({ org_id, run_id }) => Effect.exit(decide(org_id, run_id, expire)), {
        concurrency: 20,
        discard: true
      })
    )
    yield* (yield* DueWork).whenDue("approvals", ApprovalStore.due, pass)
  })
)
