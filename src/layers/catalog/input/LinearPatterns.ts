/**
 * The regular expressions of other people's schemas, run by RE2 in time linear in the text.
 *
 * A backtracking engine would let one pattern and one crafted value hold up the process for minutes. What RE2 can't read
 * (look-around, back-references) is not enforced, so importers drop it: what inspect shows is what run enforces.
 */
import { RE2JS } from "re2js"

/** Longer patterns are generated lists that are cheaper to refuse than to compile. */
export const patternCharactersMax = 1_000
/** RE2 expands counted repetitions; each character of a text may visit every instruction. */
const instructionsMax = 4_000

export interface LinearPattern {
  readonly test: (text: string) => boolean
}

/** Null when the pattern can't be run in linear time, or isn't one. */
export const linearPattern = (pattern: string): LinearPattern | null => {
  if (pattern.length > patternCharactersMax) return null
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    return compiled.programSize() > instructionsMax ? null : compiled
  } catch {
    return null
  }
}

const accepting: LinearPattern = { test: () => true }

/** For Ajv's `code.regExp`. */
export const linearPatterns = Object.assign((pattern: string) => linearPattern(pattern) ?? accepting, {
  code: "linearPatterns"
})
