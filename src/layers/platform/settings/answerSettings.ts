/** Settings of providers' answers: how much of them is in memory at once, and how much free ones may store. */
import { totalmem } from "node:os"

export interface AnswerSettings {
  /** MiB of providers' answers that are in memory at once. Further calls wait before they read theirs. */
  readonly answerMemoryMb: number
  /** MiB that the free runs of one organization may store in a UTC day. 0: any number. */
  readonly freeDailyMb: number
}

/** Reads a whole number, with its default and bounds. */
type ReadInt = (name: string, usual: number, min: number, max: number) => number

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

export const answerSettingsOf = (int: ReadInt): AnswerSettings => {
  const memoryDefault = Math.max(memoryMinMb, Math.floor(memoryBytes() / memoryPart / mebibyte))
  return {
    answerMemoryMb: int("RUNGATE_ANSWER_MEMORY_MB", memoryDefault, memoryMinMb, 1_000_000),
    // With it, as many runs through own accounts may be open as RUNGATE_ORG_QUEUE allows by default.
    freeDailyMb: int("RUNGATE_FREE_DAILY_MB", 2_048, 0, 1_000_000_000)
  }
}
