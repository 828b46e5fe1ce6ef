/** `rungate inspect <capability>` and `rungate inspect <provider> <endpoint>`: show input, price and health. */
import { Effect } from "effect"
import { Argument } from "effect/cli"
import { CatalogApi } from "../../api/Catalog.ts"
import { rowWith } from "../answers/row.ts"
import { show } from "../answers/show.ts"
import { argument, optionalArgument } from "../terminal/flags.ts"
import { inspectLines } from "./CatalogView.ts"

export const inspect = rowWith(
  "inspect",
  CatalogApi.endpoints.inspect,
  {
    target: argument("target", "a capability or a provider"),
    endpoint: optionalArgument(Argument.String("endpoint"), "the provider's path, as discover shows it")
  },
  ({ target, endpoint }) => Effect.succeed(endpoint === null ? { capability: target } : { provider: target, endpoint }),
  {
    about: "Show input, price and health of a capability or a raw endpoint",
    fields: { capability: false, provider: false, endpoint: false, method: "HTTP method, when the path has several" },
    show: (answer, shown) => show(answer, shown, (text) => inspectLines(text, shown.screen))
  }
)
