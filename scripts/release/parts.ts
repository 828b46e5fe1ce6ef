/** Builds the parts of a release into folders of their own, and answers their paths. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { buildClient } from "../packages/client.ts"
import { getHelm } from "../packages/helm.ts"
import { buildPython } from "../packages/python.ts"
import { billOf } from "./bill.ts"

export const root = join(import.meta.dir, "..", "..")

/** What a command prints. It throws what the command said if that fails. */
export const said = (words: ReadonlyArray<string>, cwd = root, env: Readonly<Record<string, string>> = {}): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...words], { cwd, env: { ...process.env, ...env } })
  if (exitCode !== 0) throw new Error(`${words.join(" ")} ended with ${exitCode}:\n${stderr}`)
  return stdout.toString().trim()
}

/** The time of the last commit in seconds, for archives that are the same bytes each time. */
export const epoch = (): string => said(["git", "log", "-1", "--format=%ct"])

/** `npm pack` runs the package's own build, and prints it too. */
const npmPack = (from: string, to: string) => {
  mkdirSync(to, { recursive: true })
  said(["npm", "pack", "--silent", "--pack-destination", to], from)
}

/** What `docker build - < file` takes: the commit without what .dockerignore names. */
const imageContext = (file: string) => {
  const ignored = readFileSync(join(root, ".dockerignore"), "utf8").trim().split("\n")
  said([
    "git",
    "archive",
    "--format=tar.gz",
    "-o",
    file,
    "HEAD",
    "--",
    ".",
    ...ignored.map((one) => `:(exclude)${one}`)
  ])
}

const softwareBill = (): string =>
  billOf(
    said(["npm", "sbom", "--package-lock-only", "--sbom-format", "cyclonedx"]),
    new Date(Number(epoch()) * 1000).toISOString()
  )

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .sort()

/** Paths of all parts, from the folder, which is emptied first. */
export const buildParts = (folder: string, version: string): ReadonlyArray<string> => {
  const place = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true })
    return join(folder, name)
  }
  rmSync(folder, { recursive: true, force: true })
  const began = performance.now()
  const step = (title: string, build: () => void) => {
    const from = performance.now()
    build()
    console.log(`${title}: ${((performance.now() - from) / 1000).toFixed(1)} s`)
  }
  step("npm package of the service", () => npmPack(root, place("npm")))
  step("npm package of the client", () => npmPack(buildClient(join(root, "dist", "packages", "client")), place("npm")))
  step("Python client", () => {
    const wheel = join(root, "scripts", "packages", "wheel.py")
    const from = buildPython(join(root, "dist", "packages", "python"))
    said(["python3", wheel, from, place("python")], root, { SOURCE_DATE_EPOCH: epoch() })
  })
  step("Helm chart", () => {
    const chart = join(root, "deploy", "helm", "rungate")
    said([getHelm(), "package", chart, "--destination", place("helm")], root, { SOURCE_DATE_EPOCH: epoch() })
  })
  step("context of the image", () => imageContext(join(place("image"), `rungate-${version}-context.tar.gz`)))
  step("software bill of materials", () => writeFileSync(join(folder, `rungate-${version}.cdx.json`), softwareBill()))
  copyFileSync(join(root, "THIRD_PARTY_NOTICES"), join(folder, "THIRD_PARTY_NOTICES"))
  console.log(`in all: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  return filesIn(folder)
}
