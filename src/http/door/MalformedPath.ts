/**
 * Answers a request whose path is not valid percent-encoded UTF-8. The router has no route for such a path, not even the one for unknown
 * paths, so it would answer without a body.
 */
import { newId } from "../../layers/platform/Ids.ts"
import { problem, statusOf } from "../../schema/Errors.ts"

const message = "is not valid percent-encoded UTF-8"
const refused = problem("invalid_request", `path ${message}.`, [{ path: "path", message }])

const decodes = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Null for any other path. Every request passes here, so only a path with a percent sign is looked at. */
export const malformedPath = ({ url }: Request): Response | null => {
  if (!url.includes("%")) return null
  const path = url.split("?")[0] ?? ""
  if (decodes(path)) return null
  const request_id = newId("req")
  return Response.json(
    { ...refused, request_id },
    { status: statusOf.invalid_request, headers: { "x-request-id": request_id } }
  )
}
