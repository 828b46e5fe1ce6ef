/**
 * web.scrape: the content of a web page as markdown, HTML or text, or the links on it.
 *
 * Charged only for a page that was read. An error page, an empty page and a page that could not be opened are not charged.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import { orNull, recordOf } from "./shapes.ts"

/** Longer than any page needs to render, and shorter than an adapter's timeout. */
const waitMillisMax = 30_000
/** From this status on the page is an error page. */
const errorStatus = 400

const ScrapedPage = Schema.Struct({
  url: orNull(Schema.String, "The requested URL"),
  final_url: orNull(Schema.String, "The URL after redirects"),
  status_code: orNull(Schema.Int, "HTTP status of the page, if the provider reports it"),
  title: Schema.NullOr(Schema.String),
  content: orNull(Schema.String, "The page in the requested format; null for links"),
  links: orNull(Schema.Array(Schema.String), "URLs that the page links to; null if the provider does not report them"),
  metadata: Schema.Record(Schema.String, Schema.String).annotate({
    description: "Metadata of the page, such as description, language or og:image"
  })
})
/** A page with these fields. All others are null, and without metadata it has none. */
export const scrapedPage = recordOf(ScrapedPage)

export const webScrape = capability({
  slug: "web.scrape",
  title: "Scrape a web page",
  category: "web",
  description:
    "Reads one web page and returns its content as markdown, HTML, plain text or links, with title and metadata. Runs the page's scripts where the provider has a browser. To find pages first, use web.search.",
  tags: [
    ...["scrape", "scraping", "scraper", "crawl", "fetch", "extract", "read", "url", "page", "website", "content"],
    ...["markdown", "html", "text", "links", "article", "reader", "llm"]
  ],
  status: "live",
  billing: {
    model: "per_call",
    bills_no_match: false,
    description: "Charged only when the page is read. An empty page, an error page or a failed call costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    url: Schema.String.annotate({ description: "URL of the page, with http:// or https://" }).check(
      Schema.isMinLength(1),
      Schema.isMaxLength(2048),
      // Without backtracking, because the check runs on strings of any length.
      Schema.isPattern(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/?#]\S*$/u)
    ),
    format: Schema.optionalKey(
      Schema.Literals(["markdown", "html", "text", "links"]).annotate({
        description: "What to return, markdown by default; with links, the result has links and its content is null"
      })
    ),
    only_main_content: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "Leave out menus, headers and footers; true by default" })
    ),
    wait_ms: Schema.optionalKey(
      Schema.Int.annotate({ description: "Milliseconds to wait for the page's scripts before reading it" }).check(
        Schema.isBetween({ minimum: 0, maximum: waitMillisMax })
      )
    )
  }),
  output: ScrapedPage,
  example: { url: "https://example.com/pricing", format: "markdown" },
  matched: (output) =>
    (output.status_code === null || output.status_code < errorStatus) &&
    ((output.content ?? "").trim() !== "" || (output.links ?? []).length > 0),
  side_effect: false,
  simulate: ({ input }) => {
    const format = input.format ?? "markdown"
    const title = "A simulated page"
    const text = `This made-up page stands in for ${input.url}.`
    const content = {
      markdown: `# ${title}\n\n${text}`,
      html: `<h1>${title}</h1><p>This made-up page stands in for the one asked for.</p>`,
      text: `${title}\n\n${text}`,
      links: null
    }[format]
    return {
      url: input.url,
      final_url: input.url,
      status_code: 200,
      title,
      content,
      links: ["https://page.example/about", "https://page.example/contact"],
      metadata: { description: text, language: "en" }
    }
  },
  missHints: (input) => [
    ...(input.wait_ms === undefined
      ? ["Give wait_ms, for example 3000, if scripts load the content of the page."]
      : []),
    ...(input.only_main_content === false
      ? []
      : ["Set only_main_content to false: the content may be in another part of the page."]),
    "Check the address with web.search: the page may have moved."
  ]
})
