/**
 * `bun scripts/pack-release.ts [--packages]`: packs this release as test/fixtures/release-<version>.tgz, in place of the one before.
 *
 * The tests of upgrades (test/chaos/upgrade.test.ts) run it beside the sources: it is the release that users upgrade from. It holds the
 * service as one file and the shipped catalog. Packages stay outside, so it runs with the node_modules of the working tree.
 * If an update of a package breaks it, pack it again from its own commit with `--packages`, which puts the packages into the file.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import packageJson from "../package.json" with { type: "json" }
import { schemaVersion } from "../src/layers/postgres/DatabaseSchema.ts"

const root = join(import.meta.dir, "..")
const fixtures = join(root, "test", "fixtures")
const catalog = "import/shipped"
/** The page /docs is three megabytes of JavaScript, and no test of upgrades opens it. */
const withoutApiPage: Bun.BunPlugin = {
  name: "without the API page",
  setup: (build) => {
    build.onLoad({ filter: /httpApiScalar\.js$/ }, () => ({ contents: 'export const javascript = ""', loader: "js" }))
  }
}

const output = (...command: ReadonlyArray<string>) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd: root })
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`)
  return stdout.toString().trim()
}

const folder = mkdtempSync(join(tmpdir(), "rungate-release-"))
try {
  await Bun.build({
    entrypoints: [join(root, "src", "main.ts")],
    outdir: folder,
    naming: "main.js",
    target: "bun",
    minify: true,
    packages: process.argv.includes("--packages") ? "bundle" : "external",
    plugins: [withoutApiPage]
  })
  // The service looks for the catalog beside the file of its code.
  cpSync(join(root, "src", "layers", "catalog", catalog), join(folder, catalog), { recursive: true })
  const release = { version: packageJson.version, schema: schemaVersion, commit: output("git", "rev-parse", "HEAD") }
  writeFileSync(join(folder, "release.json"), `${JSON.stringify(release)}\n`)
  mkdirSync(fixtures, { recursive: true })
  for (const name of readdirSync(fixtures)) if (/^release-.*\.tgz$/.test(name)) rmSync(join(fixtures, name))
  const file = join(fixtures, `release-${packageJson.version}.tgz`)
  output("tar", "-czf", file, "-C", folder, "main.js", "release.json", catalog)
  console.log(`${file}: ${Math.round(statSync(file).size / 1024)} KB, schema ${schemaVersion}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
