/** What nobody may see: typed without echo, or read from stdin; never an argument, which every process can read. */
import { Effect, Redacted } from "effect"
import { fail } from "./exits.ts"
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

/** A line of a terminal that is not shown; null at the end of input. Ctrl-C interrupts the command, as ever. */
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
    // First the echo goes, then the question comes: whoever pastes at once must not see the secret either.
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
  if (line === null || line === "") return yield* fail("interrupted", "Nothing was typed; nothing was done.")
  return Redacted.make(line)
})

/** The first line of a file. */
export const fromFile = Effect.fnUntraced(function* (path: string, what: string) {
  const text = yield* Effect.tryPromise(() =>
    Bun.file(path)
      .slice(0, charsMost + 1)
      .text()
  ).pipe(Effect.catch(() => fail("usage", `Can't read ${path}: is it there, and yours to read?`)))
  return yield* firstLine(text, path, what)
})

const firstLine = (text: string, from: string, what: string) => {
  const [line = ""] = text.split(/\r?\n/, 1)
  return line.trim() === "" || line.length > charsMost
    ? fail("usage", `${from} holds no ${what.toLowerCase().replace("api", "API")}.`)
    : Effect.succeed(Redacted.make(line))
}

/** The first line of stdin. On a terminal it is typed without echo. */
export const fromStdin = Effect.fnUntraced(function* (what: string) {
  const screen = yield* Screen
  if (screen.askable) return yield* askHidden(`${what}:`)
  const text = yield* Effect.promise(() => Bun.stdin.text())
  return yield* firstLine(text, "stdin", what)
})
