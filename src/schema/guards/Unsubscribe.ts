/**
 * The link with which the recipient of a message opts out with one click (RFC 8058). Pure.
 *
 * Its token has the organization, the run and the digest of the address, and is signed, so that nobody can opt out somebody else, and nobody
 * reads an address in it. A message to several recipients has no link: it would not say who of them has clicked.
 */
import { cellQuery } from "../accounts/TokenText.ts"
import { recipientsOf } from "./ContactGuard.ts"
import { optOutDigest } from "./OptOut.ts"

export const unsubscribePath = "/unsubscribe"

export interface Unsubscribe {
  readonly org_id: string
  readonly run_id: string
  /** Hexadecimal SHA-256 of the address. */
  readonly digest: string
}

/** Of 128 bits. */
const macChars = 22
const macOf = (secret: string, signed: string): string =>
  new Bun.CryptoHasher("sha256", `${secret} unsubscribe`).update(signed).digest("base64url").slice(0, macChars)

export const unsubscribeToken = (secret: string, { org_id, run_id, digest }: Unsubscribe): string => {
  const signed = `${org_id}.${run_id}/${Buffer.from(digest, "hex").toString("base64url")}`
  return `${signed}.${macOf(secret, signed)}`
}

/** Two parts of a path: the router takes at most 100 characters in one. */
const form = /^((org_[0-9a-z]{26})\.(run_[0-9a-z]{26})\/([\w-]{43}))\.([\w-]{22})$/

/** The organization that a token names, whether it is signed or not. */
export const organizationIn = (token: string): string => form.exec(token)?.[2] ?? ""

/** Null for a token that this service has not signed. */
export const readUnsubscribe = (secret: string, token: string): Unsubscribe | null => {
  const [, signed = "", org_id = "", run_id = "", digest = "", mac = ""] = form.exec(token) ?? []
  // Their own MACs are compared: how long that takes says nothing of the right one.
  if (signed === "" || macOf(secret, mac) !== macOf(secret, macOf(secret, signed))) return null
  return { org_id, run_id, digest: Buffer.from(digest, "base64url").toString("hex") }
}

/** The member of a call that has the link. */
export const unsubscribeIn = (
  secret: string,
  service: { readonly address: string; readonly cell: string | null },
  run: Omit<Unsubscribe, "digest">,
  input: unknown
): { readonly unsubscribe?: string } => {
  const [one, ...others] = recipientsOf("email.send", input)
  const identity = one?.identities[0]
  if (identity === undefined || others.length > 0) return {}
  const token = unsubscribeToken(secret, { ...run, digest: optOutDigest(identity.slice(2)) })
  return { unsubscribe: `${service.address}${unsubscribePath}/${token}${cellQuery(service.cell, run.org_id)}` }
}

/** The headers of a message: the caller's, and the link. A `List-Unsubscribe` of the caller's own stays alone. */
export const withUnsubscribe = (
  headers: Readonly<Record<string, string>> | undefined,
  unsubscribe: string | undefined
) => {
  const isOwn = Object.keys(headers ?? {}).some((name) => /^list-unsubscribe(-post)?$/i.test(name))
  if (unsubscribe === undefined || isOwn) return headers
  const post = { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }
  return { ...headers, "List-Unsubscribe": `<${unsubscribe}>`, ...post }
}
