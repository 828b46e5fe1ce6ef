/**
 * The addresses of the authorization server, and the challenge that leads a host there.
 *
 * They begin with RUNGATE_PUBLIC_URL. A service without one uses the address that it was asked at, so that a host on the same machine or
 * network finds it. Such an answer goes to who asked only, and no cache keeps it.
 */
import { HttpServerRequest } from "effect/http"
import { Effect } from "effect"
import { addressOf, type SettingsShape } from "../../layers/platform/Settings.ts"
import { oauthScopes } from "../../schema/oauth/Scope.ts"
import { mcpPath } from "../middleware/Paths.ts"

export const resourceMetadataPath = "/.well-known/oauth-protected-resource"
export const serverMetadataPath = "/.well-known/oauth-authorization-server"
export const authorizePath = "/authorize"
export const tokenPath = "/oauth/token"
export const registerPath = "/oauth/register"
export const revokePath = "/oauth/revoke"

type Addresses = Pick<SettingsShape, "publicUrl" | "host" | "port">

const hostForm = /^[A-Za-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-fA-F:]+\](:\d{1,5})?$/

export const issuerFor = (settings: Addresses, host: string | undefined): string => {
  if (settings.publicUrl !== null) return settings.publicUrl
  const address = `http://${host ?? ""}`
  return hostForm.test(host ?? "") && URL.canParse(address) ? address : addressOf(settings)
}

/** The issuer, as the request's client knows it. */
export const issuerOf = (settings: Addresses) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => issuerFor(settings, headers["host"]))

export const resourceOf = (issuer: string): string => `${issuer}${mcpPath}`

/** It looks behind, so that it begins once in a long text of a stranger. */
const bare = (address: string) => address.replace(/(?<!\/)\/+$/, "")

/** Whether a resource indicator (RFC 8707) names this service. A request without one means it. */
export const isResource = (issuer: string, resource: string | undefined): boolean =>
  resource === undefined || [bare(issuer), resourceOf(issuer)].includes(bare(resource))

/** The header of a 401 at /mcp (RFC 9728). */
export const challenge = (issuer: string, hasToken: boolean): string =>
  [
    ...(hasToken ? ['error="invalid_token"'] : []),
    `resource_metadata="${issuer}${resourceMetadataPath}${mcpPath}"`,
    `scope="${oauthScopes[0]}"`
  ].reduce((text, one, at) => `${text}${at === 0 ? " " : ", "}${one}`, "Bearer")
