/** Type guards for JSON values of unknown origin. */

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The parsed value of a JSON text, or the text itself if it is not JSON. */
export const parsedOrText = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
