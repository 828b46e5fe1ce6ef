/** `rungate discover <words>`: searches the catalog. Free, needs no key. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Client } from "../answers/Client.ts"
import { Screen } from "../terminal/Screen.ts"
import { json, jsonl, showList } from "../answers/show.ts"

export const discover = Command.make(
  "discover",
  {
    query: Argument.String("query").pipe(
      Argument.withDescription("description of the job, in plain words"),
      Argument.variadic({ min: 1 })
    ),
    limit: Flag.Int("limit").pipe(Flag.withDescription("results to show, 1 to 50"), Flag.withDefault(10)),
    kind: Flag.Literals("kind", ["capability", "endpoint"]).pipe(
      Flag.withDescription("only capabilities, or only raw endpoints"),
      Flag.optional
    ),
    provider: Flag.String("provider").pipe(Flag.withDescription("only this provider"), Flag.optional),
    json,
    jsonl
  },
  Effect.fnUntraced(function* ({ query, limit, kind, provider, ...flags }) {
    const { send } = yield* Client
    const screen = yield* Screen
    const body = {
      query: query.join(" "),
      limit,
      kind: Option.getOrNull(kind),
      provider: Option.getOrNull(provider)
    }
    const answer = yield* send("POST", "/v1/discover", { body })
    yield* showList(answer, flags, (text) =>
      Effect.map(
        Effect.promise(() => import("./CatalogView.ts")),
        ({ discoverLines }) => discoverLines(text, screen)
      )
    )
  })
).pipe(
  Command.withDescription("Search the catalog for capabilities and endpoints"),
  Command.withExamples([{ command: "rungate discover find a work email", description: "In plain words" }])
)
