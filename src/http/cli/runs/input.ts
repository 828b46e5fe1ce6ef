/** Reads the input of a run: `-i '{…}'`, `-f file`, or `-` for stdin. The text is sent unchanged, so long numbers keep their digits. */
import { readFileSync } from "node:fs"
import { Effect, Option } from "effect"
import { Argument, Flag } from "effect/cli"
import { fail } from "../terminal/exits.ts"

/** The limit of the service. */
const charsMax = 1024 * 1024

export const inputFlags = {
  input: Flag.String("input").pipe(
    Flag.withAlias("i"),
    Flag.withDescription("the input as JSON, or - to read it from stdin"),
    Flag.optional
  ),
  file: Flag.String("file").pipe(
    Flag.withAlias("f"),
    Flag.withDescription("a file with the input as JSON, or - for stdin"),
    Flag.optional
  )
}
export const stdinArgument = Argument.String("-").pipe(
  Argument.withDescription("read the input from stdin"),
  Argument.optional
)

const readAll = Effect.callback<string>((resume) => {
  const parts: Array<Buffer> = []
  let size = 0
  const done = () => resume(Effect.succeed(Buffer.concat(parts).toString("utf8")))
  process.stdin.on("data", (part: Buffer) => {
    size += part.length
    if (size <= charsMax * 4) parts.push(Buffer.from(part))
  })
  process.stdin.on("end", done).on("error", done).resume()
  return Effect.sync(() => void process.stdin.pause())
})

const readFile = (path: string) =>
  Effect.try({
    try: () => readFileSync(path, "utf8"),
    catch: () => fail("usage", `Can't read the file ${path}. Check that it exists and that you may read it.`)
  })

/** The text of a file of any size; `-` reads stdin. */
export const readText = (path: string) => (path === "-" ? Effect.promise(() => Bun.stdin.text()) : readFile(path))

/** The input text: inline, from a file, or from stdin. Null when none is given. */
export const textOf = Effect.fnUntraced(function* (given: {
  readonly input: Option.Option<string>
  readonly file: Option.Option<string>
  readonly stdin?: Option.Option<string>
}) {
  const { input, file, stdin = Option.none() } = given
  if ([input, file, stdin].filter(Option.isSome).length > 1)
    return yield* fail("usage", "Give the input only once: with -i, -f or -.")
  if (Option.isSome(stdin) && stdin.value !== "-")
    return yield* fail("usage", `Unexpected "${stdin.value}": give the input with -i '{…}', -f <file>, or - for stdin.`)
  const named = Option.getOrNull(Option.orElse(input, () => Option.orElse(file, () => stdin)))
  if (named === null) return null
  if (named === "-") return yield* readAll
  return Option.isSome(file) ? yield* readFile(named) : named
})

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : "it can't be read")

/** The trimmed text; fails when it is not JSON. */
export const jsonOf = Effect.fnUntraced(function* (text: string, what: string) {
  if (text.length > charsMax) return yield* fail("usage", `${what} is larger than the limit of 1 MiB.`)
  const trimmed = text.trim().replace(/^\ufeff/, "")
  if (trimmed === "") return yield* fail("usage", `${what} is empty.`)
  yield* Effect.try({
    try: () => void JSON.parse(trimmed),
    catch: (cause) => fail("usage", `${what} is not JSON: ${reasonOf(cause)}`)
  })
  return trimmed
})

/** The input of a run as JSON text. */
export const runInput = Effect.fnUntraced(function* (given: Parameters<typeof textOf>[0]) {
  const text = yield* textOf(given)
  if (text === null) {
    return yield* fail("usage", "The input is missing. Give it with -i '{…}', -f <file>, or - for stdin.")
  }
  return yield* jsonOf(text, "The input")
})
