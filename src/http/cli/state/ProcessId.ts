/** Identifies a process by its id and start time, because the system reuses ids. */
import { existsSync, readFileSync } from "node:fs"
import { Schema } from "effect"

export const ProcessId = Schema.Struct({ id: Schema.Int, began: Schema.String })
export type ProcessId = typeof ProcessId.Type

/** The start time of a process in clock ticks; "" on systems without /proc. */
const beganOf = (id: number): string => {
  const path = `/proc/${id}/stat`
  if (!existsSync(path)) return ""
  try {
    // The name before it may hold spaces and brackets; the field is the 20th after it.
    return readFileSync(path, "utf8").split(") ").at(-1)?.split(" ")[19] ?? ""
  } catch {
    return ""
  }
}

export const ownProcess = (): ProcessId => ({ id: process.pid, began: beganOf(process.pid) })

export const isAlive = ({ id, began }: ProcessId): boolean => {
  try {
    process.kill(id, 0)
  } catch {
    return false
  }
  return began === beganOf(id)
}
