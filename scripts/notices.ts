/**
 * `bun scripts/notices.ts`: writes dist/THIRD_PARTY_NOTICES, the licences of the npm packages that the bundles in dist contain.
 *
 * It names every package that package.json's dependencies need, at the version that is installed here, and those that the web console is
 * made of, which are needed for building only.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dir, "..")

interface Package {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Where a package finds another one: in its own node_modules or in those above it. */
const folderOf = (name: string, from: string): string | undefined => {
  const inside = join(from, "node_modules", name)
  if (existsSync(join(inside, "package.json"))) return inside
  return from === root ? undefined : folderOf(name, dirname(from))
}

/** What the browser loads. Its bundle is built before the package is packed, so these are no dependencies of the package. */
const inConsole = [
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
  "tailwindcss",
  "uplot"
]

/** Every package that is installed for use, by name and version. Optional ones of other platforms are not. */
export const installedPackages = (): ReadonlyMap<string, { readonly folder: string; readonly found: Package }> => {
  const all = new Map<string, { readonly folder: string; readonly found: Package }>()
  const add = (folder: string) => {
    const found: Package = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    const key = `${found.name}@${found.version}`
    if (all.has(key)) return
    if (folder !== root) all.set(key, { folder, found })
    for (const name of Object.keys(found.dependencies ?? {})) {
      const next = folderOf(name, folder)
      if (next !== undefined) add(next)
    }
  }
  add(root)
  for (const name of inConsole) {
    const folder = folderOf(name, root)
    if (folder !== undefined) add(folder)
  }
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const licenceText = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => /^(licen[cs]e|notice|copying)(\.|-|$)/i.test(name))
    .map((name) => readFileSync(join(folder, name), "utf8").trim())
    .join("\n\n")

export const notices = (): string =>
  [...installedPackages()]
    .map(([key, { folder, found }]) => {
      const text = licenceText(folder)
      return `${key}\nLicence: ${found.license ?? "see below"}\n\n${text === "" ? "The package has no licence file." : text}\n`
    })
    .join(`\n${"=".repeat(80)}\n`)

if (import.meta.main) {
  mkdirSync(join(root, "dist"), { recursive: true })
  writeFileSync(join(root, "dist", "THIRD_PARTY_NOTICES"), notices())
}
