/** What a stranger without an account sends to doors that are open to everybody. */
import { describe, expect, test } from "bun:test"
import { connect } from "node:net"
import { type App, withApp } from "../../kit/app.ts"
import { register } from "../../http/oauth/agent.ts"

const app: App = withApp({ settings: { RUNGATE_RATE_LIMIT: "1000" } })

const formType = { "content-type": "application/x-www-form-urlencoded" }
const sent = (path: string, body: string) => fetch(`${app.url}${path}`, { method: "POST", headers: formType, body })

describe("a form of a megabyte", () => {
  test.each([
    "/forgot-password",
    "/reset-password",
    "/verify-email",
    "/join-organization",
    "/approve-run",
    "/oauth/token",
    "/oauth/revoke"
  ])("at %s is refused before anything parses it, and its sender is limited", async (path) => {
    const large = await sent(path, "a&".repeat(500_000))
    expect([path, large.status, large.headers.has("ratelimit")]).toEqual([path, 413, true])
    const small = await sent(path, "a=b")
    expect([path, small.status, small.headers.has("ratelimit")]).toEqual([path, 400, true])
  })
})

test("a client whose id would be too long to be taken is not registered", async () => {
  const redirect_uris = [1, 2, 3, 4, 5].map((n) => `https://agent.example/${"x".repeat(470)}${n}`)
  const { status, body } = await register(app, { redirect_uris, client_name: "Agent" })
  expect([status, body.error, body.client_id]).toEqual([400, "invalid_client_metadata", undefined])
  expect((await register(app, { redirect_uris: redirect_uris.slice(0, 4) })).status).toBe(201)
})

test("an address of a megabyte of dots keeps nobody waiting", async () => {
  const body = { email: `a@${".".repeat(900_000)}@`, password: "correct horse battery" }
  const { status, body: answer } = await app.call(null, "POST", "/v1/auth/sign-in", { body })
  expect([status, answer.error.details]).toEqual([
    400,
    [{ path: "email", message: "must have a length of at most 254" }]
  ])
})

test.each(["<kim@mail.example>", "k<im@mail.example", "kim@mail.example>"])(
  "the address %s gets no mail of its own beside the mailbox that it means",
  async (email) => {
    const body = { email, password: "correct horse battery", organization: "Kim" }
    for (const path of ["sign-up", "password-reset"]) {
      const { status, body: answer } = await app.call(null, "POST", `/v1/auth/${path}`, {
        body: path === "sign-up" ? body : { email }
      })
      expect([path, status, answer.error?.details[0].path]).toEqual([path, 400, "email"])
    }
  }
)

test("an address that ends with a slash deletes nothing, however it begins", async () => {
  const org = await app.tenant("1.00")
  const session = await org.session()
  for (const path of [
    "/v1/auth/sessions/",
    "//v1/auth/sessions/",
    "/V1/auth/sessions/",
    "/v1/auth//sessions/",
    "/v1/auth/sessions/;x"
  ]) {
    const { status } = await app.call(session, "DELETE", path)
    expect([path, status]).toEqual([path, 404])
  }
  expect((await app.call(session, "GET", "/v1/auth/session")).status).toBe(200)
})

test("a query parameter that comes twice is named as that", async () => {
  const org = await app.tenant("1.00")
  for (const name of ["limit", "status", "metadata.campaign"]) {
    const { status, body } = await org.get(`/v1/runs?${name}=1&${name}=2`)
    expect([status, body.error.message]).toEqual([400, `query.${name} must be given once`])
  }
  const { body } = await org.get("/v1/runs?limits=1&limits=2")
  expect(body.error.message).toContain("Unknown query parameter `limits`")
})

/** The first line of what comes back for a request as it is written here. */
const statusLine = (request: string) =>
  new Promise<string>((done) => {
    let text = ""
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1", () => socket.write(request))
    socket.on("data", (bytes) => (text += bytes.toString("latin1")))
    socket.on("close", () => done(text.split("\r\n")[0] ?? ""))
  })

// Bun's own page about an error shows sources and a stack.
test.each(["a b", "[", "x:99999", "%", "a@b", "a?b", "a#b", "1.2.3.4.5", "[::::]", "-"])(
  "a request to the host %p gets an answer of the service",
  async (host) => {
    const ends = `Host: ${host}\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\nX-Rungate-Console: 1\r\nContent-Length: 0\r\n\r\n`
    for (const line of [
      "GET /v1/wallet",
      "DELETE /v1/api-keys/key_1",
      "GET /livez",
      "POST /v1/run",
      "POST /mcp",
      "POST /v1/auth/browser/passkey/start",
      "GET /"
    ])
      expect([line, await statusLine(`${line} HTTP/1.1\r\n${ends}`)]).toEqual([
        line,
        expect.stringMatching(/^HTTP\/1.1 [234]/)
      ])
  }
)
