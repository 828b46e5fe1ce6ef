/**
 * The words of a run, read from the run itself: to be put into a segment, or to be looked through where no segment holds it yet.
 */
import type { SqlClient } from "effect/sql"
import { isRecord, parsedOrText } from "../schema/Json.ts"
import { recipientFields, touchCapabilities } from "../schema/History.ts"
import type { Doc, Kind } from "../schema/words/Docs.ts"
import type { Gathered } from "../schema/words/Gathered.ts"
import { inInput, inRecipients, inResult, postingOf } from "../schema/words/Segment.ts"
import { addTerms, holdsWords, type Seed, wordsOf } from "../schema/words/Term.ts"

/** Of a longer one the beginning, as text. */
const charsMax = 200_000

export interface RunText extends Kind {
  readonly org_id: string
  readonly run_id: string
  readonly charged: bigint
  readonly created_at: Date
  /** JSON text, or the beginning of a long one. */
  readonly input: string
  readonly result: string | null
}

/** What is read of `runs r`, and of `open_runs o` where a run may be under way. */
export const runTextColumns = (sql: SqlClient.SqlClient, status: "ended" | "any") => sql`
  r.org_id, r.run_id, ${status === "ended" ? sql`r.status` : sql`coalesce(o.state, r.status) AS status`}, r.capability, r.endpoint, r.provider,
  coalesce(r.charged, 0) AS charged, r.created_at, left(r.input::text, ${charsMax}) AS input, left(r.result::text, ${charsMax}) AS result`

/** What a segment keeps of it. */
export const docOf = ({ run_id, status, capability, endpoint, provider, charged, created_at }: RunText): Doc => ({
  ...{ run_id, kind: { status, capability, endpoint, provider }, charged, created_at: created_at.getTime() }
})

/** What stands where, by the flag of the place. */
const placesOf = ({ capability, input, result }: RunText): ReadonlyArray<readonly [number, unknown]> => {
  const asked = parsedOrText(input)
  const places: Array<readonly [number, unknown]> = [[inInput, asked]]
  if (capability !== null && touchCapabilities.includes(capability) && isRecord(asked))
    places.push([inInput | inRecipients, recipientFields.map((name) => asked[name])])
  if (result !== null) places.push([inResult, parsedOrText(result)])
  return places
}

export const addRun = (terms: Gathered, row: RunText, seed: Seed, run: number) => {
  for (const [flags, value] of placesOf(row)) addTerms(terms, value, seed, postingOf(run, flags))
}

/** Finds where in the run each of the phrases stands, as flags; 0 where it doesn't. */
export const placesIn = (
  row: RunText,
  phrases: ReadonlyArray<ReadonlyArray<number>>,
  seed: Seed
): ReadonlyArray<number> => {
  const places = placesOf(row).map(([flags, value]) => ({ flags, text: wordsOf(value, seed) }))
  return phrases.map((words) =>
    places.reduce((found, { flags, text }) => (holdsWords(text, words) ? found | flags : found), 0)
  )
}
