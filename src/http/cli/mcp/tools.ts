/** Tools and resources of `rungate mcp`: the shared handlers, and `run` with the user's journal. */
import { Effect, Semaphore } from "effect"
import { type Here, resourcesFor, toolsFor } from "../../mcp/toolHandlers.ts"
import { Service } from "../../mcp/Service.ts"
import * as Tools from "../../mcp/Tools.ts"
import { runTool } from "./run.ts"
import { serviceHere, type CliLayer } from "./service.ts"

/** Concurrent runs. A call that waits here was not sent yet, so the host can still cancel it. */
const runsAtOnce = 16

export const localTools = Effect.gen(function* () {
  const surroundings = yield* Effect.context<CliLayer>()
  const service = yield* serviceHere
  const turns = yield* Semaphore.make(runsAtOnce)
  const oneByOne = yield* Semaphore.make(1)
  const here: Here = (effect) => Effect.provideService(effect, Service, service)
  const run = Tools.run.withHandler((given) =>
    here(Effect.provideContext(turns.withPermits(1)(runTool(given, oneByOne)), surroundings))
  )
  return { tools: toolsFor(here, run), resources: resourcesFor(here) }
})
