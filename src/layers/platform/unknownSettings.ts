/** Finds variables that look like settings and have no effect. A misspelled one would otherwise be ignored without a word. Pure. */
import { nearest } from "../../schema/nearest.ts"
import { accountVariables, keyVariableOf } from "./ProviderSettings.ts"
import { fileVariable } from "./settings/settingsTable.ts"
import type { SettingsShape } from "./Settings.ts"

interface Party {
  readonly slug: string
  /** Whether it bills in credits, so that their price can be set. */
  readonly hasCredits: boolean
}

const messageOf = (name: string, known: ReadonlyArray<string>, parties: ReadonlyArray<Party>): string => {
  const [, slug] = /^RUNGATE_PROVIDER_([A-Z0-9_]+)_CREDIT_USD$/.exec(name) ?? []
  const billed = parties.find((one) => one.slug === slug?.toLowerCase())
  if (billed !== undefined && !billed.hasCredits)
    return `${name} has no effect: ${billed.slug} bills in USD and not in credits.`
  const own = parties.flatMap((one) =>
    name.startsWith(`RUNGATE_PROVIDER_${one.slug.toUpperCase()}_`) ? [one.slug] : []
  )
  const [longest] = own.sort((a, b) => b.length - a.length)
  if (longest !== undefined)
    return `${name} is not a setting and is ignored. The settings of ${longest} are ${accountVariables(longest).join(", ")}.`
  const meant = nearest(name, known)
  const hint = meant === null ? "" : ` Did you mean ${meant}?`
  return name.startsWith("RUNGATE_PROVIDER_")
    ? `${name} names no provider of this service and is ignored.${hint} List the providers with: rungate providers`
    : `${name} is not a setting and is ignored.${hint}`
}

/** A sentence for each variable without effect. */
export const unknownSettings = (
  { given, known: settings }: SettingsShape["names"],
  parties: ReadonlyArray<Party>
): ReadonlyArray<string> => {
  const accounts = parties.flatMap(({ slug, hasCredits }) =>
    accountVariables(slug).filter((name) => hasCredits || !name.endsWith("_CREDIT_USD"))
  )
  const known = [...settings, ...accounts, ...parties.map(({ slug }) => fileVariable(keyVariableOf(slug)))]
  return given.filter((name) => !known.includes(name)).map((name) => messageOf(name, known, parties))
}
