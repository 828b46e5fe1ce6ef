/**
 * The settings of the service, each with its kind, its default, what it means, and whether it is a secret: what readSettings.ts notes.
 *
 * `rungate config print` shows this list, and `bun scripts/settings.ts` writes it into docs/operate.md and .env.example.
 */
import { reader, type Setting } from "./SettingsReader.ts"
import { readSettings } from "./readSettings.ts"

const noted = reader({ RUNGATE_MODE: "production" })
readSettings(noted)

export const settingsTable: ReadonlyArray<Setting> = noted.settings

const slugPlace = "<SLUG>"
const patterns = settingsTable
  .filter(({ name }) => name.includes(slugPlace))
  .map((setting) => ({ setting, pattern: new RegExp(`^${setting.name.replace(slugPlace, "[A-Z0-9_]+?")}$`) }))
const byName = new Map(settingsTable.map((setting) => [setting.name, setting]))

/** The line of a variable. Undefined for a variable that is no setting. */
export const settingOf = (name: string): Setting | undefined =>
  byName.get(name) ?? patterns.find(({ pattern }) => pattern.test(name))?.setting

/** Names of settings that are one variable each, so without those of provider accounts. */
export const settingNames: ReadonlyArray<string> = settingsTable
  .map(({ name }) => name)
  .filter((name) => !name.includes(slugPlace))

const fileEnding = "_FILE"
/** The variable that names the file of a secret. */
export const fileVariable = (name: string): string => `${name}${fileEnding}`
/** The secret whose file a variable names. Undefined if it is no such variable. */
export const secretOfFile = (name: string): string | undefined => {
  const secret = name.endsWith(fileEnding) ? name.slice(0, -fileEnding.length) : ""
  return settingOf(secret)?.secret === true ? secret : undefined
}

/** Markdown without its links and code marks. */
export const plainText = (markdown: string): string =>
  markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "")
