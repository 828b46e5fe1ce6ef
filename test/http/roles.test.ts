/**
 * Every role against every operation of the OpenAPI document. A new operation needs a line in `src/http/access/Access.ts`, which says the
 * role that it needs.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { OpenApi } from "effect/http-api"
import { neededRole, refusalFor } from "../../src/http/access/Access.ts"
import { allows, type Role, roles } from "../../src/schema/accounts/Role.ts"
import { Api } from "../../src/http/api/Api.ts"
import { type App, figures, startApp } from "../kit/app.ts"
import { contract } from "../kit/documented-answers.ts"

const password = "correct horse battery"

/** Operations that a session calls. The others need no credential, and need no role. */
const secured = new Set(
  Object.values<Record<string, { operationId: string; security: ReadonlyArray<unknown> }>>(
    JSON.parse(JSON.stringify(OpenApi.fromApi(Api).paths))
  ).flatMap((methods) => Object.values(methods).flatMap((one) => (one.security.length > 0 ? [one.operationId] : [])))
)
/** Without the operator's, whose session has no role (operator/session.test.ts). */
const operations = () => contract().operations.filter(({ id }) => secured.has(id) && !id.startsWith("operator"))

let app: App
const sessions = new Map<Role, string>()
beforeAll(async () => {
  app = await startApp()
  const post = (path: string, body: unknown, token: string | null = null) => app.call(token, "POST", path, { body })
  const signedUp = await post("/v1/auth/sign-up", { email: "owner@example.com", password, organization: "Acme" })
  sessions.set("owner", signedUp.body.session_token)
  for (const role of roles.filter((one) => one !== "owner")) {
    const invited = await post("/v1/invitations", { email: `${role}@example.com`, role }, signedUp.body.session_token)
    const token = new URL(invited.body.link).searchParams.get("token")
    sessions.set(role, (await post("/v1/invitations/accept", { token, password })).body.session_token)
  }
})
afterAll(() => app.stop())

test("every operation with a credential says which role it needs, and no line is left over", () => {
  expect(Object.keys(neededRole).toSorted()).toEqual(
    operations()
      .map(({ id }) => id)
      .toSorted()
  )
})

test("an operation without a line is the owner's", () => {
  expect(roles.map((role) => refusalFor("new.operation", role)?.error.code ?? "allowed")).toEqual([
    "forbidden",
    "forbidden",
    "forbidden",
    "allowed"
  ])
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
      const query = path === "/v1/history" && method !== "POST" ? "?q=nobody@nowhere.example" : ""
      const filled = `${path.replace(/\{[^}]+\}/g, "none")}${query}`
      const { status, body } = await app.call(token, method, filled, { body: method === "GET" ? undefined : {} })
      const needed = neededRole[id] ?? "owner"
      const refused =
        status === 403 && String(body.error.message).includes(`needs the role ${needed}, and yours is ${role}`)
      calls += 1
      if (refused === allows(role, needed) || status >= 500) wrong.push(`${id}: ${status} ${body.error?.message ?? ""}`)
    }
    expect(wrong).toEqual([])
    figures(`roles: ${role}`, { calls, violations: wrong.length })
  })
})
