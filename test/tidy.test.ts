import { afterAll, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, normalize, relative } from "node:path"

/** The arrows of the system: what a folder may import of ours. The most specific line counts. */
const arrows: Readonly<Record<string, ReadonlyArray<string>>> = {
  "http/api": ["http/api", "schema"],
  // Only through the client: what a browser needs of the API, everybody can have.
  "http/console": ["http/console", "http/client"],
  "http/client": ["http/api", "http/client", "schema"],
  "http/cli": ["http/api", "http/client", "http/cli", "http/mcp", "schema"],
  "http/mcp": ["http/api", "http/mcp", "schema"],
  http: ["http", "actors", "layers", "schema"],
  actors: ["actors", "layers", "schema"],
  layers: ["layers", "schema"],
  schema: ["schema"]
}
/** Nouns and pure rules need no driver. */
const schemaPackages = ["effect", "ajv", "ajv-formats", "tldts", "libphonenumber-js", "standardwebhooks"]
/** The console runs in a browser, which has no packages of Bun or Node. */
const consolePackages = [
  "@radix-ui/react-dropdown-menu",
  "@radix-ui/react-tabs",
  "@tanstack/react-query",
  "@tanstack/react-router",
  "@tanstack/react-virtual",
  "cmdk",
  "lucide-react",
  "minisearch",
  "react",
  "react-dom",
  "uplot"
]
/** Nobody need import them. */
const entries = [
  "main.ts",
  "http/client/Rungate.ts",
  "http/console/main.tsx",
  "http/console/docs/docs.ts",
  "http/console/look/theme.ts",
  "layers/postgres/schema/sql.d.ts"
]
/** The top puts the layers together, so it may import everything, and no layer may import it. */
const top = ["main.ts", "App.ts", "serve.ts"]
const linesMax = 400
/** Lines of one function, those of functions inside it not counted: a layer's functions share its scope. */
const functionLinesMax = 70
/** Functions that were longer when the rule came. The number may only fall. */
const longFunctions: Readonly<Record<string, number>> = {
  "layers/audit/equations.ts": 122,
  "layers/search/Postings.ts": 110,
  "layers/catalog/import/manifest.ts": 93,
  "actors/wallet/DecideTurn.ts": 83,
  "actors/Workers.ts": 74
}
/** More files than this are several rooms. */
const filesMax = 25
/** Lists: one file an entry, and an index. */
const lists = ["layers/providers", "layers/postgres/migrations", "layers/postgres/schema", "schema/capabilities"]

/** Where the outside world is read directly; everybody else asks a service. */
const ambient: Readonly<Record<string, ReadonlyArray<string>>> = {
  "layers/platform/Settings.ts": ["process.env"],
  "layers/platform/Ids.ts": ["Date.now"],
  "main.ts": ["process.env", "console"]
}
/** They say that something happened to a value. A name is the noun of what it holds. */
const bannedNames = ["asked", "carriedOut", "found", "known", "made", "spoken", "stillTrue", "told"]
/** A parameter may be what is given; a constant is named after what it holds. */
const bannedConstant = /\b(?:const|let) given\b/
/** Names of columns, of stored JSON and of operations, which can't change; and folders that still have others. */
const oldNames = [
  "actors/guards/RawResults.ts",
  "http/handlers/accounts/Authorization.ts",
  "layers/allowances/AllowanceStore.ts",
  "schema/guards/Reuse.ts"
]
/** `// justified: <why>` on the line lifts these, because now and then a library's types leave no other way. */
const justifiable = ["a cast", "the type any", "a non-null assertion"]

const rules: Readonly<Record<string, (message: string) => string>> = {
  "typescript(consistent-type-assertions)": () => "a cast",
  "typescript(no-explicit-any)": () => "the type any",
  "typescript(no-non-null-assertion)": () => "a non-null assertion",
  "eslint(no-console)": () => "console",
  "node(no-process-env)": () => "process.env",
  "eslint(no-restricted-properties)": (message) => /'([\w.]+)'/.exec(message)?.[1] ?? message
}
const properties = [
  { object: "Date", property: "now" },
  { object: "Bun", property: "env" }
]
const lint = {
  plugins: ["typescript", "node"],
  categories: { correctness: "off" },
  rules: {
    "typescript/consistent-type-assertions": ["error", { assertionStyle: "never" }],
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "no-console": "error",
    "node/no-process-env": "error",
    "no-restricted-properties": ["error", ...properties],
    "id-denylist": ["error", ...bannedNames],
    "max-lines-per-function": ["error", { max: 1, skipComments: false, skipBlankLines: false, IIFEs: true }]
  }
}

const folders: Array<string> = []
const newFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "rungate-tidy-"))
  folders.push(path)
  return path
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const scanner = (loader: "ts" | "tsx") =>
  new Bun.Transpiler({
    loader,
    tsconfig: JSON.stringify({ compilerOptions: { verbatimModuleSyntax: true } }),
    trimUnusedImports: false
  })
const scanners = { ts: scanner("ts"), tsx: scanner("tsx") }

/** Types count: an arrow that only a type takes is still an arrow. The scanner drops them, so they become values first. */
/** SQL imports nothing. */
const importsOf = (file: string, text: string) =>
  scanners[file.endsWith("x") ? "tsx" : "ts"].scanImports(
    (file.endsWith(".sql") ? "" : text)
      .replace(/^import type\b/gm, "import")
      .replace(/^export type(?= *[{*])/gm, "export")
      .replace(/([{,]\s*)type (?=[\w$]+(?: as [\w$]+)?\s*[,}])/g, "$1")
  )

const layerOf = (file: string) =>
  Object.keys(arrows)
    .filter((folder) => file.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)[0]

const packageOf = (path: string) => /^(@[^/]+\/[^/]+|[^/]+)/.exec(path)?.[0] ?? path

interface Finding {
  readonly message: string
  readonly code: string
  readonly filename: string
  readonly labels: ReadonlyArray<{
    readonly span: { readonly line: number; readonly offset: number; readonly length: number }
  }>
}

/** The linter reads the syntax tree, so words in strings and comments are no findings. */
const findings = (root: string): ReadonlyArray<Finding> => {
  const config = join(newFolder(), "lint.json")
  writeFileSync(config, JSON.stringify(lint))
  const oxlint = join(import.meta.dir, "..", "node_modules", ".bin", "oxlint")
  // A file, because the linter may end before a pipe has taken all of a long report.
  const report = join(newFolder(), "report.json")
  const { stderr } = Bun.spawnSync([process.execPath, oxlint, "-c", config, "--no-ignore", "--format=json", "."], {
    cwd: root,
    stdout: Bun.file(report)
  })
  const text = readFileSync(report, "utf8")
  try {
    return JSON.parse(text).diagnostics
  } catch {
    throw new Error(`oxlint did not answer: ${text}${stderr}`)
  }
}

const folderOf = (file: string) => (file.includes("/") ? dirname(file) : "the top")

/** Folders or files that import each other, directly or through others: each circle in the order of the alphabet. */
const circles = (arrows: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyArray<string> => {
  const reach = (from: string) => {
    const seen = new Set<string>()
    const next = [...(arrows.get(from) ?? [])]
    for (let folder = next.pop(); folder !== undefined; folder = next.pop()) {
      if (seen.has(folder)) continue
      seen.add(folder)
      next.push(...(arrows.get(folder) ?? []))
    }
    return seen
  }
  const reached = new Map([...arrows.keys()].map((folder) => [folder, reach(folder)]))
  const circleOf = (folder: string) =>
    [...reached].flatMap(([other, seen]) => (seen.has(folder) && reached.get(folder)?.has(other) ? [other] : []))
  return [...new Set([...arrows.keys()].map((folder) => circleOf(folder).sort().join(", ")))].filter(
    (one) => one !== ""
  )
}

interface Span {
  readonly first: number
  readonly last: number
}

/** The most lines that one function of a file has, those of functions inside it not counted. */
const longest = (spans: ReadonlyArray<Span>): number => {
  const inside = (outer: Span) =>
    spans.filter((one) => one !== outer && one.first >= outer.first && one.last <= outer.last)
  const own = (one: Span) => {
    const inner = new Set<number>()
    for (const { first, last } of inside(one)) for (let line = first + 1; line <= last; line++) inner.add(line)
    return one.last - one.first + 1 - inner.size
  }
  return Math.max(0, ...spans.filter(({ first, last }) => last - first >= functionLinesMax).map(own))
}

/** Every way in which a source tree breaks the rules; `also` are folders whose imports keep its files alive. */
const tidy = async (root: string, also: ReadonlyArray<string> = []) => {
  const problems = new Set<string>()
  const files = Array.from(new Bun.Glob("**/*.{ts,tsx,sql}").scanSync(root)).sort()
  const imported = new Set<string>()
  const between = { folders: new Map<string, Set<string>>(), files: new Map<string, Set<string>>() }
  const connect = (kind: keyof typeof between, from: string, to: string) => {
    if (from !== to) between[kind].set(from, (between[kind].get(from) ?? new Set()).add(to))
  }
  for (const [folder, { length }] of Map.groupBy(files, folderOf))
    if (length > filesMax && !lists.includes(folder))
      problems.add(`${folder}: has ${length} files; ${filesMax} at most`)
  for (const folder of also) {
    for (const file of new Bun.Glob("**/*.ts").scanSync(folder)) {
      for (const { path } of importsOf(file, readFileSync(join(folder, file), "utf8"))) {
        imported.add(relative(root, join(folder, dirname(file), path)))
      }
    }
  }
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]))
  for (const [file, text] of texts) {
    const layer = layerOf(file)
    const atTop = top.includes(file)
    if (!(file.endsWith(".sql") ? /^-- \S/ : /^(#!.*\n)?\/\*\*/).test(text)) problems.add(`${file}: no module header`)
    if (text.trimEnd().split("\n").length > linesMax) problems.add(`${file}: longer than ${linesMax} lines`)
    if (/(ox|es)lint-disable/.test(text)) problems.add(`${file}: turns the linter off`)
    if (bannedConstant.test(text)) problems.add(`${file}: has a constant named given; name it after what it holds`)
    // `sql<Row>` only claims a type, which layers/postgres/Rows.ts checks.
    const claimed = text.split(/\bsql</).length - 1
    if (claimed > 0) problems.add(`${file}: ${claimed} of sql<…> claim a row type; check it with rowsOf`)
    if (layer === undefined && !atTop) problems.add(`${file}: belongs into one of ${Object.keys(arrows).join(", ")}`)
    for (const { path } of importsOf(file, text)) {
      if (path.startsWith(".")) {
        const target = normalize(join(dirname(file), path))
        imported.add(target)
        // The facts of the package, such as its version, are above all layers.
        if (target === "../package.json") continue
        const allowed = layer === undefined || arrows[layer]?.some((folder) => target.startsWith(`${folder}/`))
        if (!allowed) problems.add(`${file}: ${layer} must not import ${target}`)
        else if (texts.has(target)) {
          connect("folders", folderOf(file), folderOf(target))
          connect("files", file, target)
        }
      } else if (layer === "schema" && !schemaPackages.includes(packageOf(path))) {
        problems.add(`${file}: schema must not import ${path}`)
      } else if (layer === "http/console" && !consolePackages.includes(packageOf(path))) {
        problems.add(`${file}: the console must not import ${path}`)
      }
    }
  }
  for (const [kind, arrows] of Object.entries(between))
    for (const circle of circles(arrows)) problems.add(`${kind} import each other in a circle: ${circle}`)
  for (const file of files) {
    if (!entries.includes(file) && !imported.has(file)) problems.add(`${file}: nothing imports it`)
  }
  const functions = new Map<string, Array<Span>>()
  for (const { code, message, filename, labels } of findings(root)) {
    const file = normalize(filename)
    if (code === "eslint(max-lines-per-function)") {
      const { offset, length } = labels[0]?.span ?? { offset: 0, length: 0 }
      const bytes = Buffer.from(texts.get(file) ?? "")
      const lineAt = (at: number) => bytes.subarray(0, at).toString().split("\n").length
      functions.set(file, [...(functions.get(file) ?? []), { first: lineAt(offset), last: lineAt(offset + length) }])
      continue
    }
    if (code === "eslint(id-denylist)" && oldNames.some((path) => file.startsWith(path))) continue
    const what = rules[code]?.(message) ?? message
    const span = labels[0]?.span ?? { line: 1, offset: 0, length: 0 }
    if (ambient[file]?.includes(what)) continue
    // The finding's own lines: the comment stands at the end of one of them. Offsets count bytes.
    const bytes = Buffer.from(texts.get(file) ?? "")
    const end = bytes.indexOf("\n", span.offset + span.length)
    const begin = bytes.lastIndexOf("\n", span.offset) + 1
    const lines = bytes.subarray(begin, end < 0 ? undefined : end).toString()
    if (justifiable.includes(what) && /\/\/ justified: \S/.test(lines)) continue
    problems.add(`${file}:${span.line}: ${what}`)
  }
  for (const [file, spans] of functions) {
    const lines = longest(spans)
    const most = longFunctions[file] ?? functionLinesMax
    if (lines > most) problems.add(`${file}: a function has ${lines} lines of its own; ${most} at most`)
    if (longFunctions[file] !== undefined && lines < most)
      problems.add(`${file}: longFunctions lists ${most} lines: lower it to ${lines}`)
  }
  return Array.from(problems)
}

const put = (root: string, path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** A tidy tree of four layers, plus the files of a test. */
const tree = (files: Readonly<Record<string, string>>) => {
  const root = newFolder()
  const sound = {
    "main.ts": '/** Entry. */\nimport { run } from "./http/Runs.ts"\nrun()\n',
    "http/Runs.ts": '/** Doors. */\nimport { tell } from "../actors/Run.ts"\nexport const run = () => tell\n',
    "actors/Run.ts": '/** Decides. */\nimport { Ledger } from "../layers/Ledger.ts"\nexport const tell = Ledger\n',
    "layers/Ledger.ts": '/** Keeps. */\nimport type { Usd } from "../schema/Usd.ts"\nexport const Ledger: Usd = 1n\n',
    "schema/Usd.ts":
      '/** Noun. */\nimport { Brand } from "effect"\nexport type Usd = bigint\nexport const usd = Brand\n'
  }
  for (const [path, text] of Object.entries({ ...sound, ...files })) put(root, path, text)
  return root
}

describe("tidy", () => {
  const source = join(import.meta.dir, "..", "src")

  test("the sources keep the rules", async () => {
    expect(await tidy(source, [join(import.meta.dir, "..", "scripts")])).toEqual([])
  })

  test("package-lock.json knows every platform's packages, or npm ci refuses it", () => {
    const { packages } = JSON.parse(readFileSync(join(source, "..", "package-lock.json"), "utf8"))
    const missing = Object.values<{ optionalDependencies?: Record<string, string> }>(packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => packages[`node_modules/${name}`] === undefined)
    expect(missing).toEqual([])
  })
})

describe("tidy finds", () => {
  const used = (name: string) => ({ "main.ts": `/** Entry. */\nimport "./${name}"\nimport "./http/Runs.ts"\n` })
  const cases: ReadonlyArray<readonly [string, Record<string, string>, ReadonlyArray<string>]> = [
    ["nothing in a sound tree", {}, []],
    [
      "a backwards import",
      {
        "actors/Run.ts":
          '/** A. */\nimport "../layers/Ledger.ts"\nimport { run } from "../http/Runs.ts"\nexport const tell = run\n'
      },
      ["actors/Run.ts: actors must not import http/Runs.ts"]
    ],
    [
      "a backwards import of a type",
      {
        "schema/Usd.ts": '/** Noun. */\nimport type { Ledger } from "../layers/Ledger.ts"\nexport type Usd = Ledger\n'
      },
      ["schema/Usd.ts: schema must not import layers/Ledger.ts"]
    ],
    [
      "a backwards import of an inline type",
      {
        "layers/Ledger.ts":
          '/** L. */\nimport { type A, type B as C } from "../actors/Run.ts"\nexport type { Usd } from "../schema/Usd.ts"\n'
      },
      ["layers/Ledger.ts: layers must not import actors/Run.ts"]
    ],
    [
      "a backwards re-export and a backwards dynamic import",
      {
        "schema/Usd.ts": '/** N. */\nexport * from "../layers/Ledger.ts"\n',
        "layers/Ledger.ts":
          '/** L. */\nimport "../schema/Usd.ts"\nexport const later = () => import("../http/Runs.ts")\n'
      },
      [
        "layers/Ledger.ts: layers must not import http/Runs.ts",
        "schema/Usd.ts: schema must not import layers/Ledger.ts"
      ]
    ],
    [
      "a contract that drags the server in, and a client that drags in a layer",
      {
        ...used("http/api/Api.ts"),
        "http/api/Api.ts":
          '/** Contract. */\nimport "../client/Client.ts"\nimport "../Runs.ts"\nimport "../../schema/Usd.ts"\n',
        "http/client/Client.ts": '/** Client. */\nimport "../../layers/Ledger.ts"\n'
      },
      [
        "http/api/Api.ts: http/api must not import http/client/Client.ts",
        "http/api/Api.ts: http/api must not import http/Runs.ts",
        "http/client/Client.ts: http/client must not import layers/Ledger.ts"
      ]
    ],
    [
      "folders that import each other, also by way of a third one",
      {
        "layers/Ledger.ts": '/** L. */\nimport "./a/A.ts"\nimport "../schema/Usd.ts"\nexport const Ledger = 1\n',
        "layers/a/A.ts": '/** A. */\nimport "../b/B.ts"\n',
        "layers/b/B.ts": '/** B. */\nimport type { C } from "../c/C.ts"\n',
        "layers/c/C.ts": '/** C. */\nimport "../a/A.ts"\nexport type C = 1\n'
      },
      [
        "files import each other in a circle: layers/a/A.ts, layers/b/B.ts, layers/c/C.ts",
        "folders import each other in a circle: layers/a, layers/b, layers/c"
      ]
    ],
    [
      "files of one folder that import each other, for a type alone",
      {
        "layers/Ledger.ts":
          '/** L. */\nimport type { Row } from "./Rows.ts"\nimport "../schema/Usd.ts"\nexport type Ledger = Row\n',
        "layers/Rows.ts": '/** R. */\nimport { type Ledger } from "./Ledger.ts"\nexport type Row = Ledger\n'
      },
      ["files import each other in a circle: layers/Ledger.ts, layers/Rows.ts"]
    ],
    [
      "a folder with too many files, unless it is a list",
      {
        "main.ts":
          '/** Entry. */\nimport "./layers/F0.ts"\nimport "./layers/providers/F0.ts"\nimport "./http/Runs.ts"\n',
        ...Object.fromEntries(
          ["layers", "layers/providers"].flatMap((folder) =>
            Array.from({ length: filesMax + 1 }, (_, n) => [
              `${folder}/F${n}.ts`,
              `/** F. */\n${n === filesMax ? "" : `import "./F${n + 1}.ts"\n`}`
            ])
          )
        )
      },
      ["layers: has 27 files; 25 at most"]
    ],
    [
      "a driver in a noun",
      {
        "schema/Usd.ts":
          '/** N. */\nimport { Client } from "pg"\nimport "node:fs"\nimport "effect/Schema"\nimport "ajv/dist/2020.js"\nexport type Usd = Client\n'
      },
      ["schema/Usd.ts: schema must not import pg", "schema/Usd.ts: schema must not import node:fs"]
    ],
    ["a missing header", { "schema/Usd.ts": "export type Usd = bigint\n" }, ["schema/Usd.ts: no module header"]],
    [
      "a file that is too long",
      { "schema/Usd.ts": `/** N. */\nexport type Usd = bigint\n${"// line\n".repeat(linesMax - 1)}` },
      ["schema/Usd.ts: longer than 400 lines"]
    ],
    [
      "a function that is too long, and not one that holds others",
      {
        "schema/Usd.ts": `/** N. */\nexport type Usd = bigint\nexport const long = () => {\n${"  long()\n".repeat(functionLinesMax)}}\n`,
        "actors/Run.ts": `/** A. */\nimport { Ledger } from "../layers/Ledger.ts"\nexport const tell = () => {\n${[1, 2].map((n) => `  const part${n} = () => {\n${"    Ledger\n".repeat(60)}  }\n`).join("")}}\n`
      },
      ["schema/Usd.ts: a function has 72 lines of its own; 70 at most"]
    ],
    [
      "SQL without a header, and SQL that nothing imports",
      {
        "layers/Ledger.ts":
          '/** L. */\nimport "../schema/Usd.ts"\nimport text from "./a.sql" with { type: "text" }\nexport const Ledger = text\n',
        "layers/a.sql": "SELECT 1;\n",
        "layers/b.sql": "-- B.\nSELECT 1;\n"
      },
      ["layers/a.sql: no module header", "layers/b.sql: nothing imports it"]
    ],
    ["a dead file", { "schema/Dead.ts": "/** D. */\nexport const dead = 1\n" }, ["schema/Dead.ts: nothing imports it"]],
    [
      "a file outside the layers",
      { ...used("utils.ts"), "utils.ts": "/** U. */\nexport const x = 1\n" },
      [
        "utils.ts: belongs into one of http/api, http/console, http/client, http/cli, http/mcp, http, actors, layers, schema"
      ]
    ],
    [
      "casts, but not const, renames, strings or comments",
      {
        "layers/Ledger.ts": [
          '/** L: as any! */\nimport { usd as money } from "../schema/Usd.ts"',
          'export const kinds = ["a as string", `b!`] as const // as any',
          "export const Ledger = money satisfies object",
          "export { money as other }",
          "export const wrong = Ledger as unknown"
        ].join("\n")
      },
      ["layers/Ledger.ts:6: a cast"]
    ],
    [
      "any and non-null assertions",
      {
        "layers/Ledger.ts":
          '/** L. */\nimport "../schema/Usd.ts"\nexport const f = (x: any) => x\nexport const Ledger = (y?: string) => y!.length !== 1\n'
      },
      ["layers/Ledger.ts:3: the type any", "layers/Ledger.ts:4: a non-null assertion"]
    ],
    [
      "casts without a reason, while a justified one passes",
      {
        "layers/Ledger.ts": [
          '/** Größe. */\nimport "../schema/Usd.ts"',
          "export const a = 1 as number // justified: the driver's types say string",
          "export const b = {\n  c: 1\n} as object // justified: likewise, over several lines",
          "export const Ledger = 1 as number // justified:"
        ].join("\n")
      },
      ["layers/Ledger.ts:7: a cast"]
    ],
    [
      "reads of the environment, the clock and the console",
      {
        "layers/Ledger.ts":
          '/** L. */\nimport "../schema/Usd.ts"\nexport const Ledger = [process.env.A, Bun.env.B, Date.now()] // justified: no\nconsole.log("process.env")\n',
        "layers/platform/Settings.ts": "/** S. */\nexport const settings = process.env\n",
        "layers/platform/Ids.ts":
          '/** I. */\nimport "./Settings.ts"\nimport "./Ids.ts"\nexport const settings = process.env\nDate.now()\n'
      },
      [
        "layers/platform/Ids.ts:4: process.env",
        "layers/Ledger.ts:3: process.env",
        "layers/Ledger.ts:3: Bun.env",
        "layers/Ledger.ts:3: Date.now",
        "layers/Ledger.ts:4: console"
      ]
    ],
    [
      "names that say what happened to a value, except where a stored field has one",
      {
        "layers/Ledger.ts":
          '/** L. */\nimport "../schema/Usd.ts"\nconst found = 1\nexport const Ledger = (asked: string) => asked.at(found)\n',
        "schema/guards/Reuse.ts": "/** O. */\nexport const made = 1\n",
        ...used("schema/guards/Reuse.ts")
      },
      ["layers/Ledger.ts:3: Identifier 'found' is restricted.", "layers/Ledger.ts:4: Identifier 'asked' is restricted."]
    ],
    [
      "a constant named given, and not a parameter",
      {
        "schema/Usd.ts":
          "/** N. */\nexport type Usd = bigint\nexport const usd = (given: Usd) => given\nconst given = 1n\nusd(given)\n"
      },
      ["schema/Usd.ts: has a constant named given; name it after what it holds"]
    ],
    [
      "a linter that is told to look away",
      { "schema/Usd.ts": "/** N. */\n// oxlint-disable-next-line\nexport type Usd = bigint\n" },
      ["schema/Usd.ts: turns the linter off"]
    ]
  ]
  for (const [name, files, problems] of cases) {
    test(name, async () => expect((await tidy(tree(files))).sort()).toEqual([...problems].sort()))
  }

  test("row types that nobody checks", async () => {
    const statement = "export const Ledger = (sql: <A>(text: TemplateStringsArray) => A) => sql<{ a: 1 }>`SELECT 1`\n"
    const root = tree({ "layers/Ledger.ts": `/** L. */\nimport "../schema/Usd.ts"\n${statement}` })
    expect(await tidy(root)).toEqual(["layers/Ledger.ts: 1 of sql<…> claim a row type; check it with rowsOf"])
  })

  test("files that only a script imports are alive", async () => {
    const root = tree({ "layers/catalog/import/openapi/index.ts": "/** O. */\nexport const openapi = 1\n" })
    const scripts = newFolder()
    const path = relative(scripts, join(root, "layers/catalog/import/openapi/index.ts"))
    put(scripts, "import.ts", `import { openapi } from "${path}"\nopenapi()\n`)
    expect(existsSync(join(scripts, path))).toBe(true)
    expect(await tidy(root)).toEqual(["layers/catalog/import/openapi/index.ts: nothing imports it"])
    expect(await tidy(root, [scripts])).toEqual([])
  })
})
