/** Settings of sign-in by OpenID Connect: the provider, who joins which organization with which role, and who operates the service. */
import { Redacted } from "effect"
import { type ClaimValue, openIdCallbackPath } from "../../../schema/accounts/OpenId.ts"
import { type Role, roles } from "../../../schema/accounts/Role.ts"
import type { SettingsReader } from "./SettingsReader.ts"

export interface OpenIdSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  /** Organizations by the domain whose people join them. */
  readonly domains: ReadonlyMap<string, string>
  readonly roles: ReadonlyArray<ClaimValue & { readonly role: Role }>
  readonly operators: ReadonlyArray<ClaimValue>
  /** One of these claims says that an operator has signed in with a second factor. Empty: the provider decides. */
  readonly operatorFactors: ReadonlyArray<ClaimValue>
}

const rulesOf = (read: SettingsReader) => {
  const domains = read
    .list(
      "RUNGATE_OIDC_DOMAINS",
      "domains whose new people join an organization: `acme.com=org_…`, separated by commas"
    )
    .map((text) => /^([a-z0-9-]+(?:\.[a-z0-9-]+)+)=(org_[0-9a-z]{26})$/i.exec(text))
  const rules = read
    .list(
      "RUNGATE_OIDC_ROLES",
      "their role by a claim: `groups:platform=admin`; the first one that applies; else `viewer`"
    )
    .map((text) => /^([^:=\s]+):([^=]+)=(\w+)$/.exec(text))
    .map((match) => ({ claim: match?.[1], value: match?.[2], role: roles.find((role) => role === match?.[3]) }))
  const claims = (name: string, example: string, help: string): ReadonlyArray<ClaimValue> => {
    const matches = read.list(name, `${help}: \`${example}\``).map((text) => /^([^:=\s]+):(.+)$/.exec(text))
    if (matches.includes(null)) read.problems.push(`${name} must be claims such as ${example}`)
    return matches.map((match) => ({ claim: match?.[1] ?? "", value: match?.[2] ?? "" }))
  }
  const operators = claims(
    "RUNGATE_OIDC_OPERATORS",
    "groups:operators",
    "claims of people who may open the operator console"
  )
  const operatorFactors = claims(
    "RUNGATE_OIDC_OPERATOR_FACTORS",
    "amr:mfa",
    "claims, of which an operator's sign-in needs one too; a value of `acr` is asked for"
  )
  if (domains.includes(null))
    read.problems.push("RUNGATE_OIDC_DOMAINS must be domains with an organization's id, such as acme.com=org_…")
  if (rules.some(({ role }) => role === undefined))
    read.problems.push(
      `RUNGATE_OIDC_ROLES must be rules such as groups:platform=admin, with the roles ${roles.join(", ")}`
    )
  return {
    domains: new Map(domains.map((match) => [match?.[1]?.toLowerCase() ?? "", match?.[2] ?? ""] as const)),
    roles: rules.flatMap(({ claim = "", value = "", role }) => (role === undefined ? [] : [{ claim, value, role }])),
    operators,
    operatorFactors
  }
}

/** Null without an issuer: people sign in with passwords and passkeys. */
export const openIdOf = (read: SettingsReader): OpenIdSettings | null => {
  const issuer = read.url(
    "RUNGATE_OIDC_ISSUER",
    ["https", "http"],
    `issuer of [sign-in by OpenID Connect](#sign-in-by-openid-connect); its redirect address here is \`${openIdCallbackPath}\``
  )
  const clientId = read.text("RUNGATE_OIDC_CLIENT_ID", null, "this service's client id there")
  const secret = read.text("RUNGATE_OIDC_CLIENT_SECRET", null, "its client secret", { secret: true })
  const rules = rulesOf(read)
  if (issuer === null) return null
  const { protocol, hostname } = new URL(issuer)
  if (protocol === "http:" && !["localhost", "127.0.0.1"].includes(hostname))
    read.problems.push("RUNGATE_OIDC_ISSUER must begin with https://; http:// is for an issuer on this machine only")
  if (clientId === null || secret === null)
    read.problems.push("RUNGATE_OIDC_ISSUER needs RUNGATE_OIDC_CLIENT_ID and RUNGATE_OIDC_CLIENT_SECRET")
  return { issuer, clientId: clientId ?? "", clientSecret: Redacted.make(secret ?? ""), ...rules }
}
