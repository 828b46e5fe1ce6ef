/**
 * `bun scripts/packages/client.ts [folder]`: makes the package @rungate/client, by default in dist/packages/client.
 *
 * The sources in packages/client are the same for every API. What is particular to this one is generated from its OpenAPI document. The version is
 * that of the service.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import packageJson from "../../package.json" with { type: "json" }
import { typescriptOf } from "./typescript.ts"

const root = join(import.meta.dir, "..", "..")
const source = join(root, "packages", "client")

const index = `/** The typed client of Rungate. */
export * from "./api.ts"
export { type ErrorDetail, RungateError } from "./errors.ts"
export type { Page, Pages } from "./pages.ts"
export type { ConnectOptions, RequestOptions } from "./transport.ts"
`

/** The compiler writes four spaces, which are much of a package, and leaves the endings of imports as they are in the sources. */
const tidied = (file: string) =>
  writeFileSync(
    file,
    readFileSync(file, "utf8")
      .replace(/^( {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4))
      .replace(/(from "\.\/\w+)\.ts"/g, '$1.js"')
  )

/** Makes the folder that \`npm pack\` or \`npm publish\` takes. */
export const buildClient = (folder = join(root, "dist", "packages", "client")): string => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of ["src", "tsconfig.json", "README.md"])
    cpSync(join(source, name), join(folder, name), { recursive: true })
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"))
  writeFileSync(join(folder, "src", "api.ts"), typescriptOf())
  writeFileSync(join(folder, "src", "index.ts"), index)
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8"))
  writeFileSync(
    join(folder, "package.json"),
    `${JSON.stringify({ name: manifest.name, version: packageJson.version, ...manifest }, null, 2)}\n`
  )
  const tsc = join(root, "node_modules", ".bin", "tsc")
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, tsc, "-p", folder])
  if (exitCode !== 0) throw new Error(`The client does not compile:\n${stdout}`)
  for (const name of new Bun.Glob("*.{d.ts,js}").scanSync(join(folder, "dist"))) tidied(join(folder, "dist", name))
  return folder
}

if (import.meta.main) console.log(buildClient(process.argv[2]))
