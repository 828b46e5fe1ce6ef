/**
 * Handlers of `rungate config`: shows every setting with its origin, or says what is wrong with the settings and what to do.
 *
 * They read the settings as a service would that starts here, and touch no database. Loaded on demand.
 */
import { Console, Effect } from "effect"
import { failedWith } from "../cli/terminal/exits.ts"
import { harmless } from "../cli/terminal/text.ts"
import { print, table } from "../operator/output.ts"
import { processEnvironment, readingOf } from "../../layers/platform/Settings.ts"
import { productionAdvice } from "./productionAdvice.ts"
import { type ReportedSetting, settingsReport, type Source } from "../../layers/platform/settings/report.ts"
import { unknownSettings } from "../../layers/platform/unknownSettings.ts"
import { providers } from "../../layers/providers/index.ts"
import { sendsEvents } from "../../schema/catalog/Provider.ts"

export const parties = providers.map((one) => ({
  slug: one.slug,
  hasCredits: one.credit !== null,
  sendsEvents: sendsEvents(one)
}))

const report = Effect.sync(() => {
  const { variables, fromFile } = processEnvironment()()
  const reading = readingOf(variables)
  return {
    settings: settingsReport(reading, fromFile),
    problems: reading.problems,
    warnings: [
      ...reading.warnings,
      ...productionAdvice(reading.settings),
      ...unknownSettings(reading.settings.names, parties)
    ]
  }
})
type Report = Effect.Success<typeof report>

const origins: Readonly<Record<Source, string>> = {
  environment: "environment",
  env_file: ".env",
  secret_file: "file",
  default: "default"
}
const originOf = ({ source, file }: ReportedSetting) => (file === null ? origins[source] : `${origins[source]} ${file}`)

const view = ({ settings, problems, warnings }: Report) => ({
  ok: problems.length === 0,
  problems,
  warnings,
  settings: settings.map(({ secret, reloads, file, ...one }) => ({
    ...one,
    secret,
    file,
    change_needs: reloads ? "reload" : "restart"
  }))
})

const tellAll = (prefix: string, lines: ReadonlyArray<string>) =>
  Effect.forEach(lines, (line) => Console.error(harmless(`${prefix}: ${line}`)), { discard: true })

const wrong = (problems: ReadonlyArray<string>) =>
  problems.length === 1 ? "1 setting is wrong" : `${problems.length} settings are wrong`

export const printConfig = (json: boolean) =>
  Effect.gen(function* () {
    const result = yield* report
    if (json) yield* print(view(result))
    else {
      const lines = table(result.settings, {
        setting: ({ name }) => name,
        value: (one) => one.value ?? (one.default === "unset" ? "-" : `(${one.default})`),
        from: originOf,
        default: (one) => one.default
      })
      yield* Console.log(lines.join("\n"))
    }
    yield* tellAll("warning", result.warnings)
    yield* tellAll("wrong", result.problems)
    if (result.problems.length > 0)
      return yield* failedWith(`${wrong(result.problems)}, so a service does not start with them.`)
  })

export const checkConfig = (json: boolean) =>
  Effect.gen(function* () {
    const result = yield* report
    const { problems, settings, warnings } = result
    const set = settings.filter(({ source }) => source !== "default").length
    if (json) yield* print({ ok: problems.length === 0, settings_set: set, problems, warnings })
    yield* tellAll("warning", warnings)
    if (problems.length > 0) {
      yield* tellAll("wrong", problems)
      return yield* failedWith(
        `${wrong(problems)}, so a service does not start with them. To see where each comes from: rungate config print`
      )
    }
    if (!json)
      yield* Console.log(`The settings are valid: ${set} set, the others have their defaults. No server was asked.`)
  })
