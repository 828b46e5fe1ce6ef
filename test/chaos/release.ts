/**
 * The last release, unpacked from test/fixtures (scripts/pack-release.ts makes it): what users upgrade from.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { scratch } from "../kit/build-cache.ts"
import { afterwards, once } from "../kit/process-end.ts"
import type { Command } from "./processes.ts"

const fixtures = join(import.meta.dir, "..", "fixtures")

export interface Release {
  readonly version: string
  /** The schema version that it made on an empty database. */
  readonly schema: number
  readonly command: Command
}

const unpack = (): Release => {
  const names = readdirSync(fixtures).filter((name) => /^release-.*\.tgz$/.test(name))
  if (names.length !== 1) throw new Error(`test/fixtures has ${names.length} releases: run scripts/pack-release.ts`)
  // Inside the working tree, whose packages it uses.
  mkdirSync(scratch, { recursive: true })
  const folder = mkdtempSync(join(scratch, "release-"))
  afterwards('rm -rf "$1"', folder)
  const { exitCode, stderr } = Bun.spawnSync(["tar", "-xzf", join(fixtures, names.join()), "-C", folder])
  if (exitCode !== 0) throw new Error(`tar: ${stderr}`)
  const { version, schema } = JSON.parse(readFileSync(join(folder, "release.json"), "utf8"))
  return { version, schema, command: [process.execPath, join(folder, "main.js")] }
}

/** The last release, unpacked once per test process. */
export const lastRelease = (): Release => once("release", unpack)
