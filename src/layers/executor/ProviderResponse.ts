/**
 * Reads what a provider answers: never more than a process can take, and whole or not at all.
 *
 * Whatever arrives is an answer or a failure in words of ours; what the runtime says of a broken connection names the address
 * that was asked, and so may name a key or a person.
 */
import { type Failure, failure, type Reply } from "../../schema/catalog/Provider.ts"
import { jsonWeight } from "../runs/JsonWeight.ts"

/** After decompression: a small gzip can hide a gigabyte. */
export const replyBytesMax = 32 * 1024 * 1024
/** Real ones take a few kilobytes. */
const headerCharactersMax = 64 * 1024

export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isJson = (contentType: string) => /^\s*application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType)

/** A page may be written badly; JSON with a broken character is refused. */
const decoderOf = (headers: Headers, json: boolean): TextDecoder => {
  const charset = /charset="?([\w.:-]+)/i.exec(headers.get("content-type") ?? "")?.[1] ?? "utf-8"
  try {
    // The runtime's types list some names only; one that nobody knows throws.
    return Reflect.construct(TextDecoder, [charset, { fatal: json }])
  } catch {
    return new TextDecoder("utf-8", { fatal: json })
  }
}

const headersTooLarge = (headers: Headers): boolean => {
  let characters = 0
  for (const [name, value] of headers) characters += name.length + value.length
  return characters > headerCharactersMax
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : ""

const readText = async (response: Response): Promise<string | Failure> => {
  const reader = response.body?.getReader()
  if (reader === undefined) return ""
  const weight = jsonWeight()
  const held: Array<Uint8Array> = []
  const parts: Array<string> = []
  let decoder: TextDecoder | null = null
  let size = 0
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (value !== undefined) {
        size += value.byteLength
        if (size > replyBytesMax) return failure("provider_error", `the answer is larger than ${replyBytesMax} bytes`)
        const tooMuch = weight.add(value)
        if (tooMuch !== null) return failure("invalid_response", `the answer is JSON ${tooMuch}`)
      }
      // Nothing but spaces so far: how to read them is decided by what follows.
      if (decoder === null && !done && weight.begins() === null) {
        held.push(value)
        continue
      }
      decoder ??= decoderOf(
        response.headers,
        isJson(response.headers.get("content-type") ?? "") || weight.begins() === true
      )
      for (const chunk of held.splice(0)) parts.push(decoder.decode(chunk, { stream: true }))
      if (!done) parts.push(decoder.decode(value, { stream: true }))
      else return parts.join("") + decoder.decode()
    }
  } catch (error) {
    if (codeOf(error) !== "ERR_ENCODING_INVALID_ENCODED_DATA") throw error
    return failure("invalid_response", "the answer is not valid text in its encoding")
  }
}

/** The answer of a response, read to its end. What was refused is left unread: the caller closes the connection. */
export const readReply = async (response: Response, redact: (text: string) => string): Promise<Reply | Failure> => {
  const { status, headers } = response
  if (status >= 300 && status < 400) return failure("provider_error", `HTTP ${status}: redirects are not followed`)
  if (headersTooLarge(headers))
    return failure("provider_error", `the answer's headers are larger than ${headerCharactersMax} characters`)
  const text = await readText(response)
  if (typeof text !== "string") return text
  // Some providers repeat the key in their errors: it must not reach an attempt's detail or a stored payload.
  const clean = redact(text)
  return { status, headers: Object.fromEntries(headers), body: parse(clean), text: clean }
}

/** The connection was never made, so the request never left: refused, no such host, no trusted certificate. */
const unsentCodes =
  /^(E?CONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_\w+|ENETUNREACH|EHOSTUNREACH|ERR_INVALID_URL|\w*CERT\w*|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/

/** Whether a call failed before anything of its request left. */
export const isUnsent = (error: unknown): boolean => unsentCodes.test(codeOf(error))

/** What went wrong with a connection. Without the runtime's own words, which repeat the address. */
export const brokenConnection = (error: unknown): Failure => {
  const code = codeOf(error)
  return failure("provider_error", `the connection failed${/^\w{2,50}$/.test(code) ? `: ${code}` : ""}`)
}

/** Answers that are no data and that nobody should pay for: a page where JSON was asked for, JSON that is broken, nothing. */
export const undeliverable = (reply: Reply, method: string): Failure | null => {
  if (reply.body !== undefined) return null
  const type = reply.headers["content-type"] ?? ""
  if (/^\s*(text\/html|application\/xhtml)/i.test(type))
    return failure("invalid_response", `HTTP ${reply.status} with a page instead of data`)
  if (reply.text === "") {
    // Who changes something may be told nothing; who reads was promised something, unless the status says that there is none.
    return method === "GET" && reply.status === 200 ? failure("invalid_response", "HTTP 200 with an empty body") : null
  }
  return isJson(type) ? failure("invalid_response", `HTTP ${reply.status} with a body that is not JSON`) : null
}
