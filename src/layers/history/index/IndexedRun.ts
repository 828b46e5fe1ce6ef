/**
 * What the index knows of a run, read from the run itself: to be put into segments, or to be looked through where none holds it yet.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { eachSubject, type RunJson, subjectTerm } from "./Subjects.ts"
import { isRecord, parsedOrText } from "../../../schema/json/Json.ts"
import { recipientFields, touchCapabilities } from "../../../schema/runs/History.ts"
import { outcomeUnknown } from "../../../schema/catalog/Doubt.ts"
import type { Kind, Run } from "../../../schema/segments/Docs.ts"
import type { PostingsBuilder } from "../../../schema/segments/PostingsBuilder.ts"
import { elsewhere, named, postingOf, recipient } from "../../../schema/segments/Segment.ts"
import { addTerms, holdsWords, type Seed, wordsOf } from "../../../schema/words/Term.ts"

/** Of a longer input or result the words of the beginning count, as text. */
const charsMax = 200_000
/** A longer one names nobody but in its beginning: nobody asks for what stands at the end of a book. */
const jsonCharsMax = 2_000_000

export interface RunText extends Kind {
  readonly org_id: string
  readonly run_id: string
  readonly charged: bigint
  readonly created_at: Date
  /** JSON text, or the beginning of a long one. */
  readonly input: string
  readonly result: string | null
  /** Of a raw run. */
  readonly plan: string | null
}

/** Stored bytes, compressed, of which no text becomes that is too long to be read whole: counting characters takes longer than reading them. */
const storedMax = 8_000

/** Of `runs r`: a JSON column as text, of a long one so much that one sees that it is. */
export const jsonText = (sql: SqlClient.SqlClient, column: "input" | "result", length: "short" | "whole") => {
  const of = sql.literal(`r.${column}`)
  const chars = 1 + (length === "short" ? charsMax : jsonCharsMax)
  return sql`CASE WHEN pg_column_size(${of}) <= ${storedMax} THEN ${of}::text ELSE left(${of}::text, ${chars}) END`
}
export const jsonColumns = (sql: SqlClient.SqlClient, length: "short" | "whole") => sql`
  r.capability, ${jsonText(sql, "input", length)} AS input, ${jsonText(sql, "result", length)} AS result,
  CASE WHEN r.capability IS NULL THEN r.plan::text END AS plan`

/** A failed run whose outcome is unknown has a status of its own in the index. What is read of `runs r`, and of `open_runs o` where a run may be under way. */
export const runTextColumns = (sql: SqlClient.SqlClient, status: "ended" | "any") => sql`
  r.org_id, r.run_id, CASE WHEN r.error_code = ${outcomeUnknown}::text THEN ${outcomeUnknown}::text
    ELSE ${status === "ended" ? sql`r.status` : sql`coalesce(o.state, r.status)`} END AS status, r.endpoint, r.provider,
  coalesce(r.charged, 0) AS charged, r.created_at, ${jsonColumns(sql, "short")}`

type Texts = Pick<RunText, "capability" | "input" | "result" | "plan">

/** There is more than was read. */
const isLong = ({ input, result }: Texts): boolean => input.length > charsMax || (result?.length ?? 0) > charsMax

/** A long one is read once more, all of it; there are few. */
export const wholeText = (sql: SqlClient.SqlClient, row: RunText) =>
  isLong(row)
    ? Effect.map(
        sql<Texts>`SELECT ${jsonColumns(sql, "whole")} FROM runs r WHERE r.org_id = ${row.org_id} AND r.run_id = ${row.run_id}`,
        ([longer]): RunText => ({ ...row, ...longer })
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
/** As its words are read. */
export const shortJson = (row: Texts): RunJson => jsonOf(row, charsMax)
/** As its subjects are read; the same, unless it is long. */
export const wholeJson = (row: Texts): RunJson => jsonOf(row, jsonCharsMax)

/** What a segment keeps of it. */
export const runOf = ({ run_id, status, capability, endpoint, provider, charged, created_at }: RunText): Run => ({
  ...{ run_id, kind: { status, capability, endpoint, provider }, charged, created_at: created_at.getTime() }
})

/** What stands where, by the flags of the place. */
const placesOf = ({ capability, input, result }: RunJson): ReadonlyArray<readonly [number, unknown]> => {
  const places: Array<readonly [number, unknown]> = [[named, input]]
  if (capability !== null && touchCapabilities.includes(capability) && isRecord(input))
    places.push([named | recipient, recipientFields.map((name) => input[name])])
  if (result !== undefined) places.push([elsewhere, result])
  return places
}

/** The words of a run, as the index's run of that number. */
export const addWords = (terms: PostingsBuilder, json: RunJson, seed: Seed, number: number) => {
  for (const [flags, value] of placesOf(json)) addTerms(terms, value, seed, postingOf(number, flags))
}

/** Finds where in the run each of the phrases stands, as flags; 0 where it doesn't. */
export const placesIn = (
  json: RunJson,
  phrases: ReadonlyArray<ReadonlyArray<number>>,
  seed: Seed
): ReadonlyArray<number> => {
  const places = placesOf(json).map(([flags, value]) => ({ flags, text: wordsOf(value, seed) }))
  return phrases.map((words) =>
    places.reduce((found, { flags, text }) => (holdsWords(text, words) ? found | flags : found), 0)
  )
}

export const addSubjects = (terms: PostingsBuilder, json: RunJson, org_id: string, number: number) =>
  eachSubject(json, (key, flags) => {
    const term = subjectTerm(org_id, key)
    terms.add(Math.floor(term / 65_536), term % 65_536, postingOf(number, flags))
  })

/** Of each of the run's subjects the flags of where it stands. */
export const subjectsIn = (json: RunJson, org_id: string): ReadonlyMap<number, number> => {
  const found = new Map<number, number>()
  eachSubject(json, (key, flags) => {
    const term = subjectTerm(org_id, key)
    found.set(term, (found.get(term) ?? 0) | flags)
  })
  return found
}
