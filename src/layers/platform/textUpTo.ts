/** Reads a body that a stranger sends, with a limit: whatever it claims to be, it takes no more memory. */

/** The text of a body. Null if it has more than `bytesMax`; the rest is not read, and the connection closes. */
export const textUpTo = async (body: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<string | null> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  // Leaving the loop cancels the stream.
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > bytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}
