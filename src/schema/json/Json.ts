/** Type guards for JSON values of unknown origin. */

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What a JSON text says, or the text itself where it is none. */
export const parsedOrText = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
