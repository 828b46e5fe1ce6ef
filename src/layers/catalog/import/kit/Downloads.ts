/**
 * Documents from one named address: capped, within a deadline, and never from where a redirect would lead.
 *
 * Messages name the address without its query, which may hold a token.
 */
import { Effect } from "effect"
import { ImportFailed, sourceBytesMax } from "./Import.ts"

const download = async (
  address: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal
): Promise<string> => {
  const response = await fetch(address, { headers, redirect: "manual", signal })
  if (response.status !== 200) throw new Error(`HTTP ${response.status}`)
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > sourceBytesMax) throw new Error(`more than ${sourceBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

export const withoutQuery = (address: string): string => address.split(/[?#]/)[0] ?? address

export const readAddress = (
  address: string,
  seconds: number,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<string, ImportFailed> => {
  const failed = (why: string) => new ImportFailed({ message: `${withoutQuery(address)} ${why}` })
  return Effect.tryPromise({
    try: (signal) => download(address, headers, signal),
    catch: (error) => failed(`can't be read: ${error instanceof Error ? error.message : "no answer"}.`)
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${seconds} seconds`,
      orElse: () => Effect.fail(failed(`did not answer within ${seconds} s.`))
    })
  )
}
