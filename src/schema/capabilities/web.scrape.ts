/**
 * web.scrape: one page's content, as markdown, HTML, text or the links on it.
 *
 * Charged for a page that was read only: an error page, an empty one or one that could not be opened is free.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import { orNull } from "./shapes.ts"

/** Longer than any page needs to draw itself, shorter than an adapter's deadline. */
const waitMillisMax = 30_000
/** From here on a status is an error's, and its page is not the one that was asked for. */
const errorStatus = 400

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
    url: Schema.String.annotate({ description: "Address of the page, with http:// or https://" }).check(
      Schema.isMinLength(1),
      Schema.isMaxLength(2048),
      // One way to match each character: the check runs on strings of any length.
      Schema.isPattern(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/?#]\S*$/u)
    ),
    format: Schema.optionalKey(
      Schema.Literals(["markdown", "html", "text", "links"]).annotate({
        description: "What to return of the page, markdown when left out; links fills links and leaves content null"
      })
    ),
    only_main_content: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "Leave out menus, headers and footers; true when left out" })
    ),
    wait_ms: Schema.optionalKey(
      Schema.Int.annotate({ description: "Milliseconds to let the page's scripts run before reading it" }).check(
        Schema.isBetween({ minimum: 0, maximum: waitMillisMax })
      )
    )
  }),
  output: Schema.Struct({
    url: orNull(Schema.String, "The address asked for"),
    final_url: orNull(Schema.String, "The address after redirects"),
    status_code: orNull(Schema.Int, "HTTP status of the page, when the provider tells"),
    title: Schema.NullOr(Schema.String),
    content: orNull(Schema.String, "The page in the format asked for; null for links"),
    links: orNull(Schema.Array(Schema.String), "Addresses the page links to; null when the provider does not tell"),
    metadata: Schema.Record(Schema.String, Schema.String).annotate({
      description: "What the page says of itself, such as description, language or og:image"
    })
  }),
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
    ...(input.wait_ms === undefined ? ["Give wait_ms, for example 3000, when the page fills itself by script."] : []),
    ...(input.only_main_content === false ? [] : ["Set only_main_content to false: the content may stand elsewhere."]),
    "Check the address with web.search: the page may have moved."
  ]
})
