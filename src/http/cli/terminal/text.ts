/**
 * Text on a terminal: its width, truncation, word wrap, and removal of control characters.
 *
 * Text from providers and customers may contain control characters that move the cursor or recolor the screen.
 * These functions replace them. JSON output for programs stays unchanged.
 */

/** C0 and C1 controls, line and paragraph separators, and bidirectional marks. */
const hostile = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** The same, and whole codes of colors. */
const hostileOrColor = new RegExp(`\\u001b\\[[\\d;]*m|${hostile.source}`, "gu")

const shown: Readonly<Record<string, string>> = { "\n": "\u23ce", "\t": " ", "\r": "" }

/** One line without control characters. */
export const harmless = (text: string): string => text.replace(hostile, (letter) => shown[letter] ?? "\ufffd")

/** One line that was painted: of control characters, only colors are left. */
export const harmlessPainted = (text: string): string =>
  text.replace(hostileOrColor, (code) => (code.length > 1 ? code : (shown[code] ?? "\ufffd")))

/** Several lines, each harmless. */
export const harmlessLines = (text: string): string => text.split("\n").map(harmless).join("\n")

/** Width in terminal columns; wide characters take two. */
export const widthOf = (text: string): number => Bun.stringWidth(text)

const graphemes = new Intl.Segmenter()

/** At most `columns` wide. Truncated text ends with an ellipsis. */
export const cut = (text: string, columns: number): string => {
  if (widthOf(text) <= columns) return text
  if (columns < 1) return ""
  let kept = ""
  let width = 0
  for (const { segment } of graphemes.segment(text)) {
    const more = widthOf(segment)
    if (width + more > columns - 1) break
    kept += segment
    width += more
  }
  return `${kept}…`
}

export const padEnd = (text: string, columns: number): string => text + " ".repeat(Math.max(0, columns - widthOf(text)))
export const padStart = (text: string, columns: number): string =>
  " ".repeat(Math.max(0, columns - widthOf(text))) + text

/** Lines of at most `columns`, broken between words. A longer word is truncated with an ellipsis, or kept whole. */
export const wrap = (text: string, columns: number, longWord: "cut" | "whole" = "cut"): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of text.split(/\s+/).filter((one) => one !== "")) {
    const longer = line === "" ? word : `${line} ${word}`
    if (widthOf(longer) <= columns) line = longer
    else {
      if (line !== "") lines.push(line)
      line = longWord === "cut" ? cut(word, columns) : word
    }
  }
  return line === "" ? lines : [...lines, line]
}
