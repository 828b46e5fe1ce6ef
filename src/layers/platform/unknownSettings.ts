/** Finds variables that look like settings and have no effect. A misspelled one would otherwise be ignored without a word. Pure. */
import { nearest } from "../../schema/nearest.ts"
import { accountVariables } from "./settings/ProviderSettings.ts"
import { fileVariable, settingOf } from "./settings/settingsTable.ts"
import type { SettingsShape } from "./Settings.ts"

interface Party {
  readonly slug: string
  /** Whether it bills in credits, so that their price can be set. */
  readonly hasCredits: boolean
  /** Whether it tells of bounces, so that a secret of its events can be set. */
  readonly sendsEvents: boolean
}

const variablesOf = ({ slug, hasCredits, sendsEvents }: Party): ReadonlyArray<string> =>
  accountVariables(slug).filter(
    (name) => (hasCredits || !name.endsWith("_CREDIT_USD")) && (sendsEvents || !name.endsWith("_WEBHOOK_SECRET"))
  )

const messageOf = (name: string, validNames: ReadonlyArray<string>, parties: ReadonlyArray<Party>): string => {
  const [, slug] = /^RUNGATE_PROVIDER_([A-Z0-9_]+)_CREDIT_USD$/.exec(name) ?? []
  const billed = parties.find((one) => one.slug === slug?.toLowerCase())
  if (billed !== undefined && !billed.hasCredits)
    return `${name} has no effect: ${billed.slug} bills in USD and not in credits.`
  const [, teller] = /^RUNGATE_PROVIDER_([A-Z0-9_]+)_WEBHOOK_SECRET(?:_FILE)?$/.exec(name) ?? []
  const silent = parties.find((one) => one.slug === teller?.toLowerCase())
  if (silent !== undefined && !silent.sendsEvents)
    return `${name} has no effect: the service takes no events of ${silent.slug}.`
  const own = parties.filter((one) => name.startsWith(`RUNGATE_PROVIDER_${one.slug.toUpperCase()}_`))
  const [longest] = own.toSorted((a, b) => b.slug.length - a.slug.length)
  if (longest !== undefined)
    return `${name} is not a setting and is ignored. The settings of ${longest.slug} are ${variablesOf(longest).join(", ")}.`
  const meant = nearest(name, validNames)
  const hint = meant === null ? "" : ` Did you mean ${meant}?`
  return name.startsWith("RUNGATE_PROVIDER_")
    ? `${name} names no provider of this service and is ignored.${hint} List the providers with: rungate providers`
    : `${name} is not a setting and is ignored.${hint}`
}

/** A sentence for each variable without effect. */
export const unknownSettings = (
  { given, existing: settings }: SettingsShape["names"],
  parties: ReadonlyArray<Party>
): ReadonlyArray<string> => {
  const accounts = parties.flatMap(variablesOf)
  const files = accounts.filter((name) => settingOf(name)?.secret === true).map(fileVariable)
  const validNames = [...settings, ...accounts, ...files]
  return given.filter((name) => !validNames.includes(name)).map((name) => messageOf(name, validNames, parties))
}
