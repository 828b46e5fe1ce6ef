/**
 * What ten changes would touch today: the files of `src` that name what such a change is about.
 *
 * `bun test/drills.ts` writes them into docs/architecture.md, "What a change costs". Comments don't count. A file that names something is not
 * always changed, and some changes of a file are one word, so compare a number with what it was and not with another drill's.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface Drill {
  readonly change: string
  /** What the files have in common, in words. */
  readonly example: string
  /** The part of `src` that is looked at; all of it if this is left out. */
  readonly under?: RegExp
  /** Each must be in the file or in its path. */
  readonly names: ReadonlyArray<RegExp>
  /** The number may only fall. */
  readonly most: number
}

export const drills: ReadonlyArray<Drill> = [
  {
    change: "Add a provider",
    example: "files that name `tomba`, which has capabilities and raw endpoints",
    names: [/\btomba\b/i],
    most: 3
  },
  {
    change: "Add a field to the run",
    example: "files that name `routing_reason`",
    names: [/\brouting_reason\b/],
    most: 14
  },
  {
    change: "Count the spend guard's day in another time zone",
    example: "files that name what is spent in a day, and UTC",
    names: [
      /\bspent_(?:day|today)\b|\bcharged_today\b|daily limit|\bdaily:|a day \(UTC\)|\bdayOf\b/,
      /\bUTC\b|\bdayOf\b/
    ],
    most: 9
  },
  {
    change: "Add a command",
    example: "files of the command line that name `rungate senders`",
    under: /^(?:http\/cli\/|main\.ts)/,
    names: [/\bsenders\b/i],
    most: 2
  },
  {
    change: "Add a type of ledger entry",
    example: "files that name `bonus` and another credit",
    names: [/["']bonus["']/, /["'](?:topup|refund)["']/],
    most: 11
  },
  {
    change: "Change how the length of a lease is set",
    example: "files that name `leaseSeconds`, or its setting",
    names: [/\bleaseSeconds\b|\bRUNGATE_LEASE_SECONDS\b/],
    most: 7
  },
  {
    change: "Add a kind of event",
    example: "files that name `topup.failed`",
    names: [/\btopup\.failed\b/],
    most: 5
  },
  {
    change: "Add a page to the console",
    example: "files of the console that name the page of referrals",
    under: /^http\/console\//,
    names: [/["'/]referrals["'/]|\breferrals:/],
    most: 4
  },
  {
    change: "Add a permission of keys",
    example: "files that name `mint` of a key's scope",
    names: [/\bmint\b/],
    most: 14
  },
  {
    change: "Hold another multiple of a raw run's estimate",
    example: "files that name the `headroom` of 1.5",
    names: [/\bheadroom\b|\b1\.5 times\b/],
    most: 2
  }
]

const root = join(import.meta.dir, "..")
export const page = join(root, "docs/architecture.md")

/** A `//` inside a text, such as an address, follows no blank. */
export const withoutComments = (file: string, text: string) =>
  file.endsWith(".sql") || file.endsWith(".yaml")
    ? text.replace(/^\s*(?:--|#).*$/gm, "")
    : text.replace(/\/\*[^]*?\*\//g, "").replace(/(?<=^|\s)\/\/.*$/gm, "")

/** Texts by their path in `src`. */
export type Sources = ReadonlyMap<string, string>

export const sources = (): Sources =>
  new Map(
    Array.from(new Bun.Glob("**/*.{ts,tsx,sql,yaml}").scanSync(join(root, "src")), (file) => [
      file,
      withoutComments(file, readFileSync(join(root, "src", file), "utf8"))
    ])
  )

export const touched = ({ under, names }: Drill, files: Sources): ReadonlyArray<string> =>
  Array.from(files)
    .filter(([file, text]) => (under?.test(file) ?? true) && names.every((name) => name.test(text) || name.test(file)))
    .map(([file]) => file)
    .sort()

const heading = "## What a change costs\n"
const introduction = `
Ten changes, and the files of \`src\` that each touches today. \`bun test/drills.ts\` counts them from the sources and writes this list. \`test/drills.test.ts\` fails when a change touches more files than before.
An example stands for all of its kind: a new provider is named where \`tomba\` is named. A file that is counted is not always changed, so compare a number with what it was.
`
const itemOf = (drill: Drill, files: ReadonlyArray<string>) =>
  `- **${drill.change}**: ${files.length} ${drill.example}. ${files.map((file) => `\`${file}\``).join(", ")}`

/** The page with today's list at its end. */
export const written = (text: string, files: Sources): string => {
  const [before = ""] = text.split(heading)
  const items = drills.map((drill) => itemOf(drill, touched(drill, files)))
  return `${before}${heading}${introduction}\n${items.join("\n")}\n`
}

if (import.meta.main) writeFileSync(page, written(readFileSync(page, "utf8"), sources()))
