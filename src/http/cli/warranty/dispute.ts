/** `rungate runs dispute`: asks for the refund of a run whose address bounced, or shows how that stands. */
import { Effect, Option } from "effect"
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
      Flag.withDescription(
        "your run that sent the message which bounced; or a text, and then the operator decides. Without it: how the dispute stands"
      ),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    json
  },
  Effect.fnUntraced(function* ({ run_id, reason, evidence, json }) {
    const { send } = yield* Client
    const path = `/v1/runs/${encodeURIComponent(run_id)}/dispute`
    const answer = yield* evidence === null ? send("GET", path) : send("POST", path, { body: { reason, evidence } })
    yield* show(answer, { json }, (text) => Effect.map(views, ({ disputeLines }) => disputeLines(text)))
  })
).pipe(
  Command.withDescription("Ask for the refund of a run whose address bounced (outcome warranty)"),
  Command.withExamples([
    {
      command: "rungate runs dispute run_… --reason bounced --evidence run_…",
      description: "The second run is the e-mail to the address that the first one called valid"
    },
    { command: "rungate runs dispute run_…", description: "How the dispute stands" }
  ])
)
