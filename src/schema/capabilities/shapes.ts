/**
 * The output schemas that capabilities share: a person, a company, the status of an e-mail address.
 *
 * A value that the provider did not report is null and never absent, so an output always has the same fields.
 */
import { Schema } from "effect"

export const orNull = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.NullOr(schema).annotate({ description })

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

const blankPerson: Person = {
  full_name: null,
  first_name: null,
  last_name: null,
  headline: null,
  title: null,
  seniority: null,
  company_name: null,
  company_domain: null,
  network_url: null,
  location: null,
  email: null,
  email_status: null,
  phone: null,
  provider_ids: {}
}
/** A person with these fields. All others are null. */
export const person = (fields: Partial<Person>): Person => ({ ...blankPerson, ...fields })

const blankCompany: Company = {
  name: null,
  domain: null,
  website: null,
  network_url: null,
  industry: null,
  employee_count: null,
  employee_range: null,
  founded_year: null,
  location: null,
  description: null,
  revenue: null,
  funding: null,
  technologies: null,
  phone: null,
  provider_ids: {}
}
/** A company with these fields. All others are null. */
export const company = (fields: Partial<Company>): Company => ({ ...blankCompany, ...fields })

/** Null if all three are null. */
export const location = (city: string | null, region: string | null, country: string | null): Location | null =>
  city === null && region === null && country === null ? null : { city, region, country }
