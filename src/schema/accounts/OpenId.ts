/** What a sign-in by OpenID Connect decides from a person's claims: the organization to join, the role in it, and who operates the service. */
import type { Role } from "./Role.ts"

export const openIdStartPath = "/auth/openid"
export const openIdCallbackPath = "/auth/openid/callback"

/** A claim that has this value, or whose list has it. */
export interface ClaimValue {
  readonly claim: string
  readonly value: string
}

export type Claims = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string | null =>
  typeof value === "string" || typeof value === "boolean" || typeof value === "number" ? String(value) : null

export const hasClaim =
  (claims: Claims) =>
  ({ claim, value }: ClaimValue): boolean => {
    const values = Object.hasOwn(claims, claim) ? claims[claim] : undefined
    return (Array.isArray(values) ? values : [values]).some((one) => textOf(one) === value)
  }

/** The first rule that applies. Without one, a person may only read. */
export const roleOf = (claims: Claims, rules: ReadonlyArray<ClaimValue & { readonly role: Role }>): Role =>
  rules.find(hasClaim(claims))?.role ?? "viewer"

/** Browsers keep no cookie above 4,096 bytes, and it has more than the address. */
const addressBytesMax = 3_900

/**
 * A local address to return to after signing in, in ASCII, because it becomes a header. Anything else, such as `//other.example`, and what no
 * cookie can keep, is the start page.
 */
export const localAddress = (text: string | undefined): string => {
  if (text === undefined || !/^\/(?![/\\])[^\\\p{Cc}\p{Cs}]*$/u.test(text)) return "/"
  const address = text.replace(/[^\x21-\x7e]+/g, encodeURIComponent)
  return encodeURIComponent(address).length > addressBytesMax ? "/" : address
}
