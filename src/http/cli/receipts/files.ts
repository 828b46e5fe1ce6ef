/** Saves receipts, keys and ledger heads in files. */
import { writeFileSync } from "node:fs"
import { Effect } from "effect"
import { failedWith } from "../terminal/exits.ts"
import { text } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"
import { Flag } from "effect/cli"

export const outputFlag = (fallback: string) =>
  text("output", `the file to write, or - for stdout; default: ${fallback}`).pipe(Flag.withAlias("o"))

/** Writes a file and says so; `-` is stdout. */
export const saveFile = Effect.fnUntraced(function* (path: string, content: string, what: string) {
  const screen = yield* Screen
  const ended = content.endsWith("\n") ? content : `${content}\n`
  if (path === "-") return yield* screen.out(ended)
  yield* Effect.try({
    try: () => writeFileSync(path, ended),
    catch: () => failedWith(`Can't write ${path}. Name another file with -o.`)
  })
  yield* screen.say(`Saved ${what} in ${path}.`)
})
