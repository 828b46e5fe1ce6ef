/** Telling JSON values apart, for whoever reads what somebody else wrote. */

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
