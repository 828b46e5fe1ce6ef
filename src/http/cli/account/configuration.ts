/**
 * `rungate apply` and `rungate export`: keys, limits, webhooks and rules as a file.
 *
 * The service compares, and applies what was shown or nothing: the digest of its preview goes back with the file. What it says of a field is
 * shown with the line of the file.
 */
import { Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { changeTitle, fieldLines, replayLines } from "../../client/ConfigurationText.ts"
import { faultsIn, NotConfiguration, parsedYaml, yamlText } from "../../client/YamlText.ts"
import { AppliedConfiguration, ConfigurationPreview, NewSecret } from "../../../schema/configuration/Configuration.ts"
import { ConfigurationApi } from "../../api/Configuration.ts"
import { publicErrorIn } from "../../api/shapes/PublicError.ts"
import type { Answer } from "../answers/Client.ts"
import { nounTable } from "../answers/draw.ts"
import { call, send } from "../answers/operation.ts"
import { failureOf, formatOf, json, type Lines, lines, printed, read } from "../answers/show.ts"
import { readText } from "../runs/input.ts"
import { outputFlag, saveFile } from "../receipts/files.ts"
import { Credentials } from "../state/Credentials.ts"
import { consent } from "../terminal/consent.ts"
import { bad } from "../terminal/exits.ts"
import { boolean, yes, withExamples } from "../terminal/flags.ts"
import { Screen, type ScreenShape } from "../terminal/Screen.ts"

const { preview, apply: put, export: get } = ConfigurationApi.endpoints
/** A preview replays 30 days of runs, and may wait for others. */
const answerSeconds = 60

const fileAt = Effect.fnUntraced(function* (file: string) {
  const name = file === "-" ? "stdin" : file
  const text = yield* readText(file)
  const parsed = yield* Effect.try({
    try: () => parsedYaml(text),
    catch: (error) => bad(`${name} ${error instanceof NotConfiguration ? error.message : "is nested too deeply"}.`)
  })
  return { name, ...parsed }
})
type File = Effect.Success<ReturnType<typeof fileAt>>

/** An error of the service, with the place in the file of each field that it names. */
const checked = Effect.fnUntraced(function* (answer: Answer, file: File) {
  const faults = publicErrorIn(answer.text)?.error.details ?? []
  const failure = yield* failureOf(answer)
  if (failure === null) return
  const places = faultsIn(file, faults).map(({ line, fault }) => `${file.name}:${line}: ${fault}`)
  return yield* places.length === 0 ? failure : bad(places.join("\n"))
})

const colours = { create: "green", change: "yellow", remove: "red" } as const

/** What would change, and what that would have done with past runs. */
const shownLines = (preview: typeof ConfigurationPreview.Encoded, { paint }: ScreenShape): Lines => {
  const [blocked, ...rules] = replayLines(preview.replay)
  return [
    ...preview.changes.flatMap((one) => [
      paint(colours[one.action], changeTitle(one)),
      ...fieldLines(one).map((line) => `    ${line}`)
    ]),
    ...(preview.changes.length === 0 ? [] : [""]),
    ...(blocked === undefined ? [] : [blocked, ...rules.map((line) => `    ${line}`)])
  ]
}

export const apply = Command.make(
  "apply",
  {
    file: Flag.String("file").pipe(Flag.withAlias("f"), Flag.withDescription("the YAML file, or - for stdin")),
    prune: boolean("prune", "revoke or remove what a section of the file does not name"),
    dry: boolean("dry-run", "show what would change, and change nothing"),
    yes,
    json
  },
  Effect.fnUntraced(function* ({ file: path, prune, dry, yes, json }) {
    const screen = yield* Screen
    const file = yield* fileAt(path)
    const token = yield* (yield* Credentials).session
    const payload = { configuration: file.value, prune }
    const ask = { token, seconds: answerSeconds }
    const previewed = yield* send(preview, { payload }, ask)
    const person = formatOf(screen, { json }) === "table"
    if (previewed.status >= 400 || dry) if (!person) yield* screen.out(printed(previewed.text))
    yield* checked(previewed, file)
    const shown = yield* read(ConfigurationPreview, previewed)
    const { changes, digest } = shown
    if (person) {
      yield* lines(shownLines(shown, screen), previewed.text)
      if (changes.length === 0) yield* screen.say("Nothing to change.")
    }
    if (dry || (person && changes.length === 0)) return
    const count = changes.length === 1 ? "this change" : `these ${changes.length} changes`
    if (changes.length > 0) yield* consent(`Apply ${count}?`, { yes })
    const answer = yield* send(put, { payload: { ...payload, digest } }, ask)
    if (!person) yield* screen.out(printed(answer.text))
    yield* checked(answer, file)
    const { created } = yield* read(AppliedConfiguration, answer)
    if (!person) return
    if (created.length > 0) yield* lines(nounTable(NewSecret, created, { screen, now: 0 }), answer.text)
    yield* screen.say(`Applied.${created.length === 0 ? "" : " Store the secrets now; they are not shown again."}`)
  })
).pipe(
  Command.withDescription("Apply a file with API keys, limits, webhooks and rules"),
  withExamples({
    "rungate apply -f rungate.yaml --dry-run": "Show what would change",
    "rungate apply -f rungate.yaml --yes --prune": "Apply it in CI, and remove what it does not name"
  })
)

const Exported = Schema.Struct({ configuration: Schema.Unknown })

export const exportFile = Command.make(
  "export",
  { output: outputFlag("stdout"), json },
  Effect.fnUntraced(function* ({ output, json }) {
    const screen = yield* Screen
    const answer = yield* call(get, {})
    if (json) yield* screen.out(printed(answer.text))
    const { configuration } = yield* read(Exported, answer)
    if (!json) yield* saveFile(output ?? "-", yamlText(configuration), "the configuration")
  })
).pipe(
  Command.withDescription("Write the file that rungate apply takes"),
  withExamples({ "rungate export -o rungate.yaml": "Save it" })
)
