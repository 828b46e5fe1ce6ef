/** Which requests may use a browser's session, by their headers alone, and which text of a Cookie header is the token. */
import { describe, expect, test } from "bun:test"
import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { maySeeWallet, needsRole, refusalFor } from "../../src/http/access/Access.ts"
import type { Role } from "../../src/schema/accounts/Role.ts"
import { operatorToken } from "../../src/http/access/OperatorCookie.ts"
import { cookieToken, crossSiteProblem, hostCookie, requireOwnPage } from "../../src/http/access/SessionCookie.ts"

type Headers = Readonly<Record<string, string>>

describe("a request with a browser's session", () => {
  const said = (method: string, headers: Headers, publicUrl: string | null = null) => {
    const message = crossSiteProblem(method, { host: "rungate.example", ...headers }, publicUrl)?.error.message
    if (message === undefined) return "allowed"
    return ["another site", "X-Rungate-Console", "Sec-Fetch-Site"].find((text) => message.includes(text))
  }
  const header = { "x-rungate-console": "1" }

  test.each(["GET", "HEAD"])("a read (%s) is refused only to a page of another site", (method) => {
    expect(said(method, {})).toBe("allowed")
    expect(said(method, { "sec-fetch-site": "same-origin" })).toBe("allowed")
    expect(said(method, { "sec-fetch-site": "none" })).toBe("allowed")
    expect(said(method, { "sec-fetch-site": "same-site" })).toBe("another site")
    expect(said(method, { "sec-fetch-site": "cross-site" })).toBe("another site")
  })

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "a change (%s) needs the page's proof and the header",
    (method) => {
      expect(said(method, { ...header, "sec-fetch-site": "same-origin" })).toBe("allowed")
      expect(said(method, { ...header, "sec-fetch-site": "none" })).toBe("another site")
      expect(said(method, { ...header, "sec-fetch-site": "cross-site", origin: "https://rungate.example" })).toBe(
        "another site"
      )
      expect(said(method, { "sec-fetch-site": "same-origin" })).toBe("X-Rungate-Console")
      expect(said(method, header)).toBe("Sec-Fetch-Site")
      expect(said(method, { ...header, "x-rungate-console": "", "sec-fetch-site": "same-origin" })).toBe("allowed")
    }
  )

  test("a browser without Sec-Fetch-Site proves it by the origin: the host that was asked, or the public address", () => {
    const from = (origin: string, publicUrl: string | null = null) => said("POST", { ...header, origin }, publicUrl)
    expect(from("https://rungate.example")).toBe("allowed")
    expect(from("https://rungate.example:444")).toBe("another site")
    expect(from("https://console.example")).toBe("another site")
    expect(from("https://console.example", "https://console.example/path")).toBe("allowed")
    expect(from("http://console.example", "https://console.example")).toBe("another site")
    expect(from("https://evil.example", "https://console.example")).toBe("another site")
    for (const text of ["null", "", "rungate.example", "https://"])
      expect([text, from(text)]).toEqual([text, "another site"])
    expect(said("POST", { origin: "https://rungate.example" })).toBe("X-Rungate-Console")
  })
})

test("a session begins only at an address at which browsers keep its cookie", () => {
  const begins = (origin: string | null, site = "same-origin") => {
    const headers = {
      ...{ "sec-fetch-site": site, "x-rungate-console": "1" },
      ...(origin === null ? {} : { origin })
    }
    const request = HttpServerRequest.fromWeb(new Request("http://rungate.example/", { method: "POST", headers }))
    const asked = Effect.provideService(requireOwnPage(null), HttpServerRequest.HttpServerRequest, request)
    return Effect.runSync(Effect.match(asked, { onSuccess: () => true, onFailure: () => false }))
  }
  const kept = [
    "https://rungate.example",
    "http://localhost:8787",
    "http://a.localhost",
    "http://127.0.0.1",
    "http://[::1]:1"
  ]
  for (const origin of [...kept, null]) expect([origin, begins(origin)]).toEqual([origin, true])
  expect(begins("https://rungate.example", "cross-site")).toBe(false)
  for (const origin of [
    "http://rungate.example",
    "http://192.168.1.5",
    "http://notlocalhost",
    "http://localhost.example"
  ])
    expect([origin, begins(origin)]).toEqual([origin, false])
})

describe("the token of a cookie", () => {
  const read = hostCookie("__Host-a").token
  const token = (headers: Headers) => {
    const found = read(headers)
    return found === null ? null : Redacted.value(found)
  }

  test.each([
    ["__Host-a=one", "one"],
    ["b=2; __Host-a=one; c=3", "one"],
    ["b=2;__Host-a=one;c=3", "one"],
    ["__Host-a=one; __Host-a=two", "one"],
    ["__Host-a=", null],
    ["x__Host-a=one", null],
    ["__Host-ab=one", null],
    ["b=__Host-a=one", null],
    ["__host-a=one", null],
    ["", null]
  ])("of %p is %p", (cookie, expected) => expect(token({ cookie })).toBe(expected))

  test("counts only in a request without Authorization, and each session has a cookie of its own", () => {
    expect(token({ cookie: "__Host-a=one", authorization: "" })).toBeNull()
    expect(token({})).toBeNull()
    const cookie = "__Host-rungate_session=mine; __Host-rungate_operator=theirs"
    expect([cookieToken({ cookie }), operatorToken({ cookie })].map((one) => one && Redacted.value(one))).toEqual([
      "mine",
      "theirs"
    ])
  })
})

describe("a refusal by role", () => {
  const person = (role: Role) => ({ role, access: null })
  const key = { role: null, access: null }

  test("no key calls an operation about people, and no other operation asks a key for a role", () => {
    expect(refusalFor({ role: "viewer", keys: "people", own: true, verified: false }, key)?.error.message).toContain(
      "needs a session token"
    )
    for (const keys of ["reads", "runs", "stops", "mints", "revokes", "changes"] as const)
      expect([keys, refusalFor({ role: "owner", keys, own: false, verified: false }, key)]).toEqual([keys, null])
  })

  test("names the role that is needed, the one that the caller has, and why", () => {
    expect(
      refusalFor({ role: "member", keys: "people", own: false, verified: false }, person("viewer"))?.error.message
    ).toStartWith("This needs the role member, and yours is viewer. Ask an owner")
    expect(needsRole("owner", "admin", "An owner has to agree.").error.message).toStartWith(
      "An owner has to agree. This needs the role owner, and yours is admin."
    )
  })

  test("everybody of an organization sees what its wallet has", () => {
    expect([null, "viewer", "member", "admin", "owner"].map((role) => maySeeWallet(role as never))).toEqual(
      Array.from({ length: 5 }, () => true)
    )
  })
})
