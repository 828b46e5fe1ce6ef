/** An agent host with OAuth: the client of the protocol's own SDK, which knows the address of /mcp only, and a person who decides. */
import { expect } from "bun:test"
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js"
import { challengeForm } from "../../../src/schema/oauth/Pkce.ts"
import type { App, Reply } from "../../kit/app.ts"

export const callback = "http://127.0.0.1:7777/callback"

/** What a provider keeps. */
export interface Kept {
  client?: Parameters<NonNullable<OAuthClientProvider["saveClientInformation"]>>[0]
  tokens?: OAuthTokens
  verifier?: string
  /** Where the person was sent. */
  sent?: URL
}

/** A provider as the SDK's examples write it. */
export const providerOf = (kept: Kept, client_name = "Test agent"): OAuthClientProvider => ({
  redirectUrl: callback,
  clientMetadata: {
    client_name,
    redirect_uris: [callback],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none"
  },
  state: () => "state-of-the-test",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  redirectToAuthorization: (url) => void (kept.sent = url),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier ?? ""
})

export const transportOf = (app: App, kept: Kept, name?: string) =>
  new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), { authProvider: providerOf(kept, name) })

/** A connected client. */
export const connected = async (app: App, kept: Kept) => {
  const client = new Client({ name: "test", version: "1" })
  await client.connect(transportOf(app, kept))
  return client
}

/** The parameters of an authorization request, as the consent page takes them from its address. */
export const asked = (sent: URL | undefined): Record<string, string> => Object.fromEntries(sent?.searchParams ?? [])

export const decided = async (
  app: App,
  session: string,
  request: Readonly<Record<string, string>>,
  decision: Readonly<Record<string, unknown>> = { approve: true }
): Promise<Reply> => {
  const { body } = await app.call(session, "GET", "/v1/auth/session")
  return app.call(session, "POST", "/v1/oauth/authorization", {
    body: { ...request, organization_id: body.organization.id, ...decision }
  })
}

export const codeIn = ({ body }: Reply): string => new URL(body.redirect_to).searchParams.get("code") ?? ""

/** Connects by address alone, as far as the person's consent, and with it. */
export const connect = async (app: App, session: string, decision?: Readonly<Record<string, unknown>>) => {
  const kept: Kept = {}
  const transport = transportOf(app, kept)
  await expect(new Client({ name: "test", version: "1" }).connect(transport)).rejects.toThrow()
  const request = asked(kept.sent)
  expect(challengeForm.test(request["code_challenge"] ?? "")).toBe(true)
  const answer = await decided(app, session, request, decision)
  await transport.finishAuth(codeIn(answer))
  return { kept, request, answer }
}

/** A form at an OAuth endpoint. */
export const posted = async (app: App, path: string, fields: Readonly<Record<string, string>> | string) => {
  const body = typeof fields === "string" ? fields : new URLSearchParams(fields).toString()
  const headers = { "content-type": "application/x-www-form-urlencoded" }
  const answer = await fetch(`${app.url}${path}`, { method: "POST", headers, body })
  return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) }
}

export const register = async (app: App, given: unknown) => {
  const headers = { "content-type": "application/json" }
  const answer = await fetch(`${app.url}/oauth/register`, { method: "POST", headers, body: JSON.stringify(given) })
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}
