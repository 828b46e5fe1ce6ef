/**
 * Collects the warnings of an import: each only once, up to a limit.
 */
import { shortened } from "../../../../schema/json/StorableText.ts"
import type { Warning } from "../../../../schema/catalog/Endpoint.ts"

/** Warnings per import. One more says how many are not shown. */
export const warningsMax = 1_000

export interface Warnings {
  readonly add: (where: string, message: string) => void
  readonly all: () => ReadonlyArray<Warning>
}

/** Shortens a name or value from the document for a warning. */
export const shown = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value))
  return shortened(text, 80).toWellFormed()
}

export const warnings = (): Warnings => {
  const kept = new Map<string, Warning>()
  let dropped = 0
  return {
    add: (where, message) => {
      const key = `${where}\n${message}`
      if (kept.has(key)) return
      if (kept.size >= warningsMax) dropped++
      else kept.set(key, { where, message })
    },
    all: () =>
      dropped === 0
        ? [...kept.values()]
        : [...kept.values(), { where: "", message: `${dropped} more warnings are not shown` }]
  }
}
