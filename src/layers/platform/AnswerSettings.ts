/** Settings of providers' answers: how much of them is in memory at once. */
import { totalmem } from "node:os"
import type { SettingsReader } from "./SettingsReader.ts"

export interface AnswerSettings {
  /** MiB of providers' answers that are in memory at once. Further calls wait before they read theirs. */
  readonly answerMemoryMb: number
}

const mebibyte = 1024 * 1024
/** Two of the largest answers: own accounts may use a half. */
const memoryMinMb = 64
/** An answer needs about six times its bytes while it is parsed and stored: all together need a fifth of the memory. */
const memoryPart = 32

/** What the machine has, or the container. */
const memoryBytes = (): number => {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

export const answerSettingsOf = (read: SettingsReader): AnswerSettings => {
  const memoryDefault = Math.max(memoryMinMb, Math.floor(memoryBytes() / memoryPart / mebibyte))
  return { answerMemoryMb: read.int("RUNGATE_ANSWER_MEMORY_MB", memoryDefault, memoryMinMb, 1_000_000) }
}
