/** A wrong clock for a process: libfaketime bends it from outside. Undefined where faketime is not installed. */
import { once } from "../kit/process-end.ts"

const [library] = Array.from(new Bun.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1").scanSync({ absolute: true }))
export const canBend = library !== undefined
if (!canBend)
  once("faketime/skipped", () => console.log("faketime is not installed: no test bends the clock of a process"))

/** The environment of such a process. Durations stay right, as they do on a machine whose date is wrong. */
export const bent = (seconds: number): Readonly<Record<string, string>> => ({
  LD_PRELOAD: library ?? "",
  FAKETIME: `${seconds < 0 ? "" : "+"}${seconds}s`,
  FAKETIME_DONT_FAKE_MONOTONIC: "1"
})
