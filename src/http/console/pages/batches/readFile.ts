/** Reads a CSV that somebody chose, as the service and the command `rungate batch` read it, and keeps those that were started. */
import { readCsv } from "../../../client/Csv.ts"

/** Limits of one batch. */
export const rowsMax = 10_000
const bytesMax = 8 * 1_024 * 1_024
const columnsMax = 500

export interface Sheet {
  readonly name: string
  /** The whole text: the batch's Idempotency-Key is made of it. */
  readonly text: string
  readonly header: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** What somebody should know about the file although it can be read. */
  readonly notes: ReadonlyArray<string>
}

export type Read = { readonly sheet: Sheet } | { readonly problem: string }

/** UTF-8, UTF-16 with its mark, or what spreadsheets on Windows write, in which every byte is a letter. */
const decoded = (bytes: Uint8Array): { readonly text: string; readonly isGuess: boolean } => {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return { text: new TextDecoder("utf-16le").decode(bytes), isGuess: false }
  if (first === 0xfe && second === 0xff) return { text: new TextDecoder("utf-16be").decode(bytes), isGuess: false }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), isGuess: false }
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), isGuess: true }
  }
}

const notesOf = (
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  isGuess: boolean
): ReadonlyArray<string> => {
  const twice = header.find((name, index) => header.indexOf(name) !== index)
  const ragged = rows.findIndex((row) => row.length !== header.length)
  return [
    ...(isGuess ? ["The file is not UTF-8. It was read as Windows-1252: check accents in the preview."] : []),
    ...(twice === undefined ? [] : [`Two columns have the name "${twice}". Check which one is chosen.`]),
    ...(ragged < 0
      ? []
      : [`Row ${ragged + 1} has ${rows[ragged]?.length ?? 0} cells, the header has ${header.length}.`])
  ]
}

/** Reads bytes of a file. The problem says what to change in it. */
export const sheetOf = (name: string, bytes: Uint8Array): Read => {
  if (bytes.length > bytesMax) return { problem: `${name} is larger than 8 MiB. Split it into several files.` }
  const { text: whole, isGuess } = decoded(bytes)
  const text = whole.replace(/^\ufeff/, "")
  if (text.includes("\0"))
    return { problem: `${name} is no CSV. If it is a spreadsheet, export it as CSV, and choose that file.` }
  const { rows: all, brokenLine } = readCsv(text)
  if (brokenLine !== null)
    return { problem: `${name} has a quote that is not closed or not doubled, in line ${brokenLine}.` }
  const [header, ...rows] = all
  if (header === undefined || rows.length === 0) return { problem: `${name} needs a header line and at least one row.` }
  if (rows.length > rowsMax)
    return {
      problem: `${name} has ${rows.length.toLocaleString("en")} rows. A batch has at most ${rowsMax.toLocaleString("en")}: split the file.`
    }
  if (header.length > columnsMax) return { problem: `${name} has more than ${columnsMax} columns.` }
  return { sheet: { name, text, header, rows, notes: notesOf(header, rows, isGuess) } }
}

/** Files of batches that this page has started or saved, by batch. */
export const keptFiles = new Map<string, Sheet>()
