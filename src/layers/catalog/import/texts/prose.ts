/**
 * Says why a document may not ship: it does not name where it comes from, or it has sentences that no licence lets the package pass on.
 *
 * Nobody can tell by program whose sentence it is, so a description without a licence must be short. scripts/ship-catalog.ts refuses the
 * others, and a test compares the packs with the vendors' documents.
 */
import { endpointKey, type ProviderDocument } from "../../../../schema/catalog/Endpoint.ts"
import { allowsTexts, ownEndpointWordsMax, ownFieldWordsMax } from "../../../../schema/Provenance.ts"
import type { JsonObject } from "../kit/json.ts"
import { described, textsAllowed } from "./descriptions.ts"

export interface Said {
  /** `POST /path`, `POST /path field`, or `#name` of a definition. */
  readonly where: string
  readonly text: string
}

const fieldsOf = (schema: JsonObject, owner: string): ReadonlyArray<Said> => {
  const said: Array<Said> = []
  described(schema, (one, name) => {
    const text = one["description"]
    if (typeof text === "string") said.push({ where: name === null ? owner : `${owner} ${name}`, text })
    return one
  })
  return said
}

/** Descriptions of endpoints, and those of their fields, that no licence of a source covers. */
export const unlicensed = (document: ProviderDocument) => {
  const allowed = textsAllowed(document.provenance ?? [])
  const bare = document.endpoints.filter((one) => !allowed(endpointKey(one)))
  return {
    endpoints: bare.map((one): Said => ({ where: endpointKey(one), text: one.description })),
    fields: [
      ...bare.flatMap((one) =>
        [one.path_params, one.query_params, ...(one.body === null ? [] : [one.body])].flatMap((schema) =>
          fieldsOf(schema, endpointKey(one))
        )
      ),
      ...(bare.length === 0
        ? []
        : Object.entries(document.definitions).flatMap(([name, schema]) => fieldsOf(schema, `#${name}`)))
    ]
  }
}

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length

/** Why the package may not have the document. Empty: it may. */
export const refusals = (document: ProviderDocument): ReadonlyArray<string> => {
  const { provider, provenance = [] } = document
  if (provenance.length === 0) return [`${provider}: names no source, licence and date. Add provenance to its manifest`]
  const { endpoints, fields } = unlicensed(document)
  const long = (said: ReadonlyArray<Said>, max: number) =>
    said
      .filter(({ text }) => wordsIn(text) > max)
      .map(
        ({ where, text }) =>
          `${provider} ${where}: ${wordsIn(text)} words without a licence for texts; own descriptions have ${max} at most`
      )
  return [
    ...provenance
      .filter(({ takes, licence }) => takes === "texts" && !allowsTexts(licence))
      .map(({ source }) => `${provider}: takes texts of ${source}, which states no licence`),
    ...endpoints.filter(({ text }) => text === "").map(({ where }) => `${provider} ${where}: has no description`),
    ...long(endpoints, ownEndpointWordsMax),
    ...long(fields, ownFieldWordsMax)
  ]
}
