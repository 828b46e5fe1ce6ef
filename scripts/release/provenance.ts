/**
 * Says what a release was made of: an in-toto statement with SLSA's provenance, and a list of checksums.
 *
 * Neither is signed here. Signing belongs to the place that publishes, which has the key: docs/releasing.md shows how.
 */
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root, said } from "./parts.ts"

export const writeText = (file: string, text: string): void => writeFileSync(file, text)

const sha256 = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex")

/** In the form that `sha256sum --check` reads. */
export const checksumsOf = (folder: string, files: ReadonlyArray<string>): string =>
  [...files]
    .sort()
    .map((name) => `${sha256(join(folder, name))}  ${name}\n`)
    .join("")

export interface Made {
  readonly version: string
  /** Whether the tree was that of the commit. */
  readonly isClean: boolean
  readonly began: Date
  readonly ended: Date
}

/** The statement about all files. Paths are those in the folder. */
export const provenanceOf = (
  folder: string,
  files: ReadonlyArray<string>,
  { version, isClean, began, ended }: Made
) => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: files.map((name) => ({ name, digest: { sha256: sha256(join(folder, name)) } })),
  predicateType: "https://slsa.dev/provenance/v1",
  predicate: {
    buildDefinition: {
      buildType: "https://www.npmjs.com/package/rungate/release/v1",
      externalParameters: { command: "npm run release", version },
      internalParameters: { clean: isClean, node: process.versions.node, bun: Bun.version },
      resolvedDependencies: [
        { uri: "git:rungate", digest: { gitCommit: said(["git", "rev-parse", "HEAD"]) } },
        { uri: "file:package-lock.json", digest: { sha256: sha256(join(root, "package-lock.json")) } },
        { uri: "file:Dockerfile", digest: { sha256: sha256(join(root, "Dockerfile")) } }
      ]
    },
    runDetails: {
      builder: { id: process.env["RELEASE_BUILDER"] ?? "https://www.npmjs.com/package/rungate/release/by-hand" },
      metadata: { startedOn: began.toISOString(), finishedOn: ended.toISOString() }
    }
  }
})
