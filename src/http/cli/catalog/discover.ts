/** `rungate discover <words>`: searches the catalog. Free, needs no key. */
import { Effect } from "effect"
import { Argument, Flag } from "effect/cli"
import { DiscoveryApi } from "../../api/Discovery.ts"
import { row } from "../answers/row.ts"
import { showList } from "../answers/show.ts"
import { int } from "../terminal/flags.ts"

export const discover = row("discover", DiscoveryApi.endpoints.discover, {
  about: "Search the catalog for capabilities and endpoints",
  lists: "items",
  fields: {
    query: Argument.String("query").pipe(
      Argument.withDescription("description of the job, in plain words"),
      Argument.variadic({ min: 1 }),
      Argument.map((words) => words.join(" "))
    ),
    limit: int("limit", "results to show, 1 to 50").pipe(Flag.withDefault(10)),
    kind: "only capabilities, or only raw endpoints",
    provider: "only this provider"
  },
  examples: [{ command: "rungate discover find a work email", description: "In plain words" }],
  show: (answer, shown) =>
    showList(answer, shown, (text) =>
      Effect.map(
        Effect.promise(() => import("./CatalogView.ts")),
        ({ discoverLines }) => discoverLines(text, shown.screen)
      )
    )
})
