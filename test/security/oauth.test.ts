/**
 * The OAuth server against two strict clients of other people: openid-client as a host of agents uses it, and oauth4webapi, which checks each
 * answer against its standard. A client that is given a wrong `iss`, state or verifier must refuse, and read why the service refuses.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import {
  allowInsecureRequests as insecure,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  type Client,
  discoveryRequest,
  dynamicClientRegistrationRequest,
  generateRandomCodeVerifier,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processDynamicClientRegistrationResponse,
  processResourceDiscoveryResponse,
  protectedResourceRequest,
  resourceDiscoveryRequest,
  validateAuthResponse,
  WWWAuthenticateChallengeError
} from "oauth4webapi"
import * as openid from "openid-client"
import { type App, startApp } from "../kit/app.ts"
import { asked, callback, decided } from "../http/oauth/agent.ts"

let app: App
let session: string
beforeAll(async () => {
  app = await startApp()
  session = await (await app.tenant("5.00")).session()
})
afterAll(async () => {
  await app.books()
  await app.stop()
})

const metadata = { redirect_uris: [callback], client_name: "Strict client", token_endpoint_auth_method: "none" }
const plainHttp = { [insecure]: true } as const
const runs = (token: string) => app.call(token, "GET", "/v1/runs")

/** Where the person's browser is sent after they have consented to the request. */
const consented = async (request: URL): Promise<URL> => {
  const { status, body } = await decided(app, session, asked(request))
  expect(status).toBe(200)
  return new URL(body.redirect_to)
}

describe("openid-client", () => {
  const options: openid.DynamicClientRegistrationRequestOptions = {
    algorithm: "oauth2",
    execute: [openid.allowInsecureRequests]
  }
  const registered = () => openid.dynamicClientRegistration(new URL(app.url), metadata, openid.None(), options)

  const begun = async (config: openid.Configuration, asks: Readonly<Record<string, string>> = {}) => {
    const verifier = openid.randomPKCECodeVerifier()
    const state = openid.randomState()
    const request = openid.buildAuthorizationUrl(config, {
      redirect_uri: callback,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      scope: "run",
      state,
      resource: `${app.url}/mcp`,
      ...asks
    })
    return { request, checks: { pkceCodeVerifier: verifier, expectedState: state } }
  }

  test("registers, connects, refreshes and revokes", async () => {
    const config = await registered()
    expect(config.serverMetadata().supportsPKCE()).toBe(true)
    const { request, checks } = await begun(config)
    const tokens = await openid.authorizationCodeGrant(config, await consented(request), checks)
    expect((await runs(tokens.access_token)).status).toBe(200)
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? "")
    expect([(await runs(next.access_token)).status, (await runs(tokens.access_token)).status]).toEqual([200, 401])
    await openid.tokenRevocation(config, next.refresh_token ?? "")
    expect((await runs(next.access_token)).status).toBe(401)
    const refused = openid.refreshTokenGrant(config, next.refresh_token ?? "")
    await expect(refused).rejects.toMatchObject({ error: "invalid_grant", status: 400 })
    // An unknown token is revoked already.
    await openid.tokenRevocation(config, "nobody's")
  })

  test("refuses an answer of another server, of another request, and one that was used", async () => {
    const config = await registered()
    const { request, checks } = await begun(config)
    const came = await consented(request)
    const changed = (name: string, value: string | null) => {
      const url = new URL(came)
      if (value === null) url.searchParams.delete(name)
      else url.searchParams.set(name, value)
      return openid.authorizationCodeGrant(config, url, checks)
    }
    const because = (word: RegExp) => ({ cause: expect.objectContaining({ message: expect.stringMatching(word) }) })
    await expect(changed("iss", "https://elsewhere.example")).rejects.toMatchObject(because(/"iss"/))
    await expect(changed("iss", null)).rejects.toMatchObject(because(/"iss"/))
    await expect(changed("state", "other")).rejects.toMatchObject(because(/"state"/))
    await openid.authorizationCodeGrant(config, came, checks)
    const again = openid.authorizationCodeGrant(config, came, checks)
    await expect(again).rejects.toMatchObject({ error: "invalid_grant" })
  })

  test("reads why the service refuses: a wrong verifier, another resource, and a person who says no", async () => {
    const config = await registered()
    const { request, checks } = await begun(config)
    const wrong = { ...checks, pkceCodeVerifier: openid.randomPKCECodeVerifier() }
    const guessed = openid.authorizationCodeGrant(config, await consented(request), wrong)
    await expect(guessed).rejects.toMatchObject({ error: "invalid_grant" })
    const second = await begun(config)
    const elsewhere = openid.authorizationCodeGrant(config, await consented(second.request), second.checks, {
      resource: "https://elsewhere.example/mcp"
    })
    await expect(elsewhere).rejects.toMatchObject({ error: "invalid_target" })
    const third = await begun(config)
    const { body } = await decided(app, session, asked(third.request), { approve: false })
    const denied = openid.authorizationCodeGrant(config, new URL(body.redirect_to), third.checks)
    await expect(denied).rejects.toMatchObject({ error: "access_denied" })
  })
})

describe("oauth4webapi", () => {
  const resource = () => new URL(`${app.url}/mcp`)

  test("finds the server from the 401 of /mcp, and takes each answer as its standard has it", async () => {
    const refusal = await fetch(resource(), { method: "POST", body: "{}" })
    expect(refusal.status).toBe(401)
    const hint = /resource_metadata="([^"]+)"/.exec(refusal.headers.get("www-authenticate") ?? "")?.[1]
    const known = await processResourceDiscoveryResponse(
      resource(),
      await resourceDiscoveryRequest(resource(), plainHttp)
    )
    expect(hint).toStartWith(`${app.url}/.well-known/oauth-protected-resource`)
    const issuer = new URL(known.authorization_servers?.[0] ?? "")
    const server = await processDiscoveryResponse(
      issuer,
      await discoveryRequest(issuer, { algorithm: "oauth2", ...plainHttp })
    )
    const client: Client = await processDynamicClientRegistrationResponse(
      await dynamicClientRegistrationRequest(server, metadata, plainHttp)
    )
    const [verifier, state] = [generateRandomCodeVerifier(), generateRandomState()]
    const request = new URL(server.authorization_endpoint ?? "")
    const asks = {
      client_id: client.client_id,
      redirect_uri: callback,
      response_type: "code",
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state
    }
    for (const [name, value] of Object.entries(asks)) request.searchParams.set(name, value)
    const answer = validateAuthResponse(server, client, await consented(request), state)
    const grant = await authorizationCodeGrantRequest(server, client, None(), answer, callback, verifier, plainHttp)
    expect(grant.headers.get("cache-control")).toBe("no-store")
    const tokens = await processAuthorizationCodeResponse(server, client, grant)
    expect(tokens).toMatchObject({ token_type: "bearer", scope: "run" })
  })

  test("reads the challenge of an unknown token", async () => {
    const call = protectedResourceRequest("unknown", "POST", resource(), undefined, "{}", plainHttp)
    const refused: unknown = await call.catch((error) => error)
    expect(refused).toBeInstanceOf(WWWAuthenticateChallengeError)
    const [challenge] = (refused as WWWAuthenticateChallengeError).cause
    expect(challenge).toMatchObject({ scheme: "bearer", parameters: { error: "invalid_token" } })
  })
})
