/**
 * Reads names and domains from an input, and generates obviously fake ones for the sandbox.
 *
 * Generated values are a pure function of their arguments. Their domains end in .example, which nobody can register.
 */

export interface NamedInput {
  readonly full_name?: string
  readonly first_name?: string
  readonly last_name?: string
}

/** A given name and a family name. */
export interface NameParts {
  readonly first_name: string
  readonly last_name: string
}

/** Splits a full name for providers with two fields: the first word, and the rest. Null for a single word. */
export const nameParts = (input: NamedInput): NameParts | null => {
  if (input.first_name !== undefined && input.last_name !== undefined) {
    return { first_name: input.first_name, last_name: input.last_name }
  }
  const [first = "", ...rest] = (input.full_name ?? "").trim().split(/\s+/)
  const last = rest.join(" ")
  return first === "" || last === "" ? null : { first_name: first, last_name: last }
}

export const fullName = (input: NamedInput): string =>
  input.full_name ?? [input.first_name, input.last_name].filter((part) => part !== undefined).join(" ")

/** Words of lower-case ASCII letters and digits, joined by `joiner`. Valid in an e-mail address or a host. */
export const slug = (text: string, joiner: "." | "-"): string =>
  text
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "")
    .join(joiner)

/** The last path segment of a profile URL: "jane-doe" for ".../in/jane-doe/?x". */
export const profileSlug = (url: string): string => {
  const path = url.split(/[?#]/)[0] ?? ""
  return path.split("/").findLast((segment) => segment !== "") ?? ""
}

/** "Jane Doe" for "jane.doe" or "jane-doe". */
export const titleCase = (text: string): string =>
  text
    .split(/[^\p{Letter}\p{Number}]+/u)
    .filter((word) => word !== "")
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(" ")

export const localPart = (address: string): string => address.slice(0, address.lastIndexOf("@"))
export const domainPart = (address: string): string => address.slice(address.lastIndexOf("@") + 1).toLowerCase()

/** The company's domain if it was given, otherwise a domain under `.example` made from its name. */
export const sandboxDomain = (input: { readonly company_domain?: string; readonly company_name?: string }): string =>
  input.company_domain?.toLowerCase() ?? `${slug(input.company_name ?? "", "-") || "company"}.example`

/** Picks one of the choices: the same one for the same seed. */
export const pick = <const T>(seed: number, choices: readonly [T, ...ReadonlyArray<T>]): T =>
  choices[Math.abs(Math.trunc(seed)) % choices.length] ?? choices[0]
