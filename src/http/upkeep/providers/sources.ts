/**
 * Handler of `rungate providers sources`: where each provider's raw endpoints in this package come from, and under which licence.
 *
 * It reads the package only. Documents that an operator imported are not part of it.
 */
import { Console, Effect } from "effect"
import { shipped } from "../../../layers/catalog/Endpoints.ts"
import { print, table } from "../../operator/output.ts"

/** Data without a licence for its sentences: the package has names, types and ranges of it. */
const takesText = { facts: "names, types, ranges", texts: "texts too" }

export const listSources = (json: boolean) =>
  Effect.gen(function* () {
    const documents = yield* shipped
    const rows = documents.flatMap(({ provider, endpoints, provenance = [] }) =>
      provenance.map((one) => ({ provider, endpoint_count: endpoints.length, ...one }))
    )
    if (json) return yield* print({ items: rows })
    const lines = table(rows, {
      provider: (one) => one.provider,
      licence: (one) => one.licence,
      read: (one) => one.read,
      taken: (one) => takesText[one.takes],
      endpoints: (one) => one.endpoints?.join(", ") ?? "all",
      source: (one) => one.source
    })
    yield* Console.log([...lines, "", "The licences are in THIRD_PARTY_NOTICES."].join("\n"))
  })
