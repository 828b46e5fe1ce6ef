/** Problem types have pages, and what is deprecated says so in headers and in the document. */
import { beforeAll, describe, expect, test } from "bun:test"
import { Layer } from "effect"
import { OpenApi } from "effect/http-api"
import { Api } from "../../../src/http/api/Api.ts"
import { withDeprecations } from "../../../src/http/api/document/Deprecated.ts"
import { Deprecations, deprecations } from "../../../src/http/api/shapes/Deprecations.ts"
import { errorGuide } from "../../../src/schema/ErrorGuide.ts"
import { statusOf } from "../../../src/schema/Errors.ts"
import { type Tenant, verify, withApp } from "../../kit/app.ts"
import { pageText } from "../cli/pages.ts"

const table = {
  "runs.run wait_seconds": { since: "2026-10-01", sunset: "2027-04-01", use: "/docs" },
  "runs.list status": { since: "2026-10-02", sunset: null, use: "/docs" },
  "wallet.get": { since: "2026-10-03", sunset: "2027-05-01", use: "/docs" }
}

let org: Tenant
const app = withApp({ limits: Layer.succeed(Deprecations, table) })
beforeAll(async () => {
  org = await app.tenant("10.00")
})

describe("problem types", () => {
  const asProblem = { headers: { accept: "application/problem+json" } }

  test("the type of a problem is a page, for people and for programs", async () => {
    const { body: error } = await app.call(null, "GET", "/v1/wallet", asProblem)
    expect(error).toMatchObject({ type: "/problems/unauthorized", title: "Unauthorized", code: "unauthorized" })
    const page = await app.call(null, "GET", error.type, { headers: { accept: "text/html" } })
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8")
    expect(page.headers.get("cache-control")).toBe("public, max-age=3600")
    expect(page.text).toContain("<code>Authorization: Bearer rg_…</code>")
    const described = await app.call(null, "GET", error.type, asProblem)
    expect(described.headers.get("content-type")).toBe("application/problem+json")
    expect(described.body).toMatchObject({ type: error.type, title: error.title, status: 401, code: "unauthorized" })
  })

  test("each code has a page, and an unknown one is not found", async () => {
    const { text } = await app.call(null, "GET", "/problems")
    for (const code of Object.keys(statusOf)) {
      expect(text).toContain(`href="/problems/${code}"`)
      expect((await app.call(null, "GET", `/problems/${code}`)).status).toBe(200)
    }
    for (const code of ["nothing", "toString", "constructor", "%3Cb%3E"])
      expect((await app.call(null, "GET", `/problems/${code}`)).status).toBe(404)
  })

  test("docs/errors.md has the same words", () => {
    const rows = Array.from(
      pageText("docs/errors.md").matchAll(/^\| `([a-z_]+)` +\| \d{3} +\| (.+?) +\| (.+?) +\|$/gm),
      ([, code = "", meaning, advice]) => [code, { meaning, advice }]
    )
    expect(Object.fromEntries(rows)).toEqual(errorGuide)
  })
})

describe("what is deprecated", () => {
  const saidOf = ({ headers }: { readonly headers: Headers }) =>
    ["deprecation", "sunset", "link"].map((name) => headers.get(name))
  const link = '</docs>; rel="deprecation"; type="text/html"'
  const nothing = [null, null, null]

  test("an operation says so in every answer", async () => {
    const said = [`@${Date.parse("2026-10-03") / 1000}`, "Sat, 01 May 2027 00:00:00 GMT", link]
    expect(saidOf(await org.get("/v1/wallet"))).toEqual(said)
    expect(saidOf(await app.call(null, "GET", "/v1/wallet"))).toEqual(said)
    expect(saidOf(await org.get("/v1/wallet/transactions"))).toEqual(nothing)
  })

  test("a field of a body and a parameter say so to who uses them", async () => {
    const used = await org.run({ ...verify(), wait_seconds: 20 })
    expect([used.status, ...saidOf(used)]).toEqual([
      200,
      `@${Date.parse("2026-10-01") / 1000}`,
      "Thu, 01 Apr 2027 00:00:00 GMT",
      link
    ])
    expect(saidOf(await org.run(verify()))).toEqual(nothing)
    expect(saidOf(await org.get("/v1/runs?status=failed"))).toEqual([`@${Date.parse("2026-10-02") / 1000}`, null, link])
    expect(saidOf(await org.get("/v1/runs"))).toEqual(nothing)
  })

  test("the document marks them, and no line names what does not exist", () => {
    const document = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))
    const marked = JSON.parse(JSON.stringify(withDeprecations(document, table)))
    expect(marked.paths["/v1/wallet"].get.deprecated).toBe(true)
    expect(marked.components.schemas.RunRequest.properties.wait_seconds.deprecated).toBe(true)
    expect(marked.components.schemas.RunRequest.properties.input.deprecated).toBeUndefined()
    const [status] = marked.paths["/v1/runs"].get.parameters.filter(({ name }: { name: string }) => name === "status")
    expect(status.deprecated).toBe(true)
    const count = (JSON.stringify(document).match(/"deprecated":true/g) ?? []).length
    expect(count).toBe(Object.keys(deprecations).length)
  })
})
