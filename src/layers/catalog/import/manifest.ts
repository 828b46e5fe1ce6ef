/**
 * Reads a provider's manifest: endpoints written in it, OpenAPI documents and tables that it names, and published rates.
 *
 * An endpoint written in the manifest replaces one of a document with the same method and path. Mistakes in the manifest fail
 * the import and are all reported at once. Mistakes in a document are warnings.
 */
import { Effect } from "effect"
import {
  type Endpoint,
  endpointKey,
  type Imported,
  type ProviderDocument,
  type Warning
} from "../../../schema/catalog/Endpoint.ts"
import { undescribedFields } from "./cost/costFields.ts"
import { isRecord, objectOf, type Report } from "./kit/fields.ts"
import { placeholdersOf } from "../../../schema/runs/RawPlan.ts"
import type { ImportFailed, SourceText } from "./kit/Import.ts"
import { type Amendment, failedWith, type InlineEndpoint, type Manifest, readManifest } from "./manifestFormat.ts"
import { importOpenApi } from "./openapi/index.ts"
import { anyOf, patternFor } from "./kit/patterns.ts"
import { applyRates, checkRate, type Rate, unpublished } from "./cost/rates.ts"
import { importTables, type Table } from "./tables.ts"
import { needing, requiring } from "./kit/needing.ts"
import { endpointIssues } from "./kit/validity.ts"
import {
  applyLicensed,
  applyLicensedTo,
  licensedTexts,
  textsAllowed,
  withOwnTexts,
  withoutTexts
} from "./texts/descriptions.ts"

const emptyObject = { type: "object", properties: {}, additionalProperties: false }

const bodyOf = (entry: InlineEndpoint, at: string, report: Report): Endpoint["body"] => {
  if (entry.body !== undefined && entry.body_schema !== undefined)
    report(`${at}.body_schema`, "can't be combined with body; remove one of them")
  if (entry.body_schema !== undefined) return needing(entry.body_schema, entry.needs)
  return entry.body === undefined
    ? null
    : needing(objectOf(entry.body, `${at}.body`, report, entry.closed), entry.needs)
}

const checkNeeds = (entry: InlineEndpoint, at: string, report: Report) => {
  const fields = Object.keys(entry.body ?? (entry.body_schema === undefined ? entry.query : undefined) ?? {})
  if (entry.body_schema !== undefined) return
  for (const name of entry.needs?.flat() ?? [])
    if (!fields.includes(name)) report(`${at}.needs`, `${name} is not a field of the body or query`)
}

const endpointOf = (manifest: Manifest, entry: InlineEndpoint, at: string, report: Report): Endpoint => {
  const placeholders = placeholdersOf(entry.path)
  const pathFields = entry.path_params ?? {}
  for (const name of Object.keys(pathFields))
    if (!placeholders.includes(name)) report(`${at}.path_params.${name}`, "is not a placeholder of the path")
  if (!entry.path.startsWith("/")) report(`${at}.path`, "must start with /")
  if (entry.rate !== undefined) checkRate(entry.rate, `${at}.rate`, report)
  if (entry.method === "GET" && (entry.body ?? entry.body_schema) !== undefined)
    report(`${at}.body`, "a GET can't have a body; use query")
  checkNeeds(entry, at, report)
  const body = bodyOf(entry, at, report)
  const query = objectOf(entry.query ?? {}, `${at}.query`, report, true)
  const inPath = objectOf(
    Object.fromEntries(placeholders.map((name) => [name, pathFields[name] ?? "string"])),
    `${at}.path_params`,
    report,
    true
  )
  return {
    method: entry.method,
    path: entry.path,
    title: entry.title,
    description: entry.description.trim(),
    tags: [...new Set([...(entry.tags ?? []), ...(manifest.tags ?? [])])],
    body_type: entry.body_type ?? manifest.body_type ?? "json",
    path_params: placeholders.length === 0 ? emptyObject : { ...inPath, required: [...placeholders] },
    query_params: body === null ? needing(query, entry.needs) : query,
    body,
    encoding: entry.encoding ?? "json",
    example: entry.example ?? {},
    cost: unpublished(null),
    cap_min: null,
    reported: null,
    deprecated: entry.deprecated ?? false
  }
}

const amended = (endpoint: Endpoint, { tags = [], ...better }: Amendment): Endpoint => ({
  ...endpoint,
  ...better,
  tags: [...new Set([...endpoint.tags, ...tags])]
})

const byPathAndMethod = (a: Endpoint, b: Endpoint) =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : a.method < b.method ? -1 : a.method > b.method ? 1 : 0

const noDocument: Imported = {
  document: {
    provider: "",
    title: "",
    homepage: null,
    base_url: null,
    auth: null,
    source: [],
    definitions: {},
    endpoints: []
  },
  warnings: [],
  undescribed: []
}

const checkRates = (manifest: Manifest, inline: Readonly<Record<string, Rate>>, report: Report) => {
  for (const [key, rate] of Object.entries(manifest.rates?.endpoints ?? {})) {
    checkRate(rate, `rates.endpoints.${key}`, report)
    if (Object.hasOwn(inline, key))
      report(`rates.endpoints.${key}`, "the endpoint already has a rate in endpoints; remove one of them")
  }
  if (manifest.rates?.default !== undefined) checkRate(manifest.rates.default, "rates.default", report)
}

const unmatched = (places: ReadonlyArray<string>, message: string): ReadonlyArray<Warning> =>
  places.map((where) => ({ where, message }))

export const importManifest = (
  source: SourceText,
  sources: ReadonlyArray<SourceText>
): Effect.Effect<Imported, ImportFailed> =>
  Effect.gen(function* () {
    const manifest = yield* readManifest(source)
    const mistakes: Array<string> = []
    const report: Report = (path, message) => mistakes.push(`${path}: ${message}`)

    const named = (key: "openapi" | "tables") =>
      (manifest[key] ?? []).flatMap((name, index) => {
        const source = sources.find((one) => one.name === name)
        if (source === undefined)
          report(`${key}.${index}`, `there is no source called ${name}; check the name and --sources`)
        return source === undefined ? [] : [source]
      })
    const documents = named("openapi")
    const tables = named("tables")

    const inline = new Map<string, Endpoint>()
    const rates: Record<string, Rate> = {}
    for (const [index, entry] of (manifest.endpoints ?? []).entries()) {
      const at = `endpoints.${index}`
      const endpoint = endpointOf(manifest, entry, at, report)
      const key = endpointKey(endpoint)
      if (inline.has(key)) report(at, `${key} is listed twice`)
      inline.set(key, endpoint)
      if (entry.rate !== undefined) rates[key] = entry.rate
    }
    checkRates(manifest, rates, report)
    if (mistakes.length > 0) return yield* failedWith(source.name, mistakes)

    const imported =
      documents.length === 0
        ? noDocument
        : yield* importOpenApi(documents, {
            provider: manifest.provider,
            title: manifest.title,
            homepage: manifest.homepage ?? null,
            base_url: manifest.base_url ?? null,
            auth: manifest.auth ?? null,
            body_type: manifest.body_type ?? "json",
            include: manifest.include ?? [],
            exclude: manifest.exclude ?? [],
            tags: manifest.tags ?? []
          })
    const read = yield* Effect.forEach(tables, importTables)

    const kept = yield* keptTexts(manifest, sources, imported.document, siftedRows(manifest, read))
    const definitions = { ...kept.definitions }
    for (const [name, definition] of Object.entries(manifest.definitions ?? {})) {
      if (Object.hasOwn(definitions, name))
        report(`definitions.${name}`, "a document already has a schema with this name; choose another name")
      definitions[name] = definition
    }
    const all = new Map(kept.endpoints.map((endpoint) => [endpointKey(endpoint), endpoint]))
    for (const [key, endpoint] of inline) all.set(key, endpoint)
    const amendments = Object.entries(manifest.amend ?? {})
    for (const [key, amendment] of amendments) {
      const endpoint = all.get(key)
      if (endpoint !== undefined) all.set(key, amended(endpoint, amendment))
    }
    // Only endpoints that the manifest itself describes can be its mistakes.
    const written = new Set([...inline.keys(), ...amendments.map(([key]) => key)])
    for (const [key, endpoint] of all) if (written.has(key)) mistakes.push(...endpointIssues(endpoint, definitions))
    if (mistakes.length > 0) return yield* failedWith(source.name, mistakes)

    const own = withOwnTexts([...all.values()].sort(byPathAndMethod), definitions, manifest)
    const { marked, unmet: unmarked } = withMarks(manifest, own.endpoints)

    const ownRates = { ...Object.assign({}, ...read.map((table) => table.rates)), ...rates }
    const keptRates = Object.fromEntries(Object.entries<Rate>(ownRates).filter(([key]) => all.has(key)))
    const { endpoints, rated, unmet } = applyRates(marked, {
      ...manifest.rates,
      endpoints: { ...keptRates, ...manifest.rates?.endpoints }
    })
    const document: ProviderDocument = {
      provider: manifest.provider,
      title: manifest.title,
      homepage: manifest.homepage ?? null,
      base_url: manifest.base_url ?? imported.document.base_url,
      auth: manifest.auth ?? imported.document.auth,
      source: [source.name, ...documents.map(({ name }) => name), ...tables.map(({ name }) => name)],
      ...(manifest.provenance === undefined ? {} : { provenance: manifest.provenance }),
      definitions: own.definitions,
      endpoints
    }
    return {
      document,
      warnings: [
        ...imported.warnings,
        ...read.flatMap((table) => table.warnings),
        ...unmatched(
          amendments.map(([key]) => key).filter((key) => !all.has(key)),
          "this amendment matches no endpoint"
        ),
        ...unmatched(unmet, "this rate matches no endpoint"),
        ...unmatched(unmarked, "this pattern matches no endpoint"),
        ...unmatched(own.unmet, "this description matches no endpoint or field")
      ],
      undescribed: undescribedFields(document, (endpoint) => rated.get(endpointKey(endpoint)))
    }
  })

/**
 * Requires the fields of a body whose description has the manifest's words, unless the document's own example leaves them out. Read before
 * descriptions are left out.
 */
const withRequired = ({ required_words }: Manifest, endpoint: Endpoint): Endpoint => {
  const { body } = endpoint
  const properties = body?.["properties"]
  if (required_words === undefined || body === null || !isRecord(properties)) return endpoint
  const example: unknown = [endpoint.example.input].flat()[0]
  const said = Object.entries(properties).flatMap(([name, field]) => {
    if (isRecord(example) && !Object.hasOwn(example, name)) return []
    const [, ...after] = isRecord(field) ? String(field["description"]).split(required_words) : []
    return after.some((text) => !text.startsWith(" if ")) ? [name] : []
  })
  return { ...endpoint, body: requiring(body, said) }
}

/** The endpoints of documents and tables, with the texts that their licences allow. Of two with the same key, the last counts. */
const keptTexts = Effect.fnUntraced(function* (
  manifest: Manifest,
  sources: ReadonlyArray<SourceText>,
  document: ProviderDocument,
  rows: ReadonlyArray<Endpoint>
) {
  const documented = document.endpoints.map((endpoint) => withRequired(manifest, endpoint))
  const read = { endpoints: [...documented, ...rows], definitions: document.definitions }
  if (manifest.provenance === undefined) return read
  if (manifest.texts === undefined)
    return withoutTexts(read.endpoints, read.definitions, textsAllowed(manifest.provenance))
  const bare = withoutTexts(read.endpoints, read.definitions, () => false)
  const source = sources.find((one) => one.name === manifest.texts)
  // The package builds with the file. An operator who imports a newer document does without it.
  if (source === undefined) return bare
  const licensed = yield* licensedTexts(source)
  return {
    endpoints: bare.endpoints.map((endpoint) => applyLicensed(endpoint, licensed)),
    definitions: applyLicensedTo(bare.definitions, licensed)
  }
})

/** Applies the manifest's `acts`, `resources`, `fill` and `needs` to the endpoints. If several patterns match, all apply. */
const withMarks = (
  { acts = [], resources = {}, fill = {}, needs = {} }: Manifest,
  endpoints: ReadonlyArray<Endpoint>
) => {
  const acting = acts.map((pattern) => ({ pattern, matches: patternFor(pattern) }))
  const named = Object.entries(resources).map(([pattern, said]) => ({ pattern, said, matches: patternFor(pattern) }))
  const fills = Object.entries(fill).map(([pattern, values]) => ({ pattern, values, matches: patternFor(pattern) }))
  const needed = Object.entries(needs).map(([pattern, groups]) => ({ pattern, groups, matches: patternFor(pattern) }))
  const met = new Set<string>()
  const matching = <A extends { readonly pattern: string; readonly matches: (text: string) => boolean }>(
    patterns: ReadonlyArray<A>,
    key: string
  ) => patterns.filter((one) => one.matches(key) && met.add(one.pattern))
  const marked = endpoints.map((endpoint): Endpoint => {
    const key = endpointKey(endpoint)
    const said = matching(named, key)
    const uses = said.flatMap((one) => one.said.uses ?? [])
    const makes = said.flatMap((one) => one.said.makes ?? [])
    const filled = matching(fills, key).flatMap(({ values }) => values)
    const groups = matching(needed, key).flatMap((one) => one.groups)
    const { body, query_params } = endpoint
    const parts = { ...(uses.length === 0 ? {} : { uses }), ...(makes.length === 0 ? {} : { makes }) }
    return {
      ...endpoint,
      ...(body === null ? { query_params: needing(query_params, groups) } : { body: needing(body, groups) }),
      ...(matching(acting, key).length === 0 ? {} : { acts: true }),
      ...(said.length === 0 ? {} : { resources: parts }),
      ...(filled.length === 0 ? {} : { filled })
    }
  })
  return {
    marked,
    unmet: [...acts, ...Object.keys(resources), ...Object.keys(fill), ...Object.keys(needs)].filter(
      (pattern) => !met.has(pattern)
    )
  }
}

const siftedRows = (manifest: Manifest, tables: ReadonlyArray<Table>): ReadonlyArray<Endpoint> => {
  const wanted = manifest.include === undefined ? () => true : anyOf(manifest.include)
  const unwanted = anyOf(manifest.exclude ?? [])
  return tables
    .flatMap((table) => table.endpoints)
    .filter((endpoint) => wanted(endpointKey(endpoint)) && !unwanted(endpointKey(endpoint)))
    .map((endpoint) => ({ ...endpoint, tags: [...new Set([...endpoint.tags, ...(manifest.tags ?? [])])] }))
}
