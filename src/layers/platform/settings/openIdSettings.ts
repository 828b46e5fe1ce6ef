/** Settings of sign-in by OpenID Connect: the provider, who joins which organization with which role, and who operates the service. */
import { Redacted } from "effect"
import { openIdCallbackPath } from "../../../schema/accounts/OpenId.ts"
import { roles } from "../../../schema/accounts/Role.ts"
import type { SettingsReader } from "./SettingsReader.ts"

const domainIn = (text: string) => {
  const [, domain, org_id] = /^([a-z0-9-]+(?:\.[a-z0-9-]+)+)=(org_[0-9a-z]{26})$/i.exec(text) ?? []
  return domain === undefined || org_id === undefined ? null : ([domain.toLowerCase(), org_id] as const)
}
const claimIn = (text: string) => {
  const [, claim, value] = /^([^:=\s]+):(.+)$/.exec(text) ?? []
  return claim === undefined || value === undefined ? null : { claim, value }
}
const roleIn = (text: string) => {
  const [, rule = "", name] = /^([^=]+)=(\w+)$/.exec(text) ?? []
  const [claim, role] = [claimIn(rule), roles.find((role) => role === name)]
  return claim === null || role === undefined ? null : { ...claim, role }
}

/** Null without an issuer: people sign in with passwords and passkeys. */
export const openIdOf = (read: SettingsReader) => {
  const issuer = read.url(
    "RUNGATE_OIDC_ISSUER",
    ["https", "http"],
    `issuer of [sign-in by OpenID Connect](#sign-in-by-openid-connect); its redirect address here is \`${openIdCallbackPath}\``
  )
  const clientId = read.text("RUNGATE_OIDC_CLIENT_ID", null, "this service's client id there")
  const clientSecret = read.text("RUNGATE_OIDC_CLIENT_SECRET", null, "its client secret", { secret: true })
  const list = <A>(name: string, entryOf: (text: string) => A | null, entries: string, help: string) => {
    const all = read.list(name, help).map(entryOf)
    if (all.includes(null)) read.problems.push(`${name} must be ${entries}`)
    return all.filter((entry) => entry !== null)
  }
  const rules = {
    /** Organizations by the domain whose people join them. */
    domains: new Map(
      list(
        "RUNGATE_OIDC_DOMAINS",
        domainIn,
        "domains with an organization's id, such as acme.com=org_…",
        "domains whose new people join an organization: `acme.com=org_…`, separated by commas"
      )
    ),
    roles: list(
      "RUNGATE_OIDC_ROLES",
      roleIn,
      `rules such as groups:platform=admin, with the roles ${roles.join(", ")}`,
      "their role by a claim: `groups:platform=admin`; the first one that applies; else `viewer`"
    ),
    operators: list(
      "RUNGATE_OIDC_OPERATORS",
      claimIn,
      "claims such as groups:operators",
      "claims of people who may open the operator console: `groups:operators`"
    ),
    /** One of these claims says that an operator has signed in with a second factor. Empty: the provider decides. */
    operatorFactors: list(
      "RUNGATE_OIDC_OPERATOR_FACTORS",
      claimIn,
      "claims such as amr:mfa",
      "claims, of which an operator's sign-in needs one too; a value of `acr` is asked for: `amr:mfa`"
    )
  }
  if (issuer === null) return null
  const { protocol, hostname } = new URL(issuer)
  if (protocol === "http:" && !["localhost", "127.0.0.1"].includes(hostname))
    read.problems.push("RUNGATE_OIDC_ISSUER must begin with https://; http:// is for an issuer on this machine only")
  if (clientId === null || clientSecret === null)
    read.problems.push("RUNGATE_OIDC_ISSUER needs RUNGATE_OIDC_CLIENT_ID and RUNGATE_OIDC_CLIENT_SECRET")
  return { issuer, clientId: clientId ?? "", clientSecret: Redacted.make(clientSecret ?? ""), ...rules }
}
export type OpenIdSettings = NonNullable<ReturnType<typeof openIdOf>>
