/**
 * Adapter for Crustdata: people, companies and job listings, and contact data for a network profile.
 *
 * A header reports the credits of each answer. Crustdata publishes credits per operation but no price of a credit, which is assumed
 * at $0.10, high on purpose. Contact data needs a plan that includes it. Other plans are answered with 403.
 */
import { provider } from "../../../schema/catalog/Provider.ts"
import { isMiss, missed, used } from "./answer.ts"
import { findCompanies, findJobs } from "./companies.ts"
import { enrichPerson, findEmail, findPeople, findPhone } from "./people.ts"
import { httpErrors } from "../kit/outcome.ts"

const standard = httpErrors()

export const crustdata = provider({
  slug: "crustdata",
  title: "Crustdata",
  homepage: "https://crustdata.com",
  base_url: "https://api.crustdata.com",
  auth: { kind: "bearer" },
  // Crustdata answers 400 to requests without a version.
  headers: { "x-api-version": "2025-11-01" },
  credit: "0.10",
  // Contact data is limited to 15 requests per minute.
  concurrency: 3,
  timeoutMillis: 30_000,
  measured: used,
  httpErrors: (reply) => (isMiss(reply) ? undefined : standard(reply)),
  unanswered: missed,
  offers: [findPeople, enrichPerson, findEmail, findPhone, findCompanies, findJobs]
})
