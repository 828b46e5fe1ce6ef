/** The contract of queues and lanes: what waits, for how long, and commands that failed too often. */
import { HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { DeadLetter, OperatorQueues, RetriedCommand } from "../../../schema/nouns/operator/Queues.ts"
import { pages } from "../shapes/Common.ts"
import { forOperators } from "./OperatorAuth.ts"

export class OperatorQueuesApi extends HttpApiGroup.make("operatorQueues").add(
  forOperators(
    "Read queues and lanes",
    "The backlog of each lane with the age of its oldest command, and open runs by state."
  ).get("get", "/operator/queues", { success: OperatorQueues }),
  forOperators(
    "List dead-lettered commands",
    "Newest first. Each failed alone too often, and no turn reads it until it is retried."
  ).get("deadLetters", "/operator/dead-letters", pages(DeadLetter)),
  forOperators(
    "Retry a dead-lettered command",
    "Its lane's next turn applies it after the commands that were applied meanwhile. It is dead-lettered again if it fails as often as before. A command of a run that has ended changes nothing."
  ).post("retry", "/operator/dead-letters/:command_id/retry", { success: RetriedCommand, error: [Wire.not_found] })
) {}
