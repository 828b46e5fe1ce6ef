/**
 * Adapter for Apollo: people and companies, their phone numbers, technologies, job postings and news.
 *
 * Apollo reports no cost. Prices are its published credits per operation at $0.025 each, which its fair-use terms imply.
 */
import { provider } from "../../../schema/catalog/Provider.ts"
import { enrichCompany, findCompanies, technologies } from "./companies.ts"
import { findJobs, findNews } from "./events.ts"
import { enrichPerson, findPeople } from "./people.ts"
import { findPhone, isPending } from "./phones.ts"
import { httpErrors } from "../kit/outcome.ts"
import { number } from "../kit/read.ts"
import { creditsCall } from "../kit/credits.ts"

const standard = httpErrors()

export const apollo = provider({
  slug: "apollo",
  title: "Apollo",
  homepage: "https://www.apollo.io",
  base_url: "https://api.apollo.io/api/v1",
  auth: { kind: "header", name: "x-api-key" },
  credit: "0.026",
  // 200 searches a minute on paid plans.
  concurrency: 5,
  timeoutMillis: 30_000,
  httpErrors: (reply) => (isPending(reply) ? undefined : standard(reply)),
  credits: creditsCall(
    { method: "POST", path: "/usage_stats/credit_usage_stats", reads: true },
    "credit",
    (body) => number(body, "credit_usage_stats", "lead_credit", "left_over"),
    { path: ["current_credit_cycle", "end_date"], renews: true }
  ),
  offers: [findPeople, enrichPerson, findPhone, enrichCompany, findCompanies, technologies, findJobs, findNews]
})
