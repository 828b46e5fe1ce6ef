/**
 * Reads the input of a run: `name=value` and `name:=json` for each member, `-i '{…}'`, `-f file`, or `-` for stdin. JSON is sent unchanged, so
 * long numbers keep their digits.
 */
import { readFileSync } from "node:fs"
import { Effect } from "effect"
import { Argument, Flag } from "effect/cli"
import { bad } from "../terminal/exits.ts"
import { argument, type FlagsOf, text } from "../terminal/flags.ts"

/** The limit of the service. */
const charsMax = 1024 * 1024

export const inputFlags = {
  input: text("input", "the input as JSON, or - to read it from stdin").pipe(Flag.withAlias("i")),
  file: text("file", "a file with the input as JSON, or - for stdin").pipe(Flag.withAlias("f"))
}
export const wordsArgument = argument(
  "name=value",
  "a member of the input: name=text, or name:=json for anything else; or - for stdin"
).pipe(Argument.variadic())

/** A member of the input, as HTTPie writes it. */
const memberForm = /^([A-Za-z_][\w-]*)(:?)=(.*)$/s
export const isMember = (word: string): boolean => memberForm.test(word)

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
    catch: () => bad(`Can't read the file ${path}. Check that it exists and that you may read it.`)
  })

/** The text of a file of any size; `-` reads stdin. */
export const readText = (path: string) => (path === "-" ? Effect.promise(() => Bun.stdin.text()) : readFile(path))

const notMember = (word: string) =>
  bad(
    `Unexpected "${word}": give the input as name=value (name:=json for numbers, lists and objects), with -i '{…}', with -f <file>, or - for stdin.`
  )

const objectOf = Effect.fnUntraced(function* (words: ReadonlyArray<string>) {
  const members = new Map<string, string>()
  for (const word of words) {
    const [, name = "", isJson, value = ""] = memberForm.exec(word) ?? []
    if (name === "") return yield* notMember(word)
    if (members.has(name)) return yield* bad(`The input has ${name} twice. Give it once.`)
    members.set(name, isJson === ":" ? yield* jsonOf(value, `The value of ${name}`) : JSON.stringify(value))
  }
  return `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`
})

/** The input text: from members, inline, from a file, or from stdin. Null when none is given. */
export const textOf = Effect.fnUntraced(function* (
  given: FlagsOf<typeof inputFlags> & { readonly words: ReadonlyArray<string> }
) {
  const { input, file, words } = given
  const ways = [input !== null, file !== null, words.length > 0].filter((given) => given)
  if (ways.length > 1) return yield* bad("Give the input only once: as name=value, with -i, -f or -.")
  const [word] = words
  if (word !== undefined && word !== "-") return yield* objectOf(words)
  if (words.length > 1) return yield* bad("Give the input only once: as name=value, or - for stdin.")
  const named = word ?? input ?? file
  if (named === null) return null
  if (named === "-") return yield* readAll
  return file === null ? named : yield* readFile(named)
})

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : "it can't be read")

/** The trimmed text; fails when it is not JSON. */
export const jsonOf = Effect.fnUntraced(function* (text: string, what: string) {
  if (text.length > charsMax) return yield* bad(`${what} is larger than the limit of 1 MiB.`)
  const trimmed = text.trim().replace(/^\ufeff/, "")
  if (trimmed === "") return yield* bad(`${what} is empty.`)
  yield* Effect.try({
    try: () => void JSON.parse(trimmed),
    catch: (cause) => bad(`${what} is not JSON: ${reasonOf(cause)}`)
  })
  return trimmed
})

/** The input of a run as JSON text. */
export const runInput = Effect.fnUntraced(function* (given: Parameters<typeof textOf>[0]) {
  const text = yield* textOf(given)
  if (text === null) {
    return yield* bad("The input is missing. Give it as name=value, with -i '{…}', with -f <file>, or - for stdin.")
  }
  return yield* jsonOf(text, "The input")
})
