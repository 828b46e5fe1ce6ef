/**
 * The operator's guide to the providers, docs/providers.md, as the catalog and the contract table say it.
 *
 * `bun test/layers/providers/docs.ts` writes it; contracts.test.ts fails while the committed page differs.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { providers } from "../../../src/layers/providers/index.ts"
import { capabilities } from "../../../src/schema/capabilities/index.ts"
import type { Capability } from "../../../src/schema/catalog/Capability.ts"
import type { Endpoint } from "../../../src/schema/catalog/Endpoint.ts"
import { type MicroUsd, usd, zero } from "../../../src/schema/money/Money.ts"
import { needsNoAccount, type Offer, type Provider, reportsNoCost } from "../../../src/schema/catalog/Provider.ts"
import { callsProvider, pairsOf, rateOf, verdictOf } from "./pairs.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))
export const file = `${root}docs/providers.md`

/** Hosts that are each customer's own. */
const hosts: Readonly<Record<string, string>> = {
  unipile: "the host and port (DSN) that Unipile gave you, such as `https://api1.example.com:13443`"
}

/** How an operator sets an account up, beyond its key. */
const assigning = (id: string, slug: string) =>
  `Assign it: \`rungate admin resources assign <org_id> account <${id}> --provider ${slug}\`. Runs of other organizations that name it are refused.`
const sending =
  "An organization sends only from addresses that it owns: a domain that it proved with `POST /v1/senders`, or what you assign with `rungate admin resources assign <org_id> sender <address or domain>`. The provider must know the domain as well."
const setups: Readonly<Record<string, string>> = {
  apify:
    "Use a scoped token of an account that serves nothing else: create it under Settings, API & Integrations, and limit it to running Actors and to reading their runs and default storages. Every run is started with `forcePermissionLevel=LIMITED_PERMISSIONS`. Raw runs start only the Actors that this package ships, or those of `RUNGATE_ACTORS` (`owner/name` or `owner/*`, separated by commas); an Actor that asks for full permissions is neither imported nor run. Capabilities run the Actors that their adapters name, whatever that list says.",
  unipile: `A connected account belongs to one organization. ${assigning("account_id", "unipile")}`,
  edges: `An identity belongs to one organization. ${assigning("identity_id", "edges")}`,
  resend: sending,
  postmark: `${sending} Keep the account's retention of messages at 7 days or more: the service searches them for sends whose answer was lost. Before you set the key of another Postmark server, wait until \`rungate admin unknown\` shows no next look-up.`
}

const variable = (slug: string, name: string) => `\`RUNGATE_PROVIDER_${slug.toUpperCase()}_${name}\``

const account = ({ slug, auth }: Provider): string => {
  const key = variable(slug, "API_KEY")
  const host = hosts[slug] === undefined ? "" : `, and ${variable(slug, "BASE_URL")}: ${hosts[slug]}`
  switch (auth.kind) {
    case "header":
      return `${key}: the key, sent as the header \`${auth.name}\`${host}`
    case "query":
      return `${key}: the key, sent as \`${auth.name}\` in the query${host}`
    case "bearer":
      return `${key}: the token, sent as a bearer${host}`
    case "basic":
      return `${key}: \`login:password\`${host}`
    case "headers":
      return `${key}: two secrets as \`first:second\`, sent as the headers \`${auth.names.join("` and `")}\`${host}`
    case "client_credentials":
      return `${key}: \`client_id:client_secret\`, exchanged at \`${auth.path}\` for a token that is sent as a bearer${host}`
    case "contact":
      return auth.required === true
        ? `no key, but ${key} must be an e-mail address: it is the contact that every request names. Without it the provider refuses requests, and is not live`
        : `no key, but set ${key} to an e-mail address: it is the contact that every request names`
    case "none":
      return "none"
  }
}

const dollars = (amount: MicroUsd) => `$${usd(amount)}`

const priceOf = ({ price, verified }: Offer, { billing }: Capability): string => {
  const per = billing.bills_no_match ? "a call" : "a match"
  const said = () => {
    switch (price.kind) {
      case "flat":
        return price.amount === zero ? "free" : `${dollars(price.amount)} ${per}`
      case "metered": {
        const each = `${dollars(price.per_result)} a result`
        return price.base === zero ? each : `${dollars(price.base)} ${per}, ${each}`
      }
      case "by_platform": {
        const names = Map.groupBy(Object.keys(price.amounts), (platform) => dollars(price.amounts[platform] ?? zero))
        if (names.size === 1) return `${[...names.keys()][0]} ${per}`
        return `${[...names].map(([amount, on]) => `${amount} on ${on.join(", ")}`).join("; ")} ${per}`
      }
      case "paged":
        return `${dollars(price.first)} ${per} of ${price.page_size} results, ${dollars(price.further)} for as many more`
    }
  }
  return verified ? `${said()} (verified)` : said()
}

/** What the provider takes for a call, in its own unit. */
const vendorRateOf = ({ rate }: Offer): string => {
  const of = (amount: string) => {
    if (Number(amount) === 0) return null
    return rate.unit === "USD" ? `$${amount}` : `${amount} credit${amount === "1" ? "" : "s"}`
  }
  const each = (amount: string) => {
    const priced = of(amount)
    return priced === null ? null : `${priced} a result`
  }
  switch (rate.kind) {
    case "flat":
      return of(rate.amount) ?? "free"
    case "metered":
      return [of(rate.base), each(rate.per_result)].filter((part) => part !== null).join(", ") || "free"
    case "by_platform":
      return [...new Set(Object.values(rate.amounts).map((amount) => of(amount) ?? "free"))].join(" or ")
    case "paged":
      return `${of(rate.first)} a page, ${of(rate.further)} a further one`
  }
}

const priceListOf = ({ slug }: Provider): string => {
  const { evidence, price, source, read } = rateOf(slug)
  const where = source.startsWith("https://") ? `<${source}>` : source
  return `${evidence}, ${read}: ${price} (${where})`
}

/** The endpoints that run: one on a host that the adapter does not name would get no key, and is left out of the catalog. */
const endpointsOf = ({ slug, excluded, origins }: Provider): ReadonlyArray<Endpoint> => {
  if (excluded !== null) return []
  const packed = readFileSync(new URL(`../../../src/layers/catalog/import/shipped/${slug}.json.gz`, import.meta.url))
  const [, ...lines] = new TextDecoder().decode(Bun.gunzipSync(packed)).split("\n")
  const endpoints = lines.map((line): Endpoint => JSON.parse(line))
  return endpoints.filter(({ origin }) => origin === undefined || origins.includes(origin))
}

const reports = ({ measured }: Provider) => measured !== reportsNoCost

const rawOf = (provider: Provider): string => {
  if (provider.excluded !== null) return `never: ${provider.excluded}`
  const endpoints = endpointsOf(provider)
  const count = (what: (endpoint: Endpoint) => boolean) => endpoints.filter(what).length
  const unpublished = count(({ cost }) => cost.model === "unpublished")
  const deprecated = count((endpoint) => endpoint.deprecated)
  return [
    `${endpoints.length}, ${needsNoAccount(provider.auth) ? "live without an account" : "live once the account is set"}`,
    ...(provider.free ? ["free"] : []),
    ...(unpublished === 0
      ? []
      : [`${unpublished} without a published rate: a call holds $1.00, or \`max_cost\` when that is less`]),
    ...(deprecated === 0 ? [] : [`${deprecated} deprecated`])
  ].join("; ")
}

const reportOf = (provider: Provider): string => {
  if (provider.free) return "nothing to report"
  if (reports(provider))
    return "read from its answers: a raw call is charged what it cost times the markup, at most its hold"
  return provider.excluded === null
    ? "none is read: a raw call is charged what the rate card says"
    : "none is read for raw calls, because there are none"
}

const billingOf = ({ free, credit, slug }: Provider): string => {
  if (free) return "public data, free of charge"
  return credit === null
    ? "in US dollars: no credits"
    : `credits. One is taken to cost $${credit}; if your plan pays another price, set ${variable(slug, "CREDIT_USD")}`
}

const sentences = (note: string | null) => note?.split(/(?<=\.) (?=[A-Z])/) ?? []

/** The sentence with which most notes begin is said once; null when they have nothing in common. */
const commonOf = (offers: ReadonlyArray<Offer>): string | null => {
  const firsts = Map.groupBy(offers, (offer) => sentences(offer.note)[0] ?? null)
  const [[sentence, those] = [null, []]] = [...firsts].sort(([, a], [, b]) => b.length - a.length)
  return those.length > 1 ? sentence : null
}

const capabilityOf = (offer: Offer): Capability => {
  const found = capabilities.find((one) => one.slug === offer.capability)
  if (found === undefined) throw new Error(`${offer.capability} is no capability`)
  return found
}

const cell = (text: string) => text.replaceAll("|", "\\|")
const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const rowOf = (provider: Provider, offer: Offer, common: string | null): ReadonlyArray<string> => {
  const capability = capabilityOf(offer)
  const pair = pairsOf(provider.slug).find((one) => one.capability === offer.capability)
  const [verdict, remark] = verdictOf(pair?.request ?? "-")
  const [first, ...more] = sentences(offer.note)
  const notes = first === undefined || first === common ? more : [first, ...more]
  if (remark !== null) notes.push(`${capitalized(verdict)}: ${remark}.`)
  const adapter = callsProvider(offer) ? "wired" : "own records"
  return [
    offer.capability,
    capability.status === "live" ? adapter : `${adapter}, coming soon`,
    priceOf(offer, capability),
    adapter === "own records" ? "-" : vendorRateOf(offer),
    pair?.payload ?? "-",
    verdict,
    notes.join(" ")
  ]
}

const sectionOf = (provider: Provider): string => {
  const common = commonOf(provider.offers)
  return [
    `## ${provider.title}`,
    [
      `- Slug: \`${provider.slug}\`, <${provider.homepage}>`,
      `- Account: ${account(provider)}`,
      ...(setups[provider.slug] === undefined ? [] : [`- Setup: ${setups[provider.slug]}`]),
      `- Bills: ${billingOf(provider)}`,
      `- Vendor's price: ${priceListOf(provider)}`,
      `- Cost report: ${reportOf(provider)}`,
      `- Raw endpoints: ${rawOf(provider)}`,
      ...(provider.offers.some((offer) => offer.reconcile !== undefined)
        ? ["- Lost answers: the service looks the call up by its run id, and records what it finds"]
        : []),
      ...(common === null ? [] : [`- Prices, unless a note says otherwise: ${common}`])
    ].join("\n"),
    provider.offers.length === 0
      ? "It serves no capability yet. Customers call its raw endpoints."
      : table(
          ["capability", "adapter", "price", "vendor's rate", "payload evidence", "request", "note"],
          provider.offers.map((offer) => rowOf(provider, offer, common))
        )
  ].join("\n\n")
}

const tally = (words: ReadonlyArray<string>): string =>
  [...Map.groupBy(words, (word) => word)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([word, all]) => `${all.length} ${word}`)
    .join(", ")

const anchor = (title: string) => title.toLowerCase().replaceAll(".", "").replaceAll(" ", "-")

const overview = () =>
  table(
    ["provider", "account", "offers", "raw endpoints", "cost report"],
    providers.map((provider) => [
      `[${provider.title}](#${anchor(provider.title)})`,
      provider.auth.kind === "contact" ? "none, a contact address" : variable(provider.slug, "API_KEY"),
      String(provider.offers.length),
      provider.excluded === null ? String(endpointsOf(provider).length) : "never",
      reports(provider) ? "read" : "-"
    ])
  )

const text = () => {
  const pairs = providers.flatMap((provider) => pairsOf(provider.slug))
  const raw = providers.reduce((sum, provider) => sum + endpointsOf(provider).length, 0)
  const offers = providers.flatMap((provider) => provider.offers)
  const payloads = tally(pairs.map((pair) => verdictOf(pair.payload)[0]))
  const prices = tally(providers.map(({ slug }) => rateOf(slug).evidence))
  const requests = tally(pairs.map((pair) => verdictOf(pair.request)[0]))
  return `<!-- Written by test/layers/providers/docs.ts; a test fails while it differs. To renew it: bun test/layers/providers/docs.ts -->

# Providers

${providers.length} providers, ${offers.length} offers of ${capabilities.length} capabilities, ${raw} raw endpoints.
In the sandbox all of them are simulated and no account is needed. In production an offer takes part as soon as its provider's
account is set, as \`RUNGATE_PROVIDER_<SLUG>_API_KEY\` in the environment of every process; \`GET /v1/catalog/providers\` says
which are live. \`RUNGATE_PROVIDER_<SLUG>_BASE_URL\` replaces a provider's own origin, for a proxy or a test server.

No adapter has been tried against a paid account yet. Before one serves customers, accept it with your account: \`rungate providers check <slug>\`
([operate](operate.md#providers)), and compare its cost with the provider's bill. What stands behind each adapter until then:

- **adapter**: \`wired\` calls the provider; \`own records\` is answered by the service itself, and calls nobody.
  \`coming soon\` is the capability's: production does not run it, whoever serves it.
- **payload evidence**: what the answers in its tests are
  (${pairs.length} wired offers: ${payloads}).
  \`documented\`: printed in the provider's documentation. \`captured by a third party\`: a real answer that somebody published, with its month.
  \`assembled\`: put together from the field examples of its specification. \`constructed\`: documented field names, invented values.
- **request**: whether what it asks first was held against the provider's document that the catalog ships, by the test that checks
  this page (${requests}).
  \`validated in part\`: it deviates only as the note says.
- **vendor's rate**: what the provider takes for a call, in its own unit. The line \`Vendor's price\` of its section says what that unit costs,
  where and on which day it was read, and by whom (${prices}).
  A test fails when a price is older than a year.
- **price**: what a run is charged with the settings' defaults: the provider's rate, as published or assumed (the note says which), times
  \`RUNGATE_MARKUP\` (1.2), rounded up to a microdollar. The rate of a provider with credits is that of its smallest paid plan.
  \`RUNGATE_PROVIDER_<SLUG>_CREDIT_USD\` replaces it by what your plan pays, for capabilities and raw endpoints alike.
  \`verified\` is the catalog's word for a margin over a cost that every answer reports. \`a match\`: a miss costs nothing. \`a call\`: a miss costs the same.

${overview()}

${providers.map(sectionOf).join("\n\n")}
`
}

/** As the formatter leaves it, so that formatting everything changes nothing. */
export const page = (): string => {
  const biome = [process.execPath, `${root}node_modules/.bin/biome`, "format", "--stdin-file-path=docs/providers.md"]
  const { stdout, stderr, success } = Bun.spawnSync(biome, { cwd: root, stdin: new TextEncoder().encode(text()) })
  if (!success) throw new Error(`biome: ${stderr}`)
  return stdout.toString()
}

if (import.meta.main) writeFileSync(file, page())
