/**
 * Reads secrets from files: `STRIPE_SECRET_KEY_FILE=/run/secrets/stripe` sets STRIPE_SECRET_KEY to the file's text.
 *
 * Every secret of the settings table may come from a file, as container platforms and systemd hand secrets over. No message has a file's text.
 */
import { readFileSync, statSync } from "node:fs"
import { fileVariable, secretOfFile } from "./settingsTable.ts"

export type Variables = Readonly<Record<string, string | undefined>>

export interface Resolved {
  /** The variables, with the secrets of files under their own names. */
  readonly variables: Variables
  /** The file that each of these secrets came from, by the secret's name. */
  readonly files: ReadonlyMap<string, string>
  readonly problems: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

/** No secret is as long. A larger file is another file. */
const bytesMax = 65_536
/** The right of everybody to read. */
const readableByAll = 0o004

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  EISDIR: "it is a folder"
}
const reasonOf = (error: unknown): string => {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "unknown error"
  return reasons[code] ?? code
}

interface SecretFile {
  readonly text: string
  readonly shared: boolean
}

const readSecret = (variable: string, path: string): SecretFile | string => {
  try {
    const { mode, size } = statSync(path)
    if (size > bytesMax) return `${variable}: ${path} is larger than ${bytesMax} bytes, so it is no secret`
    const text = readFileSync(path, "utf8").trim()
    if (text === "") return `${variable}: ${path} is empty; write the secret into it, or unset ${variable}`
    return { text, shared: (mode & readableByAll) !== 0 }
  } catch (error) {
    return `${variable}: can't read ${path}: ${reasonOf(error)}`
  }
}

/** Reads the files now. A variable without text counts as unset. */
export const withSecretFiles = (given: Variables): Resolved => {
  const variables: Record<string, string | undefined> = { ...given }
  const files = new Map<string, string>()
  const problems: Array<string> = []
  const warnings: Array<string> = []
  for (const [variable, value] of Object.entries(given)) {
    const name = secretOfFile(variable)
    const path = value?.trim() ?? ""
    if (name === undefined || path === "") continue
    if ((given[name]?.trim() ?? "") !== "") {
      problems.push(`${name} and ${fileVariable(name)} are both set: unset one of them`)
      continue
    }
    const read = readSecret(variable, path)
    if (typeof read === "string") {
      problems.push(read)
      continue
    }
    if (read.shared)
      warnings.push(`${variable}: every user of this machine can read ${path}; to fix: chmod 600 ${path}`)
    variables[name] = read.text
    files.set(name, path)
  }
  return { variables, files, problems, warnings }
}
