/**
 * The repeat guard stops a caller that repeats what has failed, such as an agent in a loop.
 *
 * A try is a run that failed, or a run with the same input that was admitted after one has failed and has not ended. So once an input has
 * failed, a caller's runs with it reach providers at most `limit` times in ten minutes, until one of them succeeds. Whoever has not
 * failed may run the same input as often as they like.
 */

/** A try counts for this long. */
export const repeatSeconds = 600

/** A caller's session. All sessions of an organization are one caller. */
const session = "session"
export const callerOf = (key_id: string | null): string => key_id ?? session

/** A run of the caller with this input. */
export interface Try {
  readonly run_id: string
  /** Microseconds since 1970: when it failed, or when it was admitted if it has not ended. */
  readonly at: bigint
}

export interface RepeatRefusal {
  readonly code: "repeat_guard"
  readonly message: string
}

/** Runs named in a message. */
const namedMax = 5

const timeOf = (micros: bigint): string => `${new Date(Number(micros / 1000n)).toISOString().slice(11, 19)} UTC`

/** The refusal of one more run after these tries, which lie within the last ten minutes. Null if it may run. `limit` 0: no guard. */
export const repeatRefusal = (tries: ReadonlyArray<Try>, limit: number): RepeatRefusal | null => {
  if (limit === 0 || tries.length < limit) return null
  const oldest = [...tries].sort((a, b) => (a.at < b.at ? -1 : 1))
  // As many as it takes to be below the limit must be older than ten minutes.
  const freeing = oldest[tries.length - limit]?.at ?? 0n
  const named = oldest.slice(-namedMax).map((one) => one.run_id)
  const until = timeOf(freeing + BigInt(repeatSeconds) * 1_000_000n)
  return {
    code: "repeat_guard",
    message: `this API key or session has run this input ${tries.length} times within ten minutes without success (${named.join(", ")}); read the errors and hints of these runs, and change the input; the same input may run again at ${until}`
  }
}

/**
 * What an end does to the tries of its input. An answer counts as failed if it delivered nothing: the same question would get the same
 * answer. A run that was cancelled or refused was never tried.
 */
export const effectOnTries = (status: string): "adds" | "clears" | "removes" => {
  if (status === "succeeded") return "clears"
  return status === "failed" || status === "timed_out" || status === "no_match" ? "adds" : "removes"
}
