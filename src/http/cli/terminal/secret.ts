/** Reads secrets: typed without echo, from stdin or from a file. Never from an argument, which every process can read. */
import { Effect, Redacted } from "effect"
import { fail, bad } from "./exits.ts"
import { Screen } from "./Screen.ts"

/** Longer than any password or key. */
const charsMost = 4_096

const keysOf = {
  enter: ["\r", "\n"],
  end: "\u0004",
  interrupt: "\u0003",
  erase: ["\u0008", "\u007f"],
  clear: "\u0015"
}

/** Reads a line without echo; null at end of input. Ctrl-C interrupts the command. */
const readHidden = (question: string) =>
  Effect.callback<string | null>((resume) => {
    const { stdin } = process
    let typed: Array<string> = []
    const stop = () => {
      stdin.off("data", onData).off("end", onEnd).pause()
      stdin.setRawMode(false)
    }
    const done = (line: string | null) => {
      stop()
      process.stderr.write("\n")
      resume(Effect.succeed(line))
    }
    const onData = (part: Buffer | string) => {
      for (const letter of String(part)) {
        if (keysOf.enter.includes(letter)) return done(typed.join(""))
        if (letter === keysOf.end) return done(typed.length === 0 ? null : typed.join(""))
        if (letter === keysOf.interrupt) return void process.kill(process.pid, "SIGINT")
        if (letter === keysOf.clear) typed = []
        else if (keysOf.erase.includes(letter)) typed.pop()
        else if (letter >= " " && typed.length < charsMost) typed.push(letter)
      }
    }
    const onEnd = () => done(null)
    // Echo is off before the prompt appears, so a quick paste is hidden too.
    stdin.setRawMode(true)
    process.stderr.write(`${question} `)
    stdin.on("data", onData).on("end", onEnd).resume()
    return Effect.sync(() => {
      stop()
      process.stderr.write("\n")
    })
  })

/** Asks on a terminal. */
export const askHidden = Effect.fnUntraced(function* (question: string) {
  const line = yield* readHidden(question)
  if (line === null || line === "")
    return yield* fail("interrupted", "Cancelled: the input was empty. Nothing was changed.")
  return Redacted.make(line)
})

/** The first line of a file. */
export const fromFile = Effect.fnUntraced(function* (path: string, what: string) {
  const text = yield* Effect.tryPromise(() =>
    Bun.file(path)
      .slice(0, charsMost + 1)
      .text()
  ).pipe(Effect.catch(() => bad(`Can't read ${path}. Check that the file exists and that you may read it.`)))
  return yield* firstLine(text, path, what)
})

const firstLine = (text: string, from: string, what: string) => {
  const [line = ""] = text.split(/\r?\n/, 1)
  return line.trim() === "" || line.length > charsMost
    ? bad(
        `The first line of ${from} must be the ${what.toLowerCase().replace("api", "API")}, at most ${charsMost} characters.`
      )
    : Effect.succeed(Redacted.make(line))
}

/** The first line of stdin. On a terminal it is typed without echo. */
export const fromStdin = Effect.fnUntraced(function* (what: string) {
  const screen = yield* Screen
  if (screen.askable) return yield* askHidden(`${what}:`)
  const text = yield* Effect.promise(() => Bun.stdin.text())
  return yield* firstLine(text, "stdin", what)
})
