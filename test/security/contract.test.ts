/**
 * Spectral checks the OpenAPI document by the rules of OWASP's ten risks of APIs: every text, list and number has a limit, every operation
 * needs a credential and says how it refuses one. `rules.ts` has the rules that are changed, and why.
 */
import { beforeAll, expect, test } from "bun:test"
import { Spectral } from "@stoplight/spectral-core"
import { withApp } from "../kit/app.ts"
import { rules } from "./rules.ts"

type Node = ReturnType<typeof JSON.parse>

const linter = new Spectral()
let document: Node
const app = withApp()
beforeAll(async () => {
  linter.setRuleset(rules)
  document = await (await fetch(`${app.url}/openapi.json`)).json()
})

const found = async (api: Node) =>
  (await linter.run(api)).map(({ code, path }) => `${code} ${path.join(".")}`.slice(0, 200))

test("the contract states all limits and refusals", async () => {
  expect(await found(document)).toEqual([])
})

test("a text without a limit and an operation without a credential are found (control)", async () => {
  const broken = structuredClone(document)
  delete broken.components.schemas.OperatorCreditRequest.properties.note.maxLength
  delete broken.paths["/v1/runs"].get.responses["200"].content["application/json"].schema.properties.items.maxItems
  delete broken.paths["/v1/wallet"].get.responses["401"]
  broken.paths["/v1/run"].post.security = []
  expect(new Set((await found(broken)).map((one) => one.split(" ")[0]))).toEqual(
    new Set([
      "owasp:api4:2023-string-limit",
      "owasp:api4:2023-array-limit",
      "owasp:api8:2023-define-error-responses-401",
      "restricted"
    ])
  )
})
