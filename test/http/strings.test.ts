/**
 * T55: every string of every operation in /openapi.json, in paths, queries and bodies, with a NUL, with half a surrogate pair, and with a
 * megabyte. The first two are `invalid_request` at that field; nothing is a 5xx. A text that is one character longer than the document
 * says is refused, and the answer names the field.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, figures, startApp, type Tenant } from "../kit/app.ts"
import { acme } from "../kit/provider-documents.ts"

let app: App
let org: Tenant
let person: string
beforeAll(async () => {
  app = await startApp()
  await app.catalog(acme)
  org = await app.tenant("10.00")
  person = await org.session()
})
afterAll(async () => {
  expect(app.logs.filter((line) => line.startsWith("Error"))).toEqual([])
  await app.stop()
})

type Node = ReturnType<typeof JSON.parse>

const megabyte = "x".repeat(1_000_000)
const mebibyte = 1_048_576

interface Text {
  /** The names that lead to it. */
  readonly at: ReadonlyArray<string>
  /** The document's limit. Undefined for any JSON, and where the document names the values. */
  readonly charsMax: number | undefined
}

/** Every string in the schema of a body. Unions are followed in each of their members. */
const stringsIn = (api: Node, schema: Node, path: ReadonlyArray<string> = [], depth = 0): ReadonlyArray<Text> => {
  if (depth > 8 || schema === undefined) return []
  if (typeof schema.$ref === "string")
    return stringsIn(api, api.components.schemas[schema.$ref.split("/").at(-1)], path, depth + 1)
  const inside = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap((one: Node) =>
    stringsIn(api, one, path, depth + 1)
  )
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
    stringsIn(api, one, [...path, name], depth + 1)
  )
  const items = schema.items === undefined ? [] : stringsIn(api, schema.items, [...path, "0"], depth + 1)
  // What is any JSON, such as an input, holds strings too.
  const open =
    schema.type === undefined && inside.length + members.length + items.length === 0 && schema.const === undefined
  const own = schema.type === "string" || open ? [{ at: path, charsMax: schema.maxLength }] : []
  return [...own, ...inside, ...members, ...items]
}

/** A JSON text that has `written`, a JSON string as it is written, at the path and nothing else. */
const bodyWith = (path: ReadonlyArray<string>, written: string): string => {
  const [name, ...rest] = path
  if (name === undefined) return written
  const inside = bodyWith(rest, written)
  return name === "0" ? `[${inside}]` : `{${JSON.stringify(name)}:${inside}}`
}

interface Try {
  readonly what: string
  readonly method: string
  readonly url: string
  readonly raw?: string
  /** Null: any 4xx, or success, will do. */
  readonly field: string | null
}

const tries = (api: Node): ReadonlyArray<Try> =>
  Object.entries<Record<string, Node>>(api.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([verb, operation]) => {
      const method = verb.toUpperCase()
      const names = (where: string): ReadonlyArray<string> =>
        (operation.parameters ?? []).filter((one: Node) => one.in === where).map((one: Node) => one.name)
      const plain = path.replaceAll(/\{\w+\}/g, "x")
      const inPath = names("path").flatMap((name): ReadonlyArray<Try> => {
        const at = (value: string) => path.replace(`{${name}}`, value).replaceAll(/\{\w+\}/g, "x")
        return [
          { what: "NUL", method, url: at("a%00b"), field: `path.${name}` },
          { what: "half a surrogate", method, url: at("a%ED%A0%80b"), field: "path" },
          { what: "long", method, url: at("x".repeat(10_000)), field: null }
        ]
      })
      const inQuery = names("query").flatMap(
        (name): ReadonlyArray<Try> => [
          { what: "NUL", method, url: `${plain}?${name}=a%00b`, field: `query.${name}` },
          { what: "half a surrogate", method, url: `${plain}?${name}=a%ED%A0%80b`, field: null },
          { what: "long", method, url: `${plain}?${name}=${"x".repeat(10_000)}`, field: null }
        ]
      )
      const schema = operation.requestBody?.content?.["application/json"]?.schema
      const inBody = stringsIn(api, schema).flatMap(({ at }): ReadonlyArray<Try> => {
        const body = (written: string) => ({ method, url: plain, raw: bodyWith(at, written) })
        return [
          { what: "NUL", ...body('"a\\u0000b"'), field: at.join(".") },
          { what: "half a surrogate", ...body('"a\\ud800b"'), field: at.join(".") },
          { what: "half a surrogate", ...body('"a\\udc00"'), field: at.join(".") },
          { what: "NUL in a name", ...body('{"a\\u0000b":1}'), field: at.join(".") },
          { what: "a megabyte", ...body(`"${megabyte}"`), field: null }
        ]
      })
      return [...inPath, ...inQuery, ...inBody]
    })
  )

const headBytesMax = 16_384
const long = (charsMax: number) => "2".repeat(charsMax + 1)

/** Requests with one text that is a character too long for the document, and the field that the answer must name. Null: it need not. */
const tooLong = (api: Node): ReadonlyArray<Try> =>
  Object.entries<Record<string, Node>>(api.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([verb, operation]) => {
      const method = verb.toUpperCase()
      const plain = path.replaceAll(/\{\w+\}/g, "x")
      const parameters: ReadonlyArray<Node> = operation.parameters ?? []
      const limited = parameters.filter(({ schema }) => schema.maxLength !== undefined)
      const inUrl = limited.flatMap(({ name, in: where, schema }): ReadonlyArray<Try> => {
        const value = long(schema.maxLength)
        const what = `${where} ${schema.maxLength}`
        if (where === "path")
          return [{ what, method, url: path.replace(`{${name}}`, value).replaceAll(/\{\w+\}/g, "x"), field: null }]
        return where === "query" ? [{ what, method, url: `${plain}?${name}=${value}`, field: `query.${name}` }] : []
      })
      const schema = operation.requestBody?.content?.["application/json"]?.schema
      const inBody = stringsIn(api, schema).flatMap(({ at, charsMax }): ReadonlyArray<Try> => {
        if (charsMax === undefined) return []
        const raw = bodyWith(at, JSON.stringify(long(charsMax)))
        return [{ what: `body ${charsMax}`, method, url: plain, raw, field: charsMax < mebibyte ? at.join(".") : null }]
      })
      return [...inUrl, ...inBody]
    })
  )

describe("T55 limits.boundary: strings", () => {
  test("a text that is longer than the document allows is refused at its field", async () => {
    const all = tooLong((await app.call(null, "GET", "/openapi.json")).body).filter(
      // The operator's cookie is asked for first.
      ({ url }) => !url.startsWith("/v1/operator/")
    )
    expect(all.length).toBeGreaterThan(150)
    const wrong: Array<string> = []
    for (const { what, method, url, raw, field } of all) {
      const ask = raw === undefined ? {} : { raw, headers: { "content-type": "application/json" } }
      const { status, body, text } = await app.call(person, method, url, ask)
      const found = body?.error?.details?.map((one: { path: string }) => one.path) ?? []
      const good = field === null ? status >= 400 && status < 500 : status === 400 && found.includes(field)
      if (!good) wrong.push(`${what}: ${method} ${url.slice(0, 80)} ${field}: ${status} ${text.slice(0, 150)}`)
    }
    expect(wrong).toEqual([])
    // Of headers the document states what Bun takes, except for the key, which test/http/idempotency-keys.test.ts tries.
    const headers = { authorization: `Bearer ${person}`, prefer: long(headBytesMax) }
    expect((await fetch(`${app.url}/v1/wallet`, { headers })).status).toBe(431)
    figures("T55 limits of the document", { cases: all.length, violations: wrong.length })
  })

  test("a NUL and half a surrogate pair are refused at their field, and nothing is a 5xx", async () => {
    const all = tries((await app.call(null, "GET", "/openapi.json")).body)
    expect(all.length).toBeGreaterThan(150)
    const wrong: Array<string> = []
    for (const { what, method, url, raw, field } of all) {
      const ask = raw === undefined ? {} : { raw, headers: { "content-type": "application/json" } }
      const { status, body, text } = await app.call(person, method, url, ask)
      const found = body?.error?.details?.map((one: { path: string }) => one.path) ?? []
      const good =
        field === null ? status < 500 : status === 400 && body.error.code === "invalid_request" && found.includes(field)
      if (!good)
        wrong.push(
          `${what}: ${method} ${url.slice(0, 60)} ${raw?.slice(0, 80)} ${field}: ${status} ${text.slice(0, 150)}`
        )
    }
    expect(wrong).toEqual([])
    figures("T55 strings", { cases: all.length, violations: wrong.length })
  })

  test("whole requests with a NUL in a value that is otherwise right", async () => {
    const json = { "content-type": "application/json" }
    const post = async (path: string, raw: string) => {
      const { status, body } = await app.call(person, "POST", path, { raw, headers: json })
      return [status, body.error.code, body.error.details[0].path]
    }
    const refusedAt = (field: string) => [400, "invalid_request", field]
    const account = '"password":"correct horse battery","organization":"X"'
    expect(await post("/v1/auth/sign-up", `{"email":"a\\u0000b@example.com",${account}}`)).toEqual(refusedAt("email"))
    expect(await post("/v1/auth/sign-in", '{"email":"a@example.com","password":"\\u0000"}')).toEqual(
      refusedAt("password")
    )
    expect(await post("/v1/api-keys", '{"name":"\\u0000","environment":"test"}')).toEqual(refusedAt("name"))
    expect(await post("/v1/run", '{"capability":"email.verify","input":{"email":"\\ud800@example.com"}}')).toEqual(
      refusedAt("input.email")
    )
    const raw = '"provider":"acme","endpoint":"/search","input":{"filter":{"field":"x"}}'
    expect(await post("/v1/run", `{${raw},"query":{"a":["b",{"c":"\\u0000"}]}}`)).toEqual(refusedAt("query.a.1.c"))
    const emoji = await app.call(person, "POST", "/v1/run", {
      raw: '{"capability":"email.find","input":{"full_name":"Ada \\ud83d\\ude00","company_domain":"example.com"}}',
      headers: json
    })
    expect(emoji.status).toBe(200)
    for (const query of ["capability=%00", "endpoint=a%00", "provider=%00x", "cursor=%00", "a%00b=1"]) {
      const { status, body } = await org.get(`/v1/runs?${query}`)
      expect([query, status, body.error.code]).toEqual([query, 400, "invalid_request"])
    }
    expect((await app.call(null, "GET", "/join/%00")).status).toBe(400)
    expect((await app.call(null, "GET", "/no/such/path%00")).status).toBe(400)
  })
})
