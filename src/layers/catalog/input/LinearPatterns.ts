/**
 * Runs the regular expressions of third-party schemas by RE2, in time linear in the text.
 *
 * With a backtracking engine, one pattern and one crafted value could block the process for minutes. RE2 does not support
 * look-around and back-references. Importers drop such patterns, so that inspect shows exactly what run enforces.
 */
import { RE2JS } from "re2js"

/** Longer patterns are generated lists, too expensive to compile. */
export const patternCharactersMax = 1_000
/** RE2 expands counted repetitions. Each character of a text may visit every instruction. */
const instructionsMax = 4_000

export interface LinearPattern {
  readonly test: (text: string) => boolean
}

/** Null when the pattern is invalid or can't be run in linear time. */
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
