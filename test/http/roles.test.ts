/**
 * Every role against every operation of the OpenAPI document, by the list in expected-roles.ts. It is not read from the service, so that a
 * role which is too low in its annotation fails here.
 */
import { beforeAll, describe, expect, test } from "bun:test"
import { Context } from "effect"
import { HttpApi, HttpApiEndpoint, OpenApi } from "effect/http-api"
import { refusalFor } from "../../src/http/access/Access.ts"
import { Api } from "../../src/http/api/Api.ts"
import { Rights } from "../../src/http/api/shapes/Common.ts"
import { figures, withApp } from "../kit/app.ts"
import { contract } from "../kit/documented-answers.ts"
import { expectedRoles, peopleOnly, verifiedOnly } from "./expected-roles.ts"

const password = "correct horse battery"

/** Each may do what those before it may do. */
const roles = ["viewer", "member", "admin", "owner"] as const
type Role = (typeof roles)[number]
const listed = roles.flatMap((role) => expectedRoles[role].map((id): readonly [string, Role] => [id, role]))
const expected = new Map<string, Role>(listed)

/** Operations that a session calls. The others need no credential, and need no role. */
const secured = new Set(
  Object.values<Record<string, { operationId: string; security: ReadonlyArray<unknown> }>>(
    JSON.parse(JSON.stringify(OpenApi.fromApi(Api).paths))
  ).flatMap((methods) => Object.values(methods).flatMap((one) => (one.security.length > 0 ? [one.operationId] : [])))
)
/** Without the operator's, whose session has no role (operator/session.test.ts). */
const operations = () => contract().operations.filter(({ id }) => secured.has(id) && !id.startsWith("operator"))

const sessions = new Map<Role, string>()
const app = withApp()
beforeAll(async () => {
  const post = (path: string, body: unknown, token: string | null = null) => app.call(token, "POST", path, { body })
  const signedUp = await post("/v1/auth/sign-up", { email: "owner@example.com", password, organization: "Acme" })
  sessions.set("owner", signedUp.body.session_token)
  for (const role of roles.filter((one) => one !== "owner")) {
    const invited = await post("/v1/invitations", { email: `${role}@example.com`, role }, signedUp.body.session_token)
    const token = new URL(invited.body.link).searchParams.get("token")
    sessions.set(role, (await post("/v1/invitations/accept", { token, password })).body.session_token)
  }
})

test("every operation with a credential has one expected role", () => {
  const ids = operations().map(({ id }) => id)
  const missing = ids.filter((id) => !expected.has(id))
  const gone = [...expected.keys()].filter((id) => !ids.includes(id))
  const twice = listed.flatMap(([id, role]) => (expected.get(id) === role ? [] : [id]))
  expect([
    ...missing.map(
      (id) =>
        `${id} is new: add it to test/http/expected-roles.ts, under the least role that docs/concepts.md ("People") lets do it`
    ),
    ...gone.map((id) => `${id} is no operation with a credential any more: remove it from test/http/expected-roles.ts`),
    ...twice.map((id) => `${id} has two roles in test/http/expected-roles.ts: remove one`)
  ]).toEqual([])
})

/** What each operation with a credential states. Undefined for one that states nothing. */
const stated = new Map<string, Rights | undefined>()
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ group, endpoint }) => {
    const id = `${group.identifier}.${endpoint.identifier}`
    if (secured.has(id) && !id.startsWith("operator"))
      stated.set(id, Context.getOrUndefined(endpoint.annotations, Rights))
  }
})

test("every operation with a credential states the expected role", () => {
  const wrong = Array.from(stated).filter(([id, rights]) => rights?.role !== expected.get(id))
  expect(
    wrong.map(
      ([id, rights]) =>
        `${id} needs ${rights?.role ?? "no role"} by its annotation (src/http/api/shapes/Common.ts), and ${expected.get(id) ?? "no role"} in test/http/expected-roles.ts`
    )
  ).toEqual([])
})

test("what pays, spends or lets somebody in needs a verified address", () => {
  const verified = Array.from(stated).flatMap(([id, rights]) => (rights?.verified === true ? [id] : []))
  expect(verified.toSorted()).toEqual(verifiedOnly.toSorted())
})

test("an operation that states nothing is the owner's, and no key's", () => {
  const rights = Context.get(HttpApiEndpoint.get("new", "/new").annotations, Rights)
  expect(roles.map((role) => refusalFor(rights, { role, access: null })?.error.code ?? "allowed")).toEqual([
    "forbidden",
    "forbidden",
    "forbidden",
    "allowed"
  ])
  expect(refusalFor(rights, { role: null, access: null })?.error.message).toContain("needs a session token")
})

/** A request with nothing in it, to an object that does not exist. */
const callEmpty = (token: string, method: string, path: string) => {
  const query = path === "/v1/history" && method !== "POST" ? "?q=nobody@nowhere.example" : ""
  const filled = `${path.replace(/\{[^}]+\}/g, "none")}${query}`
  return app.call(token, method, filled, { body: method === "GET" ? undefined : {} })
}

test("an API key without a scope calls every operation but those for people", async () => {
  const { key } = await app.tenant("5.00")
  const refused: Array<string> = []
  for (const { id, method, path } of operations()) {
    // It would end the key.
    if (id === "keys.revoke") continue
    const { status, body } = await callEmpty(key, method, path)
    if (status === 403 && String(body.error.message).includes("needs a session token")) refused.push(id)
  }
  expect(refused.toSorted()).toEqual(peopleOnly.toSorted())
})

describe("every role at every door", () => {
  test.each(roles)("%s", async (role) => {
    const token = sessions.get(role) ?? ""
    // What ends the session comes last.
    const inOrder = operations().toSorted(
      (a, b) => Number(/signOut|endS/.test(a.id)) - Number(/signOut|endS/.test(b.id))
    )
    const wrong: Array<string> = []
    let calls = 0
    for (const { id, method, path } of inOrder) {
      if (id === "auth.endSessions") continue
      const { status, body } = await callEmpty(token, method, path)
      const needed = expected.get(id) ?? "owner"
      const refused =
        status === 403 && String(body.error.message).includes(`needs the role ${needed}, and yours is ${role}`)
      calls += 1
      const may = roles.indexOf(role) >= roles.indexOf(needed)
      if (refused === may || status >= 500) wrong.push(`${id}: ${status} ${body.error?.message ?? ""}`)
    }
    expect(wrong).toEqual([])
    figures(`roles: ${role}`, { calls, violations: wrong.length })
  })
})
