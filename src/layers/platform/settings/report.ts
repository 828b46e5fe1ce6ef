/** What `rungate config` shows of each setting: its value, where it came from and its default. No secret is in it. Pure. */
import type { Setting } from "./SettingsReader.ts"
import { plainText, settingOf, settingsTable } from "./settingsTable.ts"

/** Where a value came from: the process, `.env`, the file of a `*_FILE` variable, or nowhere. */
export type Source = "environment" | "env_file" | "secret_file" | "default"

export interface ReportedSetting extends Setting {
  /** Null if the setting is unset. A secret is replaced by asterisks; of an address with a password, the place stays. */
  readonly value: string | null
  readonly source: Source
  /** The file that a secret came from. */
  readonly file: string | null
}

interface Given {
  readonly values: ReadonlyMap<string, string>
  readonly files: ReadonlyMap<string, string>
}

const hidden = "********"

/** Host and path of an address, without the user, the password and the query. */
const placeOf = (text: string): string => {
  if (!URL.canParse(text)) return hidden
  const { protocol, host, pathname, username, password } = new URL(text)
  const hasUser = username !== "" || password !== ""
  return `${protocol}//${hasUser ? `${hidden}@` : ""}${host}${pathname}`
}

const shown = ({ kind, secret }: Setting, text: string): string => {
  if (secret) return kind === "address" ? placeOf(text) : hidden
  // A proxy's address may have a password too.
  return kind === "address" && /:\/\/[^/]*@/.test(text) ? placeOf(text) : text
}

/** All settings in the order of the table. Of provider accounts, those that are set. */
export const settingsReport = (
  { values, files }: Given,
  fromFile: ReadonlySet<string>
): ReadonlyArray<ReportedSetting> => {
  const accounts = [...values.keys()].filter((name) => settingOf(name)?.name !== name).sort()
  return settingsTable.flatMap((setting) => {
    const names = setting.name.includes("<") ? accounts.filter((name) => settingOf(name) === setting) : [setting.name]
    return names.map((name): ReportedSetting => {
      const text = values.get(name)
      const file = files.get(name) ?? null
      const source = file !== null ? "secret_file" : fromFile.has(name) ? "env_file" : "environment"
      return {
        ...setting,
        name,
        default: plainText(setting.default),
        description: plainText(setting.description),
        value: text === undefined ? null : shown(setting, text),
        source: text === undefined ? "default" : source,
        file
      }
    })
  })
}
