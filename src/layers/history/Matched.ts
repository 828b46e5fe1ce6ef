/**
 * Where in a run that is shown a subject stands: looked up then, because the index only knows that it does.
 */
import { type Place, placeOf } from "./index/Subjects.ts"
import { shortJson, wholeJson } from "./index/IndexedRun.ts"
import { findPhrase } from "../../schema/subjects/Extract.ts"
import { queryKeys, type Subject } from "../../schema/subjects/Subject.ts"

/** What is shown. */
export interface Matched {
  readonly in: "input" | "result"
  readonly path: string
  /** The value there is the subject, and does not only mention it. */
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

const told = ({ in_result, path, exact }: Pick<Place, "in_result" | "path" | "exact">): Matched => ({
  ...{ in: in_result ? "result" : "input", path, exact }
})

/** In the input if it stands there, unless only the result names it exactly. */
const phrasePlace = (texts: Texts, phrase: string): Matched | null => {
  const { input, result } = shortJson(texts)
  const asked = findPhrase(input, phrase)
  if (asked?.exact === true || result === undefined) return asked === null ? null : told({ in_result: false, ...asked })
  const brought = findPhrase(result, phrase)
  if (brought !== null && (asked === null || brought.exact)) return told({ in_result: true, ...brought })
  return asked === null ? null : told({ in_result: false, ...asked })
}

/** Null where it is not found: in a result that was not read, behind the beginning of a long one. */
export const matchedIn = (texts: Texts, subject: Subject): Matched | null => {
  if (subject.kind === "text") return phrasePlace(texts, subject.normalized)
  const place = placeOf(wholeJson(texts), queryKeys(subject))
  return place === null ? null : told(place)
}

/** For a run of which so much is known: it stands in it, and not in what was read of its input. */
export const somewhere: Matched = { in: "result", path: "", exact: false }
