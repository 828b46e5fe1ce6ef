/**
 * Reads a provider's response completely, or fails. Sizes are limited, so that no response can exhaust the process; AnswerBudget.ts
 * limits what all responses have together.
 *
 * Every failure has a message of our own. The runtime's messages about broken connections contain the address, which may
 * contain a key or a person's data.
 */
import { type Failure, failure, type Reply } from "../../schema/catalog/Provider.ts"
import { jsonWeight } from "../runs/JsonWeight.ts"

/** After decompression: a small gzip can hide a gigabyte. */
export const replyBytesMax = 32 * 1024 * 1024
/** Of an account that the organization brought itself: nobody pays for what its answers need. */
export const ownReplyBytesMax = 2 * 1024 * 1024
/** Real headers take a few kilobytes. */
const headerCharactersMax = 64 * 1024

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isJson = (contentType: string) => /^\s*application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType)

/** Invalid characters are an error in JSON and are replaced elsewhere, because pages are often encoded badly. */
const decoderOf = (headers: Headers, json: boolean): TextDecoder => {
  const charset = /charset="?([\w.:-]+)/i.exec(headers.get("content-type") ?? "")?.[1] ?? "utf-8"
  try {
    // The runtime's types list only some charset names. An unknown name throws.
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

const errorCodeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : ""

const tooLarge = (bytesMax: number) =>
  failure(
    "provider_error",
    bytesMax < replyBytesMax
      ? `the answer is larger than ${bytesMax} bytes, the limit for your own account at a provider; ask for less data per call, such as a smaller limit or page`
      : `the answer is larger than ${bytesMax} bytes; ask for less data per call`
  )

/** Reads the body in parts. A part ends when more than `pauseAt` bytes were read, and is null then. */
const textReader = (response: Response, bytesMax: number) => {
  const reader = response.body?.getReader()
  const weight = jsonWeight(bytesMax)
  const pendingChunks: Array<Uint8Array> = []
  const parts: Array<string> = []
  let decoder: TextDecoder | null = null
  let size = 0
  const read = async (pauseAt: number): Promise<string | Failure | null> => {
    if (reader === undefined) return ""
    try {
      while (size <= pauseAt) {
        const { done, value } = await reader.read()
        if (value !== undefined) {
          size += value.byteLength
          if (size > bytesMax) return tooLarge(bytesMax)
          const tooMuch = weight.add(value)
          if (tooMuch !== null) return failure("invalid_response", `the answer is JSON ${tooMuch}`)
        }
        // Only whitespace so far: the first other byte decides how to decode.
        if (decoder === null && !done && weight.begins() === null) {
          pendingChunks.push(value)
          continue
        }
        decoder ??= decoderOf(
          response.headers,
          isJson(response.headers.get("content-type") ?? "") || weight.begins() === true
        )
        for (const chunk of pendingChunks.splice(0)) parts.push(decoder.decode(chunk, { stream: true }))
        if (!done) parts.push(decoder.decode(value, { stream: true }))
        else return parts.join("") + decoder.decode()
      }
      return null
    } catch (error) {
      if (errorCodeOf(error) !== "ERR_ENCODING_INVALID_ENCODED_DATA") throw error
      return failure("invalid_response", "the answer is not valid text in its encoding")
    }
  }
  /** Whether the bytes that were weighed are those of the text. */
  const isUtf8 = () => decoder === null || decoder.encoding === "utf-8"
  return { read, isUtf8, weight, size: () => size }
}

export interface ReplyReader {
  /** Reads on until the response ends, or more than `pauseAt` bytes of it were read: null then. */
  readonly read: (pauseAt: number) => Promise<Reply | Failure | null>
  /** Bytes that were read. */
  readonly size: () => number
}

/**
 * Reads a response of at most `bytesMax`. `turn` waits until so many milliseconds of parsing may begin. Refused responses are left unread:
 * the caller closes the connection.
 */
export const replyReader = (
  response: Response,
  redact: (text: string) => string,
  bytesMax: number,
  turn: (millis: number) => Promise<void>
): ReplyReader => {
  const { status, headers } = response
  const { read, isUtf8, weight, size } = textReader(response, bytesMax)
  return {
    size,
    read: async (pauseAt) => {
      if (status >= 300 && status < 400) return failure("provider_error", `HTTP ${status}: redirects are not followed`)
      if (headersTooLarge(headers))
        return failure("provider_error", `the answer's headers are larger than ${headerCharactersMax} characters`)
      const text = await read(pauseAt)
      if (typeof text !== "string") return text
      // Some providers repeat the key in their errors. It must not reach an attempt's detail or a stored payload.
      const clean = redact(text)
      // What was weighed while it arrived is not what is parsed: a redaction may open a string, and so may another encoding.
      const parsed = clean === text && isUtf8() ? weight : jsonWeight(bytesMax)
      const tooMuch = parsed === weight ? null : parsed.add(new TextEncoder().encode(clean))
      if (tooMuch !== null) return failure("invalid_response", `the answer is JSON ${tooMuch}`)
      await turn(parsed.millis())
      return { status, headers: Object.fromEntries(headers), body: parseJson(clean), text: clean }
    }
  }
}

/** Errors before the connection was made: refused, no such host, no trusted certificate. The request was not sent. */
const unsentCodes =
  /^(E?CONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_\w+|ENETUNREACH|EHOSTUNREACH|ERR_INVALID_URL|PRIVATE_ADDRESS|\w*CERT\w*|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/

/** Whether a call failed before any of its request was sent. */
export const failedBeforeSending = (error: unknown): boolean => unsentCodes.test(errorCodeOf(error))

/** Why a connection failed: only the error's code, because the runtime's message repeats the address. */
export const connectionFailure = (error: unknown): Failure => {
  const code = errorCodeOf(error)
  return failure("provider_error", `the connection failed${/^\w{2,50}$/.test(code) ? `: ${code}` : ""}`)
}

/** Fails for responses without data, which must not be charged: an HTML page, broken JSON, or an empty body. */
export const missingDataFailure = (reply: Reply, method: string): Failure | null => {
  if (reply.body !== undefined) return null
  const type = reply.headers["content-type"] ?? ""
  if (/^\s*(text\/html|application\/xhtml)/i.test(type))
    return failure("invalid_response", `HTTP ${reply.status} with an HTML page instead of data`)
  if (reply.text === "") {
    // A write may answer with an empty body. A read may do so only with a status that says so, such as 204.
    return method === "GET" && reply.status === 200 ? failure("invalid_response", "HTTP 200 with an empty body") : null
  }
  return isJson(type) ? failure("invalid_response", `HTTP ${reply.status} with a body that is not JSON`) : null
}
