/** Clients whose id is the address of a document about themselves. */
import { afterEach, describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { Effect, Layer } from "effect"
import { ClientDocuments, DocumentFetch } from "../../../../src/layers/oauth/ClientDocuments.ts"
import { HostAddresses } from "../../../../src/layers/webhooks/Sender.ts"
import { clientIn, documentUrl, mayRedirect } from "../../../../src/schema/oauth/Client.ts"
import { withApp } from "../../../kit/app.ts"
import { codeIn, decided, posted } from "../../../http/oauth/agent.ts"

const id = "https://agent.example/oauth/client.json"
const callback = "https://agent.example/callback"
const written = {
  client_id: id,
  client_name: "Test agent",
  redirect_uris: [callback],
  token_endpoint_auth_method: "none"
}

let answer = (): Response => Response.json(written)
let reads = 0
const app = withApp({
  limits: Layer.succeed(DocumentFetch, async () => {
    reads += 1
    return answer()
  })
})
afterEach(() => {
  answer = () => Response.json(written)
})

const verifier = "v".repeat(43)
const requestOf = (client_id: string, redirect_uri = callback) => ({
  ...{ client_id, redirect_uri, response_type: "code", code_challenge_method: "S256", state: "s" },
  code_challenge: createHash("sha256").update(verifier).digest("base64url")
})

test("a client connects with the address of its document, and is shown with the document's host", async () => {
  const org = await app.tenant("1.00")
  const session = await org.session()
  const request = requestOf(id)
  const shown = await app.call(session, "GET", `/v1/oauth/authorization?${new URLSearchParams(request)}`)
  expect(shown.body).toMatchObject({ client_name: "Test agent (agent.example)", redirect_host: "agent.example" })
  const code = codeIn(await decided(app, session, request))
  expect(reads).toBe(1)
  const form = {
    grant_type: "authorization_code",
    code,
    redirect_uri: callback,
    client_id: id,
    code_verifier: verifier
  }
  const stolen = await posted(app, "/oauth/token", { ...form, client_id: "https://other.example/client.json" })
  expect(stolen.body.error).toBe("invalid_grant")
  const again = codeIn(await decided(app, session, request))
  const { status, body } = await posted(app, "/oauth/token", { ...form, code: again })
  expect(status).toBe(200)
  const renewed = { grant_type: "refresh_token", refresh_token: body.refresh_token, client_id: id }
  expect((await posted(app, "/oauth/token", renewed)).status).toBe(200)
  // The token endpoint reads nothing, so strangers make the service read nothing.
  expect(reads).toBe(1)
  const { body: metadata } = await app.call(null, "GET", "/.well-known/oauth-authorization-server")
  expect(metadata.client_id_metadata_document_supported).toBe(true)
})

test("an address that the document does not list is refused, and so is a document that can't be read", async () => {
  const org = await app.tenant("1.00")
  const session = await org.session()
  const ask = (client_id: string, redirect_uri?: string) =>
    app.call(session, "GET", `/v1/oauth/authorization?${new URLSearchParams(requestOf(client_id, redirect_uri))}`)
  expect((await ask(id, "https://evil.example/")).body.error.details[0].path).toBe("redirect_uri")
  const path = async (client_id: string, reply: () => Response) => {
    answer = reply
    const { status, body } = await ask(client_id)
    return [status, body.error?.details[0].path]
  }
  const refused = [400, "client_id"]
  const at = (name: string) => `https://agent.example/${name}.json`
  const about = (name: string, change: object = {}) => ({ ...written, client_id: at(name), ...change })
  expect(await path(at("a"), () => Response.json(about("b")))).toEqual(refused)
  expect(await path(at("c"), () => new Response("{", { headers: { "content-type": "application/json" } }))).toEqual(
    refused
  )
  expect(await path(at("d"), () => new Response(JSON.stringify(about("d"))))).toEqual(refused)
  expect(await path(at("e"), () => Response.json(about("e"), { status: 404 }))).toEqual(refused)
  expect(await path(at("f"), () => Response.redirect(at("g"), 302))).toEqual(refused)
  expect(await path(at("h"), () => Response.json(about("h", { logo: "x".repeat(20_000) })))).toEqual(refused)
  // A failure is not kept: the document is read again.
  expect((await path(at("e"), () => Response.json(about("e"))))[0]).toBe(200)
})

describe("an id", () => {
  test.each([
    [id, true],
    ["https://agent.example/", false],
    ["http://agent.example/client.json", false],
    ["https://agent.example/a/../client.json", false],
    ["https://agent.example/client.json#", false],
    ["https://me@agent.example/client.json", false],
    ["https://AGENT.example/client.json", false],
    [`https://agent.example/${"x".repeat(500)}`, false]
  ])("%s is an address of a document: %p", (client_id, is) => {
    expect(documentUrl(client_id) !== null).toBe(is)
  })

  test("leads to a client whose own program may listen at any port, and no other host", () => {
    const uris = ["http://127.0.0.1/callback", "vscode://callback"]
    const client = clientIn(id, JSON.stringify({ ...written, redirect_uris: uris }))
    expect(client?.redirect_uris).toEqual(["http://127.0.0.1/callback"])
    if (client === null) throw new Error("a client")
    expect(mayRedirect(client, "http://127.0.0.1:4711/callback")).toBe(true)
    expect(mayRedirect(client, "http://127.0.0.1:4711/other")).toBe(false)
    expect(mayRedirect(client, "http://localhost:4711/callback")).toBe(false)
    expect(mayRedirect({ ...client, redirect_uris: [callback] }, "https://agent.example:8443/callback")).toBe(false)
    expect(clientIn(id, JSON.stringify({ ...written, redirect_uris: ["vscode://callback"] }))).toBeNull()
    expect(clientIn(id, JSON.stringify({ ...written, token_endpoint_auth_method: "client_secret_post" }))).toBeNull()
  })

  test("with a private address is not read", async () => {
    const looked: Array<string> = []
    const clients = ClientDocuments.layer.pipe(
      Layer.provide(
        Layer.succeed(HostAddresses, (hostname, callback) => {
          looked.push(hostname)
          callback(null, [{ address: "169.254.169.254", family: 4 }])
        })
      )
    )
    const read = (client_id: string) =>
      Effect.runPromise(
        Effect.provide(
          Effect.flatMap(ClientDocuments, (one) => one.client(client_id)),
          clients
        )
      )
    expect(await read("https://metadata.example/client.json")).toBeNull()
    expect(looked).toEqual(["metadata.example"])
    expect(await read("https://127.0.0.1/client.json")).toBeNull()
    expect(await read("https://[::1]/client.json")).toBeNull()
  })
})
