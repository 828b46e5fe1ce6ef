/**
 * Imports the marketplace actors that the package ships, from a listing and from the input schemas in the authors' repositories.
 *
 * Prices come from the actors' titles and descriptions. The authors' texts stay only where their licence allows it.
 */
import { Effect, Schema } from "effect"
import type { Endpoint, EndpointCost, Imported, Warning } from "../../../../schema/catalog/Endpoint.ts"
import { actorSchema } from "./actorInput.ts"
import { costInTitle } from "./actorPrices.ts"
import { ImportFailed, type SourceText } from "../kit/Import.ts"
import { actorDescriptions, actorProvenance } from "./actorTexts.ts"
import { actorEndpoint, marketplaceDocument } from "./marketplace.ts"
import { costOf, unpublished } from "../cost/rates.ts"
import { textsAllowed, withOwnTexts, withoutTexts } from "../texts/descriptions.ts"

const Listing = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({
      actor: Schema.String.check(Schema.isPattern(/^[\w.-]+\/[\w.-]+$/u)),
      file: Schema.NonEmptyString,
      title: Schema.NonEmptyString,
      description: Schema.NullOr(Schema.String)
    })
  )
)

/** Prices from the authors' descriptions. An estimate is the price of an ordinary run. */
const published: Readonly<Record<string, EndpointCost>> = {
  "harvestapi/linkedin-profile-search": costOf(
    {
      usd: "0.2",
      model: "per_event",
      note: "$0.10 per page of 25 and $0.004 per full profile ($0.01 with e-mail search). The estimate is one page of full profiles."
    },
    undefined
  ),
  "harvestapi/linkedin-job-search": costOf(
    { usd: "0.001", model: "per_event", results: 100, note: "$1 per 1,000 jobs." },
    undefined
  ),
  "harvestapi/linkedin-company": costOf(
    { usd: "0.004", model: "per_event", results: 25, note: "$4 per 1,000 companies." },
    undefined
  )
}

/** Prices that are the same for all actors of an author, used if the title has none. Of a range it is the upper end. */
const byAuthor: Readonly<Record<string, EndpointCost>> = {
  thescrappa: costOf(
    { usd: "0.0003", model: "per_result", results: 100, note: "$0.20 to $0.30 per 1,000 results." },
    undefined
  ),
  apify: unpublished("The actor itself is free; what it uses of the marketplace is charged as reported.")
}

/** The titles in Apify's own repositories are those of the input forms. */
const titleOf = (actor: string, title: string) => (actor.startsWith("apify/") ? title.replace(/ Input$/, "") : title)

const parsed = (source: SourceText): Effect.Effect<unknown, ImportFailed> =>
  Effect.try({
    try: () => JSON.parse(source.text),
    catch: () => new ImportFailed({ message: `${source.name} is not JSON` })
  })

export const importActors = (
  listing: SourceText,
  schemas: ReadonlyArray<SourceText>
): Effect.Effect<Imported, ImportFailed> =>
  Effect.gen(function* () {
    const actors = yield* Schema.decodeUnknownEffect(Listing)(listing.text).pipe(
      Effect.mapError((error) => new ImportFailed({ message: `${listing.name}: ${error.message}` }))
    )
    const warnings: Array<Warning> = []
    const endpoints: Array<Endpoint> = []
    for (const { actor, file, title, description } of actors) {
      const source = schemas.find((one) => one.name === file)
      if (source === undefined) {
        warnings.push({ where: actor, message: `left out: there is no source called ${file}` })
        continue
      }
      const read = actorSchema(yield* parsed(source), actor)
      warnings.push(...read.warnings)
      const [author = ""] = actor.split("/")
      endpoints.push(
        actorEndpoint({
          path: actor,
          title: titleOf(actor, title),
          description: description ?? "",
          tags: ["actor"],
          body: read.body,
          input: read.example,
          cost: published[actor] ?? costInTitle(title) ?? byAuthor[author] ?? unpublished(null),
          cap_min: null,
          reported: null,
          deprecated: false
        })
      )
    }
    const kept = withoutTexts(endpoints, {}, textsAllowed(actorProvenance)).endpoints
    const own = Object.fromEntries(Object.entries(actorDescriptions).map(([actor, text]) => [`POST ${actor}`, text]))
    const { endpoints: shown } = withOwnTexts(kept, {}, { describe: own })
    const document = marketplaceDocument(shown, [listing.name, ...schemas.map((one) => one.name)])
    return {
      document: { ...document, provenance: actorProvenance },
      warnings,
      undescribed: []
    }
  })
