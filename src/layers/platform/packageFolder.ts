/**
 * The folder that holds package.json: where the package's other files and its dependencies are found.
 *
 * It is searched upwards, because the service runs from src or from one file in dist (scripts/bundle.ts).
 */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"

const above = (folder: string): string =>
  dirname(folder) === folder || existsSync(join(folder, "package.json")) ? folder : above(dirname(folder))

export const packageFolder = above(import.meta.dir)
