/** The pages that people read, and the command blocks in them. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export const root = join(import.meta.dir, "..", "..", "..")

/** Paths from the project's folder. */
export const pages: ReadonlyArray<string> = ["", "docs/", "docs/decisions/"]
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => folder + name))
  .filter((path) => path.endsWith(".md"))
  .sort()

export const pageText = (path: string): string => readFileSync(join(root, path), "utf8")

export interface Block {
  /** The word after `sh`: empty for a block that anybody can run against a sandbox. */
  readonly label: string
  readonly commands: string
  /** The lines of the `text` block below it. */
  readonly shown: ReadonlyArray<string>
  /** The `json` block below it, perhaps after one line of prose. */
  readonly json: string | null
}

const pattern =
  /^```sh *([a-z]*)\n([^]*?)^```\n(?:\n```text\n([^]*?)^```\n)?(?:(?:\n[^\n`#]+\n)?\n```json\n([^]*?)^```\n)?/gm

export const blocksOf = (text: string): ReadonlyArray<Block> =>
  Array.from(text.matchAll(pattern), ([, label = "", commands = "", shown = "", json]) => ({
    label,
    commands,
    shown: shown.split("\n").filter((line) => line !== ""),
    json: json ?? null
  }))
