/** Subjects as people paste them: one a line, or the cells of a spreadsheet's column. */

/** Trimmed lines without empty and repeated ones, in the order of the text. */
export const linesOf = (text: string): ReadonlyArray<string> => [
  ...new Set(
    text
      .split(/\r\n?|\n/)
      .map((line) => line.trim())
      .filter((line) => line !== "")
  )
]
