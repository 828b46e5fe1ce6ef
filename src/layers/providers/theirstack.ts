/**
 * TheirStack: job postings, companies and the technologies that they use.
 *
 * Its raw endpoints only: no capability is wired yet. A row that is returned costs credits, and answers do not report how many.
 */
import { provider } from "../../schema/catalog/Provider.ts"
import { httpErrors } from "./kit/httpErrors.ts"

export const theirstack = provider({
  slug: "theirstack",
  title: "TheirStack",
  homepage: "https://theirstack.com",
  base_url: "https://api.theirstack.com",
  auth: { kind: "bearer" },
  // The smallest plan: $59 for 1,500 credits a month.
  credit: "0.0394",
  concurrency: 4,
  timeoutMillis: 60_000,
  httpErrors: httpErrors(),
  offers: []
})
