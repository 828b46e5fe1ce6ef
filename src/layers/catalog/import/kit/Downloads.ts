/**
 * Downloads a document from a URL, with a size limit, a timeout, and no redirects.
 *
 * Messages show the URL without its query, which may contain a token.
 */
import { Effect } from "effect"
import { textUpTo } from "../../../platform/textUpTo.ts"
import { ImportFailed, sourceBytesMax } from "./Import.ts"

const download = async (
  address: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal
): Promise<string> => {
  const response = await fetch(address, { headers, redirect: "manual", signal })
  if (response.status !== 200) throw new Error(`HTTP ${response.status}`)
  const text = await textUpTo(response.body, sourceBytesMax)
  if (text === null) throw new Error(`more than ${sourceBytesMax} bytes`)
  return text
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
    catch: (error) =>
      failed(
        `can't be read: ${error instanceof Error ? error.message : "no answer"}. Check the URL and its access rights.`
      )
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${seconds} seconds`,
      orElse: () => Effect.fail(failed(`did not answer within ${seconds} s. Try again, or import a downloaded file.`))
    })
  )
}
