/**
 * What capabilities share beside the fields of their inputs: output schemas of a person, a company and the status of an e-mail address,
 * the names and domains of an input, and obviously fake ones for the sandbox.
 *
 * A value that the provider did not report is null and never absent, so an output always has the same fields. Generated values are a pure
 * function of their arguments. Their domains end in .example, which nobody can register.
 */
import { Schema } from "effect"

export const orNull = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.NullOr(schema).annotate({ description })

/** The `next_cursor` of a list with further pages, and of a search that has one page. */
export const nextPage = "Pass as cursor for the next page; null at the end"
export const onePage = "Always null: a search has one page, ask for a higher limit"

/** An output that lists items of these fields. `total` and `next` describe its other two fields. */
export const listOf = <F extends Schema.Struct.Fields>(total: string, next: string, fields: F) =>
  Schema.Struct({
    items: Schema.Array(Schema.Struct(fields)),
    total: orNull(Schema.Int, total),
    next_cursor: orNull(Schema.String, next)
  })

/** A record of which the fields may be left out that may be null, and records by name. */
type Reported<T> = Partial<T> & {
  readonly [K in keyof T as null extends T[K] ? never : string extends keyof T[K] ? never : K]: T[K]
}

/** Makes records of a shape from the fields that a provider reported. All others are null, or records without entries. */
export const recordOf = <T extends object>(
  shape: Schema.Schema<T> & { readonly fields: Readonly<Record<string, Schema.Top>> }
) => {
  const blank = Object.fromEntries(
    Object.entries(shape.fields).map(([name, field]) => [name, Schema.is(field)(null) ? null : {}])
  )
  return (fields: Reported<T>): T => {
    const whole: object = { ...blank, ...fields }
    return whole as T // justified: `blank` has every field that may be left out
  }
}

export const EmailStatus = Schema.Literals(["valid", "invalid", "catch_all", "risky", "unknown"])
export type EmailStatus = typeof EmailStatus.Type

export const Location = Schema.Struct({
  city: Schema.NullOr(Schema.String),
  region: Schema.NullOr(Schema.String),
  country: Schema.NullOr(Schema.String)
})
export type Location = typeof Location.Type

export const personFields = {
  full_name: Schema.NullOr(Schema.String),
  first_name: Schema.NullOr(Schema.String),
  last_name: Schema.NullOr(Schema.String),
  headline: orNull(Schema.String, "The line under the person's name in the profile"),
  title: orNull(Schema.String, "Current job title"),
  seniority: orNull(Schema.String, "Seniority in the provider's own words"),
  company_name: orNull(Schema.String, "Current employer"),
  company_domain: orNull(Schema.String, "Current employer's domain"),
  network_url: orNull(Schema.String, "Professional network profile"),
  location: Schema.NullOr(Location),
  email: orNull(Schema.String, "Work e-mail address"),
  email_status: Schema.NullOr(EmailStatus),
  phone: Schema.NullOr(Schema.String),
  provider_ids: Schema.Record(Schema.String, Schema.String).annotate({
    description: "The person's id at the provider that answered, keyed by provider"
  })
}
export const Person = Schema.Struct(personFields)
export type Person = typeof Person.Type

export const Company = Schema.Struct({
  name: Schema.NullOr(Schema.String),
  domain: Schema.NullOr(Schema.String),
  website: Schema.NullOr(Schema.String),
  network_url: orNull(Schema.String, "Professional network page"),
  industry: Schema.NullOr(Schema.String),
  employee_count: Schema.NullOr(Schema.Int),
  employee_range: orNull(Schema.String, "Size band such as 51-200"),
  founded_year: Schema.NullOr(Schema.Int),
  location: orNull(Location, "Headquarters"),
  description: Schema.NullOr(Schema.String),
  revenue: orNull(Schema.String, "Annual revenue in US dollars, a number or a range such as 1000000-5000000"),
  funding: orNull(Schema.String, "Total funding raised in US dollars"),
  technologies: orNull(Schema.Array(Schema.String), "Technologies in use; null if the provider does not report them"),
  phone: Schema.NullOr(Schema.String),
  provider_ids: Schema.Record(Schema.String, Schema.String).annotate({
    description: "The company's id at the provider that answered, keyed by provider"
  })
})
export type Company = typeof Company.Type

/** A person with these fields. All others are null. */
export const person = recordOf(Person)

/** A company with these fields. All others are null. */
export const company = recordOf(Company)

/** Null if all three are null. */
export const location = (city: string | null, region: string | null, country: string | null): Location | null =>
  city === null && region === null && country === null ? null : { city, region, country }

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
