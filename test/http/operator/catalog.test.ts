/** Imports of raw endpoints from the console: compared first, applied as compared, logged, and deleted again. */
import { beforeAll, describe, expect, test } from "bun:test"
import { withApp } from "../../kit/app.ts"
import { openApi, type OperatorTab, operatorOf, ownPage } from "./operator.ts"

let tab: OperatorTab
const app = withApp()
beforeAll(async () => {
  tab = await operatorOf(app, "grace")
})

const send = (body: Record<string, unknown>) => tab.post("/catalog/imports", { provider: "example", ...body })
const stored = async () => (await app.sql("SELECT provider FROM catalog_documents WHERE provider = 'example'")).length

describe("an import", () => {
  test("is compared without a change, applied as compared, and refused when the catalog changed meanwhile", async () => {
    const document = openApi("/v1/people", "/v1/companies")
    const compared = await send({ document })
    expect([compared.status, compared.body.applied, compared.body.based_on]).toEqual([200, false, null])
    expect(compared.body).toMatchObject({
      base_url: "https://api.example.com",
      endpoints: 2,
      added: ["GET /v1/companies", "GET /v1/people"],
      removed: []
    })
    expect(await stored()).toBe(0)

    const applied = await send({ document, apply: true, based_on: compared.body.based_on })
    expect([applied.status, applied.body.applied, await stored()]).toEqual([200, true, 1])
    expect((await send({ document, apply: true })).body.applied).toBe(false)

    const next = openApi("/v1/people")
    const outdated = await send({ document: next, apply: true, based_on: null })
    expect([outdated.status, outdated.body.error.details[0].path]).toEqual([400, "based_on"])
    const again = await send({ document: next })
    expect(again.body).toMatchObject({ added: [], removed: ["GET /v1/companies"], unchanged: 1 })
    const removed = await send({ document: next, apply: true, based_on: again.body.based_on })
    expect(removed.body.applied).toBe(true)

    const reset = () =>
      app.call(null, "DELETE", "/v1/operator/catalog/imports/example", {
        headers: { ...ownPage(app), cookie: tab.cookie }
      })
    expect((await reset()).body).toEqual({ provider: "example", reset: true })
    expect((await reset()).body).toEqual({ provider: "example", reset: false })
    const entries = await app.sql(
      "SELECT action, actor, actor_name FROM audit_log WHERE object = 'example' ORDER BY entry_id"
    )
    expect(entries.map(({ actor, actor_name }) => [actor, actor_name])).toEqual(
      entries.map(() => ["operator", "grace"])
    )
    expect(entries.map(({ action }) => action)).toContain("catalog.created")
  })

  test("opens no file, whatever the document names", async () => {
    const manifest = "provider: example\ntitle: Example\nopenapi:\n  - /etc/passwd\n"
    const { status, text } = await tab.post("/catalog/imports", { document: manifest })
    expect([status, text.includes("root:")]).toEqual([400, false])
  })

  test("refuses what is no document, by the name of the field", async () => {
    const wrong: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
      ["document", { document: "no document" }],
      ["document", { document: "{" }],
      ["document", { document: openApi() }],
      ["document", { document: openApi("/x"), provider: null }],
      ["provider", { document: openApi("/x"), provider: "../etc" }],
      ["based_on", { document: openApi("/x"), apply: true, based_on: "x" }],
      ["document", { document: 1 }]
    ]
    for (const [path, body] of wrong) {
      const reply = await send(body)
      expect([path, reply.status, reply.body.error.details?.[0]?.path]).toEqual([path, 400, path])
    }
    expect(await stored()).toBe(0)
  })
})
