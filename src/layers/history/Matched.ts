/**
 * Finds the place in a shown run where a subject occurs. The index only stores that it occurs.
 */
import { type Place, placeOf } from "./index/Subjects.ts"
import { shortJson, wholeJson } from "./index/IndexedRun.ts"
import { queryKeys, type Subject } from "../../schema/subjects/Subject.ts"
import { findPhrase } from "../../schema/words/Term.ts"

/** The place of a match, as shown. */
export interface Matched {
  readonly in: "input" | "result"
  readonly path: string
  /** The whole value is the subject, and does not only mention it. */
  readonly exact: boolean
}

/** JSON texts, as IndexedRun.ts reads them. */
interface Texts {
  readonly capability: string | null
  readonly input: string
  readonly plan: string | null
  /** Null when the run has none, or when it was not read. */
  readonly result: string | null
}

const matchedOf = ({ in_result, path, exact }: Pick<Place, "in_result" | "path" | "exact">): Matched => ({
  ...{ in: in_result ? "result" : "input", path, exact }
})

/** Prefers the input, unless only the result names the phrase exactly. */
const phrasePlace = (texts: Texts, phrase: string): Matched | null => {
  const { input, result } = shortJson(texts)
  const inInput = findPhrase(input, phrase)
  if (inInput?.exact === true || result === undefined)
    return inInput === null ? null : matchedOf({ in_result: false, ...inInput })
  const inResult = findPhrase(result, phrase)
  if (inResult !== null && (inInput === null || inResult.exact)) return matchedOf({ in_result: true, ...inResult })
  return inInput === null ? null : matchedOf({ in_result: false, ...inInput })
}

/** Null when the texts don't contain it: the result was not read, or only its beginning. */
export const matchedIn = (texts: Texts, subject: Subject): Matched | null => {
  if (subject.kind === "text") return phrasePlace(texts, subject.normalized)
  const place = placeOf(wholeJson(texts), queryKeys(subject))
  return place === null ? null : matchedOf(place)
}

/** For a run that matches by the index, but not in the texts that were read. */
export const somewhere: Matched = { in: "result", path: "", exact: false }
