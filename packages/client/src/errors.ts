/** The one error of this package, for refused requests, failed runs and lost connections. */

/** A field of the request that is wrong. */
export interface ErrorDetail {
  readonly path: string
  readonly message: string
}

/**
 * `code` is the public error code of the API. Without a valid response it is `unreachable` (nothing was sent), `connection_lost` (the request may
 * have arrived) or `unexpected_answer`.
 */
export class RungateError extends Error {
  override readonly name = "RungateError"
  readonly code: string
  /** HTTP status, or 0 without a response. */
  readonly status: number
  readonly details: ReadonlyArray<ErrorDetail>
  readonly request_id: string | null
  /** The run that failed, if one was created. */
  readonly run_id: string | null
  /** Seconds after which the service accepts the request again. */
  readonly retry_after: number | null
  /** The body of the response: for a failed run, the run. */
  readonly body: unknown

  constructor(fields: {
    readonly code: string
    readonly message: string
    readonly status?: number
    readonly details?: ReadonlyArray<ErrorDetail>
    readonly request_id?: string | null
    readonly run_id?: string | null
    readonly retry_after?: number | null
    readonly body?: unknown
  }) {
    super(fields.message)
    this.code = fields.code
    this.status = fields.status ?? 0
    this.details = fields.details ?? []
    this.request_id = fields.request_id ?? null
    this.run_id = fields.run_id ?? null
    this.retry_after = fields.retry_after ?? null
    this.body = fields.body ?? null
  }
}

interface ErrorBody {
  readonly error?: {
    readonly code?: string
    readonly message?: string
    readonly details?: ReadonlyArray<ErrorDetail>
  } | null
  readonly request_id?: string
  readonly run_id?: string
}

const parsed = (text: string): ErrorBody => {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === "object" && body !== null ? body : {}
  } catch {
    return {}
  }
}

/** Seconds of `Retry-After`, or null. */
export const retryAfterOf = (headers: Headers): number | null => {
  const text = headers.get("retry-after")
  const seconds = text === null ? Number.NaN : Number(text)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}

/** The error of a response that is no success. */
export const refusal = (status: number, headers: Headers, text: string): RungateError => {
  const body = parsed(text)
  const { code, message, details } = body.error ?? {}
  return new RungateError({
    code: code ?? "unexpected_answer",
    message: message ?? `HTTP ${status} without an error body of Rungate. Check the address.`,
    status,
    details: details ?? [],
    request_id: body.request_id ?? headers.get("x-request-id"),
    run_id: body.run_id ?? null,
    retry_after: retryAfterOf(headers),
    body
  })
}
