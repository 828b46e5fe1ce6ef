/** Linters check the OpenAPI document that the service answers by the recommended rules for API documents. */
import { beforeAll, expect, test } from "bun:test"
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { withApp } from "../../kit/app.ts"

let document: string
const app = withApp()
beforeAll(async () => {
  document = await (await fetch(`${app.url}/openapi.json`)).text()
})

type Linter = (text: string) => Promise<ReadonlyArray<string>>

/** The strict form also reports what is a warning otherwise. */
const redocly: Linter = async (text) => {
  const config = await createConfig({ extends: ["recommended-strict"] })
  const problems = await lintFromString({ source: text, absoluteRef: "openapi.json", config })
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}

const linters: ReadonlyArray<readonly [string, Linter]> = [["Redocly", redocly]]

test.each(linters)(
  "%s finds nothing",
  async (_, lint) => {
    expect(await lint(document)).toEqual([])
  },
  60_000
)

test.each(linters)(
  "%s finds what is missing (control)",
  async (_, lint) => {
    const broken = JSON.parse(document)
    delete broken.paths["/v1/run"].post.operationId
    broken.paths["/v1/wallet/{id}"] = broken.paths["/v1/wallet"]
    const found = (await lint(JSON.stringify(broken))).join("\n")
    expect(found).toContain("operation-operationId ")
    expect(found).toMatch(/path-param.*\{id\}/)
  },
  60_000
)
