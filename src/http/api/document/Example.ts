/** The examples of one operation in the OpenAPI document. */
export interface Example {
  /** A body that the operation accepts. */
  readonly request?: unknown
  /** A response body for each status. */
  readonly responses: Readonly<Record<number, unknown>>
}
