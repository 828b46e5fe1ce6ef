/** Reads and writes CSV (RFC 4180), including the semicolon and tab separators that spreadsheets write. */

const special = /[",\r\n]/

/** One line with its newline. */
export const csvLine = (values: ReadonlyArray<string | number | null>): string =>
  `${values
    .map((value) => {
      const text = value === null ? "" : String(value)
      return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text
    })
    .join(",")}\n`

/** The most frequent of comma, semicolon and tab in the first line. */
const separatorOf = (text: string): string => {
  const end = text.indexOf("\n")
  const first = end < 0 ? text : text.slice(0, end)
  const count = (separator: string) => first.split(separator).length
  return [",", ";", "\t"].reduce((best, one) => (count(one) > count(best) ? one : best))
}

/** Rows of fields. Quoted fields may hold separators, quotes and newlines; empty lines are left out. */
export const csvRows = (given: string): ReadonlyArray<ReadonlyArray<string>> => {
  const text = given.replace(/^\ufeff/, "")
  const separator = separatorOf(text)
  const rows: Array<ReadonlyArray<string>> = []
  let row: Array<string> = []
  let field = ""
  let quoted = false
  const endRow = () => {
    row.push(field)
    if (row.length > 1 || row[0] !== "") rows.push(row)
    row = []
    field = ""
  }
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (quoted) {
      if (letter !== '"') field += letter
      else if (text[at + 1] === '"') {
        field += '"'
        at++
      } else quoted = false
    } else if (letter === '"' && field === "") quoted = true
    else if (letter === separator) {
      row.push(field)
      field = ""
    } else if (letter === "\n") endRow()
    else if (letter !== "\r" || text[at + 1] !== "\n") field += letter
  }
  if (field !== "" || row.length > 0) endRow()
  return rows
}
