/**
 * Adapter for Prospeo: enriches and searches people and companies, and finds their e-mail addresses and mobile numbers.
 *
 * An error has a code in the body, whatever the HTTP status. A free answer is marked as free. Prices are those of the Starter plan,
 * $0.039 per credit.
 */
import { provider } from "../../../schema/catalog/Provider.ts"
import { httpErrors } from "../kit/outcome.ts"
import { entryIn, number, text } from "../kit/read.ts"
import { measured, missed, reasons } from "./answer.ts"
import { enrichCompany, findCompanies } from "./companies.ts"
import { enrichPerson, findEmail, findPeople, findPhone } from "./people.ts"
import { creditsCall } from "../kit/credits.ts"

export const prospeo = provider({
  slug: "prospeo",
  title: "Prospeo",
  homepage: "https://prospeo.io",
  base_url: "https://api.prospeo.io",
  auth: { kind: "header", name: "X-KEY" },
  credit: "0.039",
  concurrency: 5,
  timeoutMillis: 30_000,
  measured,
  httpErrors: httpErrors({
    // The offers read 400 themselves, because a miss is a 400 with its own code.
    answers: [400, 404],
    reason: (reply) => entryIn(reasons, text(reply.body, "error_code"))
  }),
  unanswered: missed,
  credits: creditsCall("/account-information", "credit", (body) => number(body, "response", "remaining_credits"), {
    path: ["response", "next_quota_renewal_date"],
    renews: true
  }),
  offers: [findEmail, enrichPerson, findPeople, enrichCompany, findPhone, findCompanies]
})
