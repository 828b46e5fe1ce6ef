/**
 * Sentences of the API as a person at a terminal reads them: with commands in the place of requests, and flags in the place of fields.
 *
 * The answer itself says which command does what a request does. The body that `--json` prints stays unchanged.
 */
import type { CommandHint, Hinted } from "../../../schema/Hints.ts"

type Replacement = readonly [from: string, to: string]

/** The flags of `rungate run` for fields of its request. */
const flags: ReadonlyArray<Replacement> = [
  ["routing.allow_fallback is false", "--no-fallback is set"],
  ["routing.max_cost", "--max-cost"],
  ["routing.max_total", "--max-total"],
  ["routing.provider", "--provider"],
  ["routing.strategy", "--strategy"]
]

/** Looks for each replacement only in what the earlier ones left. */
const replaced = (text: string, [first, ...rest]: ReadonlyArray<Replacement>): string =>
  first === undefined
    ? text
    : text
        .split(first[0])
        .map((part) => replaced(part, rest))
        .join(first[1])

/** A command stands in backticks, except where nothing but it follows a colon. */
export const inCommands = (sentence: string, commands: ReadonlyArray<CommandHint> = []): string => {
  const last = commands.find(({ http }) => sentence.endsWith(`: ${http}`))
  const text = last === undefined ? sentence : sentence.slice(0, -last.http.length)
  // One request may be the beginning of another one.
  const longestFirst = commands.toSorted((a, b) => b.http.length - a.http.length)
  const replacements = longestFirst.map(({ http, cli }): Replacement => [http, `\`${cli}\``])
  return replaced(text, [...replacements, ...flags]) + (last?.cli ?? "")
}

/** A hint that has the command already would say it twice. */
export const cliHints = ({ hints, commands = [] }: Hinted): ReadonlyArray<string> =>
  hints.filter((hint) => !commands.some(({ cli }) => hint.includes(cli))).map((hint) => inCommands(hint, commands))
