/** `bun scripts/endpoints.ts`: writes the table of endpoints into docs/api.md, from the contract. A test compares it. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Context, Option } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { Api } from "../src/http/api/Api.ts"
import { OperatorAuth } from "../src/http/api/operator/OperatorAuth.ts"
import { Auth, CommandName, credentialOf, Rights } from "../src/http/api/shapes/Common.ts"
import { markdownTable } from "./settings.ts"

/** Every operation: method and path, what it does, who may call it, and the command that does the same. */
export const endpointsText = (): string => {
  const rows: Array<ReadonlyArray<string>> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, middleware }) => {
      const { annotations, method, path } = endpoint
      const has = ({ key }: { readonly key: string }) => [...middleware].some((one) => one.key === key)
      const command = Context.get(annotations, CommandName)
      rows.push([
        `\`${method} ${path.replace(/:(\w+)/g, "{$1}")}\``,
        Option.getOrElse(Context.getOption(annotations, OpenApi.Summary), () => ""),
        has(Auth) ? credentialOf(Context.get(annotations, Rights)) : has(OperatorAuth) ? "the operator" : "none",
        command === "" ? "" : `\`rungate ${command}\``
      ])
    }
  })
  return markdownTable([["endpoint", "does", "needs", "command"], ...rows])
}

const tableOf = /^\| endpoint +\| does [\s\S]*?\|(?=\n\n)/m

if (import.meta.main) {
  const docsPath = join(import.meta.dir, "..", "docs", "api.md")
  writeFileSync(docsPath, readFileSync(docsPath, "utf8").replace(tableOf, endpointsText))
}
