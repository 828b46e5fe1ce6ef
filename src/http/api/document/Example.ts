/** What the OpenAPI document shows for one operation. */
export interface Example {
  /** A body that the operation accepts. */
  readonly request?: unknown
  /** A body of each of these statuses. */
  readonly responses: Readonly<Record<number, unknown>>
}
