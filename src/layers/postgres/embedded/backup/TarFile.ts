/**
 * Writes and reads the tar format (ustar) as far as a backup needs it: folders and files below 8 GB.
 *
 * The archivers of the systems refuse, or report as a failure, a file that changes while they read it. PostgreSQL's files do that during a
 * backup, and the write-ahead log repairs them. Here a file has the size that it had at first: the rest is cut off or filled with zeros.
 */
const blockBytes = 512
const nameBytesMax = 100

export interface TarEntry {
  /** A path with `/`, relative. A folder has no slash at its end. */
  readonly name: string
  readonly kind: "file" | "folder"
  readonly bytes: number
}

const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`

const checksumOf = (header: Uint8Array) => {
  let sum = 0
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 32 : byte
  return sum
}

/** The block before the content of an entry. */
export const tarHeader = ({ name, kind, bytes }: TarEntry): Buffer => {
  if (Buffer.byteLength(name) >= nameBytesMax) throw new Error(`the path ${name} is too long for a backup`)
  const header = Buffer.alloc(blockBytes)
  header.write(kind === "folder" ? `${name}/` : name, 0)
  header.write(octal(kind === "folder" ? 0o700 : 0o600, 8), 100)
  for (const at of [108, 116]) header.write(octal(0, 8), at)
  header.write(octal(bytes, 12), 124)
  header.write(octal(0, 12), 136)
  header.write(kind === "folder" ? "5" : "0", 156)
  header.write("ustar\x0000", 257)
  header.write(`${checksumOf(header).toString(8).padStart(6, "0")}\0 `, 148)
  return header
}

/** Zeros that fill the last block of an entry. */
export const tarPadding = (bytes: number): Buffer => Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes)

export const tarEnd = Buffer.alloc(2 * blockBytes)

const textAt = (header: Buffer, from: number, length: number) => {
  const text = header.toString("utf8", from, from + length)
  const end = text.indexOf("\0")
  return end < 0 ? text : text.slice(0, end)
}

const entryOf = (header: Buffer): TarEntry => {
  if (Number.parseInt(textAt(header, 148, 8), 8) !== checksumOf(header)) throw new Error("the backup file is damaged")
  const name = textAt(header, 0, nameBytesMax).replace(/\/$/, "")
  // Nothing of an archive may land outside the folder that it is unpacked into.
  if (name === "" || name.startsWith("/") || name.split("/").includes(".."))
    throw new Error(`the backup has a path that is not allowed: ${name}`)
  return {
    name,
    kind: textAt(header, 156, 1) === "5" ? "folder" : "file",
    bytes: Number.parseInt(textAt(header, 124, 12), 8)
  }
}

/** The entries of an archive in order. `content` of an entry has to be read to its end before the next entry is asked for. */
export async function* tarEntries(source: AsyncIterable<Uint8Array>) {
  const chunks = source[Symbol.asyncIterator]()
  let held = Buffer.alloc(0)
  const more = async () => {
    const { done, value } = await chunks.next()
    if (done === true) throw new Error("the backup file is not complete")
    held = held.length === 0 ? Buffer.from(value) : Buffer.concat([held, value])
  }
  const take = async (bytes: number) => {
    while (held.length < bytes) await more()
    const taken = held.subarray(0, bytes)
    held = held.subarray(bytes)
    return taken
  }
  async function* contentOf(bytes: number) {
    for (let left = bytes; left > 0; ) {
      if (held.length === 0) await more()
      const part = await take(Math.min(left, held.length))
      left -= part.length
      yield part
    }
    await take(tarPadding(bytes).length)
  }
  for (;;) {
    const header = await take(blockBytes)
    if (header.every((byte) => byte === 0)) return
    const entry = entryOf(header)
    yield { ...entry, content: contentOf(entry.bytes) }
  }
}
