/**
 * seo.backlinks: the links to a domain or a page, with a summary.
 *
 * Metered: a base price for the summary plus a price per link, never for more than the limit. A target without links is not charged.
 * With `summary_only`, no links are requested.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { orNull, pick } from "./shapes.ts"

/** The default limit. The quote is for as many links, and every adapter requests as many. */
export const seoBacklinksDefaultLimit = 10

export const seoBacklinks = capability({
  slug: "seo.backlinks",
  title: "List backlinks",
  category: "seo",
  description:
    "Returns the backlinks of a domain or a single page: totals with referring domains and authority, and the links themselves with anchor text and whether they are followed.",
  tags: [
    ...["backlinks", "backlink checker", "inbound links", "incoming links", "link building", "link profile"],
    ...["referring domains", "domain authority", "domain rating", "anchor text", "dofollow", "nofollow", "seo"],
    ...["who links to"],
    ...["backlink checker", "who links to a site", "links to a website", "inbound links", "link profile"]
  ],
  status: "live",
  billing: {
    model: "metered",
    bills_no_match: false,
    description:
      "Base price for the summary plus a price per link delivered, never for more links than the limit (10 by default). A target without backlinks costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    target: Field.text("A domain such as example.com, or with mode page the full address of a page", 2048),
    mode: Schema.optionalKey(
      Schema.Literals(["domain", "page"]).annotate({
        description: "domain (default): links to any page of the domain; page: links to this one page"
      })
    ),
    dofollow: Schema.optionalKey(
      Schema.Boolean.annotate({
        description: "true: list only followed links; false: only nofollow links; both by default"
      })
    ),
    limit: Schema.optionalKey(Field.limit("Maximum number of links, 10 by default", 1000)),
    summary_only: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "true: only the totals, without links; more providers can serve that" })
    )
  }),
  output: Schema.Struct({
    summary: orNull(
      Schema.Struct({
        backlinks: orNull(Schema.Int, "Total number of links"),
        referring_domains: orNull(Schema.Int, "Number of domains with links to the target"),
        rank: orNull(Schema.Finite, "The provider's authority score of the target, higher is stronger"),
        spam_score: orNull(Schema.Finite, "0 to 100, higher looks more like spam")
      }),
      "Totals of the whole target, without the filters; null if the provider does not report them"
    ),
    items: Schema.Array(
      Schema.Struct({
        url_from: orNull(Schema.String, "The page that links"),
        url_to: orNull(Schema.String, "The page linked to"),
        anchor: orNull(Schema.String, "The link's text"),
        dofollow: orNull(Schema.Boolean, "True if search engines follow the link"),
        rank: orNull(Schema.Finite, "The provider's authority score of the link, higher is stronger"),
        first_seen: orNull(Schema.String, "When the link was first found")
      })
    ),
    total: orNull(Schema.Int, "Total number of matching links, if the provider reports it"),
    next_cursor: orNull(Schema.String, "Always null: ask for a higher limit")
  }),
  example: { target: "example.com", limit: 5 },
  matched: (output) => output.items.length > 0 || (output.summary?.backlinks ?? 0) > 0,
  requested: (input) => (input.summary_only === true ? 0 : (input.limit ?? null)),
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const count = input.summary_only === true ? 0 : (input.limit ?? seoBacklinksDefaultLimit) - (partial ? 1 : 0)
    return {
      summary: {
        backlinks: count + 100,
        referring_domains: 1 + Math.trunc(count / 2),
        rank: 100 + (seed % 400),
        spam_score: seed % 30
      },
      items: Array.from({ length: count }, (_, index) => ({
        url_from: `https://blog-${index + 1}.example/post-${1 + (seed % 90)}`,
        url_to: input.target,
        anchor: pick(seed + index, ["a simulated link", "read more", "source"]),
        dofollow: input.dofollow ?? (seed + index) % 3 !== 0,
        rank: (seed + index) % 500,
        first_seen: `2025-06-${String(1 + ((seed + index) % 28)).padStart(2, "0")}`
      })),
      total: count,
      next_cursor: null
    }
  },
  missHints: (input) => [
    ...(input.mode === "page" ? ["Use mode domain: few single pages have backlinks."] : []),
    ...(input.dofollow === undefined ? [] : ["Drop dofollow to list links of both kinds."]),
    "Give the domain without www and without a path."
  ]
})
