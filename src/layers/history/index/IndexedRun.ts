/**
 * Reads a run for the index: its texts, subjects and words. Used for indexing, and for searching runs that are not indexed yet.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { missing, rowsAs } from "./Rows.ts"
import { eachSubject, type RunJson, subjectTerm } from "./Subjects.ts"
import { isRecord, parsedOrText } from "../../../schema/json/Json.ts"
import { runStatus } from "../../runs/runStatus.ts"
import { recipientFields, touchCapabilities } from "../../../schema/runs/History.ts"
import { outcomeUnknown } from "../../../schema/catalog/Doubt.ts"
import type { Run } from "../../../schema/segments/Docs.ts"
import type { PostingsBuilder } from "../../../schema/segments/PostingsBuilder.ts"
import { elsewhere, named, postingOf, recipient } from "../../../schema/segments/Segment.ts"
import { addTerms, holdsWords, type Seed, wordsOf } from "../../../schema/words/Term.ts"

/** Of a longer input or result, only the words of its beginning are indexed, as text. */
const charsMax = 200_000
/** Of a longer input or result, only the subjects of its beginning are indexed. */
const jsonCharsMax = 2_000_000

const text = Schema.NullOr(Schema.String)
const textFields = {
  capability: text,
  /** JSON text, or the beginning of a long one. */
  input: Schema.String,
  result: text,
  /** The plan of a raw run; null for other runs. */
  plan: text
}
const TextRow = Schema.Struct(textFields)
const RunTextRow = Schema.Struct({
  ...textFields,
  org_id: Schema.String,
  run_id: Schema.String,
  status: Schema.String,
  endpoint: text,
  provider: text,
  charged: Schema.BigInt,
  created_at: Schema.Date
})
export type RunText = typeof RunTextRow.Type

/** Checks rows of `runTextColumns`. One check per statement. */
export const runTextRows = (what: string) => rowsAs(what, RunTextRow)
const wholeTextRows = rowsAs("whole texts of a run", TextRow)

/** Compressed bytes that never expand to a long text. Such texts are read without counting characters, which takes longer than reading. */
const storedMax = 8_000

/** A JSON column of `runs r` as text. A long one is cut just after its limit, so that readers see that it is long. */
export const jsonText = (sql: SqlClient.SqlClient, column: "input" | "result", length: "short" | "whole") => {
  const of = sql.literal(`r.${column}`)
  const chars = 1 + (length === "short" ? charsMax : jsonCharsMax)
  return sql`CASE WHEN pg_column_size(${of}) <= ${storedMax} THEN ${of}::text ELSE left(${of}::text, ${chars}) END`
}
export const jsonColumns = (sql: SqlClient.SqlClient, length: "short" | "whole") => sql`
  r.capability, ${jsonText(sql, "input", length)} AS input, ${jsonText(sql, "result", length)} AS result,
  CASE WHEN r.capability IS NULL THEN r.plan::text END AS plan`

/** Columns of `runs r`, and of `open_runs o` if a run may be in progress. The index has its own status for runs with an unknown outcome. */
export const runTextColumns = (sql: SqlClient.SqlClient, status: "ended" | "any") => sql`
  r.org_id, r.run_id, CASE WHEN r.error_code = ${outcomeUnknown}::text THEN ${outcomeUnknown}::text
    ELSE ${status === "ended" ? sql`r.status` : sql.literal(runStatus)} END AS status, r.endpoint, r.provider,
  coalesce(r.charged, 0) AS charged, r.created_at, ${jsonColumns(sql, "short")}`

type Texts = typeof TextRow.Type

/** The text was cut. */
const isLong = ({ input, result }: Texts): boolean => input.length > charsMax || (result?.length ?? 0) > charsMax

/** Reads a long run again, completely. There are few of them. */
export const wholeText = (sql: SqlClient.SqlClient, row: RunText) =>
  isLong(row)
    ? Effect.map(
        wholeTextRows(
          sql`SELECT ${jsonColumns(sql, "whole")} FROM runs r WHERE r.org_id = ${row.org_id} AND r.run_id = ${row.run_id}`
        ),
        ([longer]): RunText => ({ ...row, ...(longer ?? missing(`run ${row.run_id}`)) })
      )
    : Effect.succeed(row)

const valueOf = (text: string, max: number): unknown =>
  text.length > max ? text.slice(0, charsMax) : parsedOrText(text)

const jsonOf = ({ capability, input, result, plan }: Texts, max: number): RunJson => ({
  capability,
  input: valueOf(input, max),
  result: result === null ? undefined : valueOf(result, max),
  plan: plan === null ? null : parsedOrText(plan)
})
/** The JSON for words. */
export const shortJson = (row: Texts): RunJson => jsonOf(row, charsMax)
/** The JSON for subjects. It differs only for long runs. */
export const wholeJson = (row: Texts): RunJson => jsonOf(row, jsonCharsMax)

/** The part of a run that a segment stores. */
export const runOf = ({ run_id, status, capability, endpoint, provider, charged, created_at }: RunText): Run => ({
  ...{ run_id, kind: { status, capability, endpoint, provider }, charged, created_at: created_at.getTime() }
})

/** The values of a run by the flags of their place. */
const placesOf = ({ capability, input, result }: RunJson): ReadonlyArray<readonly [number, unknown]> => {
  const places: Array<readonly [number, unknown]> = [[named, input]]
  if (capability !== null && touchCapabilities.includes(capability) && isRecord(input))
    places.push([named | recipient, recipientFields.map((name) => input[name])])
  if (result !== undefined) places.push([elsewhere, result])
  return places
}

/** Adds a run's words to the terms, under the run's number in the segment. */
export const addWords = (terms: PostingsBuilder, json: RunJson, seed: Seed, number: number) => {
  for (const [flags, value] of placesOf(json)) addTerms(terms, value, seed, postingOf(number, flags))
}

/** The flags of the places of each phrase in the run; 0 if it does not occur. */
export const placesIn = (
  json: RunJson,
  phrases: ReadonlyArray<ReadonlyArray<number>>,
  seed: Seed
): ReadonlyArray<number> => {
  const places = placesOf(json).map(([flags, value]) => ({ flags, text: wordsOf(value, seed) }))
  return phrases.map((words) =>
    places.reduce((all, { flags, text }) => (holdsWords(text, words) ? all | flags : all), 0)
  )
}

export const addSubjects = (terms: PostingsBuilder, json: RunJson, org_id: string, number: number) =>
  eachSubject(json, (key, flags) => {
    const term = subjectTerm(org_id, key)
    terms.add(Math.floor(term / 65_536), term % 65_536, postingOf(number, flags))
  })

/** The flags of each of the run's subjects, by term. */
export const subjectsIn = (json: RunJson, org_id: string): ReadonlyMap<number, number> => {
  const flagsByTerm = new Map<number, number>()
  eachSubject(json, (key, flags) => {
    const term = subjectTerm(org_id, key)
    flagsByTerm.set(term, (flagsByTerm.get(term) ?? 0) | flags)
  })
  return flagsByTerm
}
