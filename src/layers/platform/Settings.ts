/**
 * Reads the service's settings from environment variables, once, and reports all invalid ones together.
 *
 * Secrets stay `Redacted` until they are used, and no message contains a value. No other module reads the environment.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { type Environment, reader } from "./settings/SettingsReader.ts"
import { environmentOf } from "./settings/environmentFile.ts"
import { crashName, readSettings } from "./settings/readSettings.ts"
import { type Checked, reloading, type Reloaded } from "./settings/reloading.ts"
import { type Resolved, withSecretFiles } from "./settings/secretFiles.ts"
import { fileVariable, settingNames, settingOf } from "./settings/settingsTable.ts"

export type Role = "all" | "http" | "worker"

export interface SettingsShape extends ReturnType<typeof readSettings> {
  /** `given`: variables of the environment that begin with RUNGATE_. `existing`: all settings that exist, without provider accounts. */
  readonly names: { readonly given: ReadonlyArray<string>; readonly existing: ReadonlyArray<string> }
}
export type Mode = SettingsShape["mode"]
export type LogLevel = SettingsShape["logLevel"]
/** Who may sign up: everybody, people with an invitation, or nobody. */
export type SignUp = SettingsShape["signUp"]

/** The URL of this service for links in e-mails and messages. */
export const addressOf = ({ publicUrl, host, port }: Pick<SettingsShape, "publicUrl" | "host" | "port">): string =>
  publicUrl ?? `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}`

/** The settings that a reload may change. */
type ReloadedKey = "accounts" | "encryptionKeys" | "mail" | "metricsToken" | "stripe"

export interface LiveSettings extends Omit<SettingsShape, ReloadedKey> {
  /** The settings that a reload may change, as they are now. Read them when they are used, and don't keep them. */
  readonly current: () => Pick<SettingsShape, ReloadedKey>
  /** Reads the settings again. Fails, and changes nothing, if one of them has a mistake. */
  readonly reload: Effect.Effect<Reloaded, SettingsInvalid>
  /** Has `listener` called with the names of settings that a reload changed. */
  readonly onReload: (listener: (changed: ReadonlyArray<string>) => Effect.Effect<void>) => void
}

export type { Account } from "./settings/ProviderSettings.ts"
export type { Environment } from "./settings/SettingsReader.ts"
export type { MailServer } from "./settings/ServerUrls.ts"
export type { StripeAccount } from "./settings/moneySettings.ts"

export class SettingsInvalid extends Schema.TaggedError<SettingsInvalid>()("SettingsInvalid", {
  message: Schema.String
}) {}

/** Variables that the client's commands read. They are no unknown settings if an operator has them in the same environment. */
const clientNames = ["RUNGATE_URL", "RUNGATE_API_KEY", "RUNGATE_PROFILE", "RUNGATE_MAX_COST"]

const namesOf = (environment: Environment): SettingsShape["names"] => ({
  given: Object.keys(environment).filter((name) => name.startsWith("RUNGATE_")),
  existing: [
    ...clientNames,
    ...settingNames.flatMap((name) => (settingOf(name)?.secret === true ? [name, fileVariable(name)] : [name])),
    crashName
  ].filter((name) => name.startsWith("RUNGATE_"))
})

/** What the environment says, mistakes included. */
export interface Reading extends Checked<SettingsShape>, Pick<Resolved, "files" | "problems" | "warnings"> {}

export const readingOf = (environment: Environment): Reading => {
  const { variables, files, problems, warnings } = withSecretFiles(environment)
  const read = reader(variables)
  const settings = { ...readSettings(read), names: namesOf(environment) }
  const values = Object.entries(variables).flatMap(([name, value]) => {
    const text = value?.trim() ?? ""
    return settingOf(name) === undefined || text === "" ? [] : [[name, text] as const]
  })
  return {
    settings,
    values: new Map(values),
    files,
    problems: [...problems, ...read.problems],
    warnings
  }
}

const checkedOf = (environment: Environment): Effect.Effect<Checked<SettingsShape>, SettingsInvalid> =>
  Effect.suspend(() => {
    const reading = readingOf(environment)
    if (reading.problems.length === 0) return Effect.succeed(reading)
    return Effect.fail(new SettingsInvalid({ message: `Bad settings: ${reading.problems.join("; ")}.` }))
  })

export const settingsOf = (environment: Environment): Effect.Effect<SettingsShape, SettingsInvalid> =>
  Effect.map(checkedOf(environment), ({ settings }) => settings)

/** The layers of payments are chosen at the start. So an account at Stripe may change, but not appear or vanish. */
const isSamePayments = (running: SettingsShape, next: SettingsShape): boolean =>
  (running.stripe === null) === (next.stripe === null)

const liveSettings = (environment: () => Environment): Effect.Effect<LiveSettings, SettingsInvalid> =>
  Effect.map(
    reloading(
      Effect.suspend(() => checkedOf(environment())),
      (running, next, name) => name.startsWith("STRIPE_") && !isSamePayments(running, next),
      (running, { accounts, encryptionKeys, mail, metricsToken, stripe }: SettingsShape) => ({
        ...running,
        accounts,
        encryptionKeys,
        mail,
        metricsToken,
        stripe: (running.stripe === null) === (stripe === null) ? stripe : running.stripe
      })
    ),
    ({ first, current, reload, onReload }) => ({ ...first, current, reload, onReload })
  )

/** The variables of this process, and of its environment file. */
export const processEnvironment = () => environmentOf(process.env)

export class Settings extends Context.Service<Settings, LiveSettings>()("rungate/layers/platform/Settings") {
  static readonly layerFrom = (environment: Environment) =>
    Layer.effect(
      Settings,
      liveSettings(() => environment)
    )
  static readonly layer = Layer.effect(
    Settings,
    Effect.suspend(() => {
      const environment = processEnvironment()
      return liveSettings(() => environment().variables)
    })
  )
}
