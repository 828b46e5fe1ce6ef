/** `rungate runs dispute`: asks for the refund of a run whose address bounced. */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { disputeReason } from "../../../schema/wallet/Warranty.ts"
import { Client } from "../answers/Client.ts"
import { json, show } from "../answers/show.ts"

const views = Effect.promise(() => import("./DisputeView.ts"))

export const dispute = Command.make(
  "dispute",
  {
    run_id: Argument.String("run_id").pipe(
      Argument.withDescription("the run of email.find or email.verify that called the address valid")
    ),
    reason: Flag.Literals("reason", [disputeReason]).pipe(
      Flag.withDescription("what went wrong"),
      Flag.withDefault("bounced")
    ),
    evidence: Flag.String("evidence").pipe(
      Flag.withDescription("your run that sent the message which bounced; or a text, and then the operator decides")
    ),
    json
  },
  Effect.fnUntraced(function* ({ run_id, json, ...body }) {
    const { send } = yield* Client
    const answer = yield* send("POST", `/v1/runs/${encodeURIComponent(run_id)}/dispute`, { body })
    yield* show(answer, { json }, (text) => Effect.map(views, ({ disputeLines }) => disputeLines(text)))
  })
).pipe(
  Command.withDescription("Ask for the refund of a run whose address bounced (outcome warranty)"),
  Command.withExamples([
    {
      command: "rungate runs dispute run_… --reason bounced --evidence run_…",
      description: "The second run is the e-mail to the address that the first one called valid"
    }
  ])
)
