/**
 * The terminal. Data goes to stdout and everything else to stderr. Colors and questions appear only on a terminal.
 *
 * A closed pipe (`| head -1`) is not an error: later output is dropped and the exit code stays the same.
 */
import { Config, Context, Effect, Layer, Stdio, Terminal } from "effect"
import { NoColor, NoInput, Quiet } from "./globals.ts"
import { harmless, harmlessLines } from "./text.ts"

/** Used when the terminal reports no width. */
const widthDefault = 80
const widthMin = 40

const styles = { bold: "1", dim: "2", red: "31", green: "32", yellow: "33", cyan: "36" } as const
export type Style = keyof typeof styles

export interface ScreenShape {
  /** stdout is a terminal: print tables instead of JSON. */
  readonly person: boolean
  /** The user can answer questions: stdin and stderr are terminals, and neither --no-input nor CI is set. */
  readonly askable: boolean
  /** stderr may show a status line that is overwritten. */
  readonly animated: boolean
  readonly width: number
  readonly paint: (style: Style, text: string) => string
  /** Writes data unchanged. Completes when it is written. */
  readonly out: (text: string) => Effect.Effect<void>
  /** The reader of stdout has closed the pipe. */
  readonly closed: () => boolean
  /** --quiet: print data as JSON, and only warnings and errors on stderr. */
  readonly quiet: boolean
  /** A sentence on stderr; --quiet leaves it out. */
  readonly say: (text: string, style?: Style) => Effect.Effect<void>
  /** A warning on stderr; --quiet keeps it. */
  readonly warn: (text: string, style?: Style) => Effect.Effect<void>
  /** A line on stderr that the next one overwrites; "" removes it. */
  readonly status: (text: string) => Effect.Effect<void>
  /** Reads one line without its newline; null at end of input. */
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
  // Without a listener, a closed pipe would crash the process.
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
