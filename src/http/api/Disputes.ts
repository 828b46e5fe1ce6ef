/** The contract of disputes: a customer says that an address bounced which a run called valid, and the outcome warranty refunds the run. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { operation, readsOwn } from "./shapes/Common.ts"
import { Wire } from "../../schema/Errors.ts"
import { Dispute } from "../../schema/nouns/Dispute.ts"
import { asksPerHourMax, disputeReason, warrantyDays } from "../../schema/wallet/Warranty.ts"
import { component, withExample } from "../../schema/nouns/Noun.ts"

const evidenceLengthMax = 2_000

export const DisputeRequest = component("DisputeRequest", {
  // A field of one literal would tell kinds of requests apart, and the error of another value would not name it.
  reason: Schema.String.check(
    Schema.isPattern(new RegExp(`^${disputeReason}$`, "u"), { message: `must be "${disputeReason}"` }).abort(),
    Schema.isMaxLength(disputeReason.length)
  ),
  evidence: Schema.NonEmptyString.check(Schema.isMaxLength(evidenceLengthMax)).annotate({
    description:
      "the id of your run of email.send, or of a raw endpoint that sends e-mail, to the address; or a text, and then the operator decides"
  })
}).pipe(withExample({ reason: "bounced", evidence: "run_01m81pa2v3kx0m7ys3x5d4w9aq" }))

export class DisputesApi extends HttpApiGroup.make("disputes")
  .add(
    operation(
      { role: "member", keys: "changes", command: "runs dispute" },
      "Dispute a run whose address bounced",
      `For a charged run of email.find or email.verify that called an address valid, until ${warrantyDays} days after its end. The service asks the provider that sent your message, through the account that sent it, whether it bounced. If it did, the run's charge is refunded, once. Repeat it if state is not_bounced and the message bounces later: a provider is asked again after ask_after (1, 10 and 60 minutes, then every 6 hours), and about ${asksPerHourMax} runs of an organization in an hour. Until then the answer is what is known. An operator turns the warranty on and limits its refunds.`
    ).post("dispute", "/runs/:run_id/dispute", { payload: DisputeRequest, success: Dispute })
  )
  .add(
    readsOwn(
      "Read a run's dispute",
      "How it stands. Reading asks no provider. `not_found` if nobody disputed the run."
    ).get("get", "/runs/:run_id/dispute", { success: Dispute, error: [Wire.not_found] })
  ) {}
