/** `rungate discover <words>`: what in the catalog does a job. Free, needs no key. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Client } from "../client/Client.ts"
import { show } from "./output.ts"

export const discover = Command.make(
  "discover",
  {
    query: Argument.String("query").pipe(Argument.withDescription("what the job is"), Argument.variadic({ min: 1 })),
    limit: Flag.Int("limit").pipe(Flag.withDescription("1 to 50"), Flag.withDefault(10)),
    kind: Flag.Literals("kind", ["capability", "endpoint"]).pipe(Flag.optional),
    provider: Flag.String("provider").pipe(Flag.withDescription("only this provider"), Flag.optional)
  },
  Effect.fnUntraced(function* ({ query, limit, kind, provider }) {
    const { post } = yield* Client
    const body = {
      query: query.join(" "),
      limit,
      kind: Option.getOrNull(kind),
      provider: Option.getOrNull(provider)
    }
    yield* Effect.flatMap(post("/v1/discover", body), show)
  })
).pipe(Command.withDescription("Search the catalog for what does a job"))
