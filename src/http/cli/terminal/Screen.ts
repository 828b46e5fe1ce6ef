/**
 * What the user sees: data on stdout, everything else on stderr, colors and questions only where a person looks.
 *
 * A reader that goes away (`| head -1`) is no error: what is written after that is dropped, and the command ends as it would have.
 */
import { Config, Context, Effect, Layer, Stdio, Terminal } from "effect"
import { NoColor, NoInput, Quiet } from "./globals.ts"
import { harmless, harmlessLines } from "./text.ts"

/** Wide enough for a table when the terminal does not say. */
const widthDefault = 80
const widthMin = 40

const styles = { bold: "1", dim: "2", red: "31", green: "32", yellow: "33", cyan: "36" } as const
export type Style = keyof typeof styles

export interface ScreenShape {
  /** Somebody reads stdout on a terminal: tables instead of JSON. */
  readonly person: boolean
  /** Somebody can be asked: stdin and stderr are a terminal, and neither --no-input nor CI says otherwise. */
  readonly askable: boolean
  /** A line that is written over and over may stand on stderr. */
  readonly animated: boolean
  readonly width: number
  readonly paint: (style: Style, text: string) => string
  /** Data, as it is. Resolves when it is written. */
  readonly out: (text: string) => Effect.Effect<void>
  /** The reader of stdout is gone. */
  readonly closed: () => boolean
  /** Data as JSON, and no sentence that a user can do without. */
  readonly quiet: boolean
  /** A sentence on stderr; --quiet leaves it out. */
  readonly say: (text: string, style?: Style) => Effect.Effect<void>
  /** A sentence on stderr that one must know, with --quiet too. */
  readonly warn: (text: string, style?: Style) => Effect.Effect<void>
  /** A line on stderr that the next one overwrites; "" removes it. */
  readonly status: (text: string) => Effect.Effect<void>
  /** The line that the user types, without its end; null at the end of input. */
  readonly ask: (question: string) => Effect.Effect<string | null>
}

const isSet = (value: string) => value !== ""
const isForcing = (value: string) => isSet(value) && value !== "0" && value.toLowerCase() !== "false"

const variable = (name: string) => Config.String(name).pipe(Config.withDefault(""), Effect.orDie)

const readLine = Effect.callback<string | null>((resume) => {
  let text = ""
  const { stdin } = process
  const done = (line: string | null) => {
    stdin.off("data", onData).off("end", onEnd).pause()
    resume(Effect.succeed(line))
  }
  const onData = (part: Buffer | string) => {
    text += String(part)
    const end = text.indexOf("\n")
    if (end >= 0) done(text.slice(0, end).replace(/\r$/, ""))
  }
  const onEnd = () => done(null)
  stdin.on("data", onData).on("end", onEnd).resume()
  return Effect.sync(() => void stdin.off("data", onData).off("end", onEnd).pause())
})

const writer = (stream: NodeJS.WriteStream) => {
  let gone = false
  // Without a listener a reader that went away would be a crash.
  stream.on("error", () => {
    gone = true
  })
  const write = (text: string) =>
    Effect.callback<void>((resume) => {
      if (gone || text === "") return resume(Effect.void)
      stream.write(text, (error) => {
        gone ||= error instanceof Error
        resume(Effect.void)
      })
    })
  return { write, gone: () => gone }
}

export class Screen extends Context.Service<Screen, ScreenShape>()("rungate/http/cli/terminal/Screen") {
  static readonly layer = Layer.effect(
    Screen,
    Effect.gen(function* () {
      const stdio = yield* Stdio.Stdio
      const terminal = yield* Terminal.Terminal
      const columns = yield* terminal.columns
      const [term, noColor, forceColor, ci] = yield* Effect.all([
        variable("TERM"),
        variable("NO_COLOR"),
        variable("FORCE_COLOR"),
        variable("CI")
      ])
      const person = yield* stdio.stdoutIsTerminal
      const stdinIsTerminal = yield* stdio.stdinIsTerminal
      const stderrIsTerminal = yield* stdio.stderrIsTerminal
      const plain = (yield* NoColor) || isSet(noColor) || term === "dumb"
      const painting = (terminal: boolean) => (style: Style, text: string) =>
        !plain && (isForcing(forceColor) || terminal) ? `\u001b[${styles[style]}m${text}\u001b[0m` : text
      const paintError = painting(stderrIsTerminal)
      const quiet = yield* Quiet
      const animated = !quiet && stderrIsTerminal && term !== "dumb" && !isForcing(ci)
      const out = writer(process.stdout)
      const err = writer(process.stderr)
      let standing = false
      const clear = () => {
        const code = standing ? "\r\u001b[K" : ""
        standing = false
        return code
      }
      const warn = (text: string, style?: Style) =>
        Effect.suspend(() => {
          const safe = harmlessLines(text)
          return err.write(`${clear()}${style === undefined ? safe : paintError(style, safe)}\n`)
        })
      return Screen.of({
        person,
        quiet,
        askable: stdinIsTerminal && stderrIsTerminal && !(yield* NoInput) && !isForcing(ci),
        animated,
        width: columns > 0 ? Math.max(widthMin, columns) : widthDefault,
        paint: painting(person),
        out: (text) => out.write(text),
        closed: out.gone,
        say: (text, style) => (quiet ? Effect.void : warn(text, style)),
        warn,
        status: (text) =>
          Effect.suspend(() => {
            if (!animated) return Effect.void
            const before = clear()
            standing = text !== ""
            return err.write(`${before}${harmless(text)}`)
          }),
        ask: (question) =>
          Effect.andThen(
            Effect.suspend(() => err.write(`${clear()}${harmlessLines(question)} `)),
            readLine
          )
      })
    })
  )
}
