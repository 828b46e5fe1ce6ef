/** `rungate discover <words>`: searches the catalog. Free, needs no key. */
import { Argument, Flag } from "effect/cli"
import { Discovered, DiscoveryApi } from "../../api/Discovery.ts"
import { drawnList } from "../answers/draw.ts"
import { row } from "../answers/row.ts"
import { int } from "../terminal/flags.ts"
import { discoverLines } from "./CatalogView.ts"

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
  show: drawnList(Discovered, discoverLines)
})
