/** `rungate run <capability> -i '{…}'`: runs a capability and waits for its result. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { strategies } from "../../schema/Routing.ts"
import { Client } from "../client/Client.ts"
import * as Flags from "./flags.ts"
import { show } from "./output.ts"

export const run = Command.make(
  "run",
  {
    capability: Argument.String("capability").pipe(Argument.withDescription("slug, as discover shows it")),
    input: Flags.input,
    provider: Flag.String("provider").pipe(Flag.withDescription("pin one provider"), Flag.withDefault("auto")),
    strategy: Flag.Literals("strategy", strategies).pipe(Flag.optional),
    max_cost: Flags.maxCost,
    wait: Flags.wait
  },
  Effect.fnUntraced(function* ({ capability, input, provider, strategy, max_cost, wait }) {
    const { post } = yield* Client
    const routing = { provider, strategy: Option.getOrNull(strategy), max_cost: Option.getOrNull(max_cost) }
    yield* Effect.flatMap(post("/v1/run", { capability, input, routing, wait_seconds: wait }), show)
  })
).pipe(Command.withDescription("Run a capability and print its result"))
