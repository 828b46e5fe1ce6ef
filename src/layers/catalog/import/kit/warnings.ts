/**
 * What an import had to leave out, said once each and not without end.
 */
import type { Warning } from "../../../../schema/catalog/Endpoint.ts"

/** More than anybody reads; the last one says how many were not kept. */
export const warningsMax = 1_000

export interface Warnings {
  readonly add: (where: string, message: string) => void
  readonly all: () => ReadonlyArray<Warning>
}

/** Names and values inside warnings come from the document, so they are cut. */
export const shown = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value))
  return text.length > 80 ? `${text.slice(0, 80)}…`.toWellFormed() : text.toWellFormed()
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
