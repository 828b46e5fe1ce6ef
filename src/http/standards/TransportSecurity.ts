/**
 * Has browsers use https only (RFC 6797) if the service's public address is https, so that nobody between them can make the first request
 * an unencrypted one. Subdomains are not included: they may be other services of the operator.
 */

const seconds = 365 * 86_400

type Answer = Response | Promise<Response>

const secured = (response: Response): Response => {
  response.headers.set("strict-transport-security", `max-age=${seconds}`)
  return response
}

export const transportSecurity =
  (publicUrl: string | null, answer: (request: Request) => Answer) =>
  (request: Request): Answer => {
    const answered = answer(request)
    if (publicUrl?.startsWith("https:") !== true) return answered
    return answered instanceof Response ? secured(answered) : answered.then(secured)
  }
