/**
 * Loads the handler of `POST /mcp` at the first request for it.
 *
 * The protocol's library and the tools' schemas would take a tenth of the service's start, and many processes are never asked.
 */
import { Effect, Exit, Scope } from "effect"
import type { PeersShape } from "../middleware/ClientAddress.ts"
import type { Accounts } from "../../layers/accounts/Accounts.ts"
import type { Limits } from "../middleware/Limits.ts"
import type { Readiness } from "../middleware/Readiness.ts"
import type { Signals } from "../../layers/queues/Signals.ts"
import type { Settings } from "../../layers/platform/Settings.ts"
import type { Handler } from "./McpCaller.ts"

/** A regular expression instead of a URL parser, because every request to the service is tested. */
const isMcp = ({ url }: Request): boolean => /^[a-z]+:\/\/[^/]*\/mcp(\?|$)/.test(url)

/** Answers requests to /mcp, and is null for others. `api` answers the requests that the tools make. */
export const lazyMcp = Effect.fnUntraced(function* (api: Handler, peers: PeersShape) {
  const context = yield* Effect.context<Accounts | Settings | Signals | Limits | Readiness>()
  // Made now, so it closes after the server that is made later: hosts that wait while the process stops still get their answers.
  const scope = yield* Effect.acquireRelease(Scope.make(), (newScope) => Scope.close(newScope, Exit.void))
  const handler = yield* Effect.promise(() => import("./Mcp.ts")).pipe(
    Effect.flatMap(({ mcpHandler }) => Effect.orDie(mcpHandler(api, peers))),
    Scope.provide(scope),
    Effect.provideContext(context),
    Effect.cached
  )
  const run = Effect.runPromiseWith(context)
  return (request: Request): Promise<Response> | null =>
    isMcp(request) ? run(handler).then((answer) => answer(request)) : null
})
