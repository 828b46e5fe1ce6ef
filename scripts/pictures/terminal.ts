/**
 * A recording of `rungate` at a terminal, as an animated SVG. It begins with its end, so that the whole text can be read at once, and plays then in
 * a loop. It stands still for who wants less motion, and where nothing is animated.
 */
import { tmpdir } from "node:os"
import { escaped } from "../../src/http/pages/Page.ts"

/** What somebody types, and after which text. */
export interface Typed {
  readonly command: string
  readonly answer?: readonly [question: string, words: string]
}

interface Line {
  /** With its colours, as escape sequences. */
  readonly text: string
  readonly isCommand: boolean
}

const columns = 108

/** A line as it stands in the end: what a status overwrote is gone. */
const standing = (line: string) => line.split("\r").at(-1)?.replaceAll("\u001b[K", "") ?? ""

/** Broken between words, because a picture is read and not copied. */
const wrapped = (line: string) => Bun.wrapAnsi(line, columns, { hard: true, wordWrap: true, trim: false }).split("\n")

const recorded = async ({ command, answer }: Typed, env: Readonly<Record<string, string>>, cwd: string) => {
  let seen = ""
  let answered = false
  const decoder = new TextDecoder()
  const child = Bun.spawn(["sh", "-c", command], {
    env,
    cwd,
    terminal: {
      cols: columns,
      rows: 40,
      data: (terminal, data) => {
        seen += decoder.decode(data, { stream: true })
        if (answer === undefined || answered || !seen.includes(answer[0])) return
        answered = true
        terminal.write(`${answer[1]}\r`)
      }
    }
  })
  const code = await child.exited
  // What was written last arrives a moment after the process is gone.
  for (let length = -1; length !== seen.length; await Bun.sleep(50)) length = seen.length
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${seen}`)
  const lines = seen.replace(/\r\n/g, "\n").trimEnd().split("\n").map(standing).flatMap(wrapped)
  return [{ text: command, isCommand: true }, ...lines.map((text) => ({ text, isCommand: false }))]
}

/** The commands with what they print, one after the other. */
export const record = async (
  commands: ReadonlyArray<Typed>,
  env: Readonly<Record<string, string>>,
  cwd = tmpdir()
): Promise<ReadonlyArray<Line>> => {
  const lines: Array<Line> = []
  for (const typed of commands) {
    if (lines.length > 0) lines.push({ text: "", isCommand: false })
    lines.push(...(await recorded(typed, env, cwd)))
  }
  return lines
}

/** Classes of the style below, by the parameter of the escape sequence. */
const looks: Readonly<Record<string, string>> = { "1": "b", "2": "d", "31": "r", "32": "g", "33": "y" }

const spans = (text: string): string => {
  const [plain = "", ...styled] = text.split("\u001b[")
  return [`0m${plain}`, ...styled]
    .map((part) => {
      const [, codes = "", rest = ""] = /^([0-9;]*)m(.*)$/.exec(part) ?? []
      const look = codes.split(";").flatMap((code) => looks[code] ?? [])[0] ?? ""
      const words = escaped(rest)
      return look === "" || words === "" ? words : `<tspan class="${look}">${words}</tspan>`
    })
    .join("")
}

const lineHeight = 20
const charWidth = 7.83
const width = Math.round(columns * charWidth + 40)
/** Seconds: a typed letter, a printed line, a pause before and after a command, and the end before it begins again. */
const pace = { letter: 0.035, line: 0.06, pause: 0.7, end: 7 }

export const svgOf = (lines: ReadonlyArray<Line>, label: string): string => {
  const height = lines.length * lineHeight + 56
  let at = 0
  const timed = lines.map(({ text, isCommand }) => {
    const begins = at
    const seconds = isCommand ? text.length * pace.letter : 0
    at += isCommand ? pace.pause + seconds + pace.pause : pace.line
    return { text, isCommand, begins: isCommand ? begins + pace.pause : begins, seconds }
  })
  const total = at + pace.end
  const playing = `${total.toFixed(1)}s ${-at.toFixed(1)}s infinite`
  const percent = (seconds: number) => `${Math.min(100, (100 * seconds) / total).toFixed(2)}%`
  const rules = timed.flatMap(({ begins, text, isCommand, seconds }, index) => {
    if (text === "") return []
    const show = `@keyframes l${index}{0%,${percent(begins)}{opacity:0}${percent(begins + 0.01)},100%{opacity:1}}#l${index}{animation:l${index} ${playing}}`
    if (!isCommand) return [show]
    const steps = text.length
    return [
      show,
      `@keyframes c${index}{0%,${percent(begins)}{transform:none;animation-timing-function:steps(${steps})}${percent(begins + seconds)},100%{transform:translateX(${Math.round(steps * charWidth) + 20}px)}}#c${index}{animation:c${index} ${playing}}`
    ]
  })
  const texts = timed.map(({ text, isCommand }, index) => {
    if (text === "") return ""
    const y = 52 + index * lineHeight
    const words = isCommand ? `<tspan class="g">$</tspan> <tspan class="b">${escaped(text)}</tspan>` : spans(text)
    const drawn = `<text id="l${index}" x="20" y="${y}" xml:space="preserve">${words}</text>`
    return isCommand
      ? `${drawn}<rect id="c${index}" class="cover" x="${20 + Math.round(2 * charWidth)}" y="${y - 14}" width="${width}" height="${lineHeight}"/>`
      : drawn
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(label)}">
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d5dbe3;white-space:pre}.b{font-weight:700;fill:#fff}.d{fill:#98a3b3}.g{fill:#6bd08d}.y{fill:#e8c26a}.r{fill:#ff8f87}.cover{fill:#151a21;transform:translateX(${width}px)}
${rules.join("\n")}
@media (prefers-reduced-motion:reduce){text,rect{animation:none!important}}</style>
<defs><clipPath id="w"><rect x="1" y="30" width="${width - 2}" height="${height - 32}"/></clipPath></defs>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="#151a21" stroke="#5b6675"/>
<circle cx="20" cy="18" r="5" fill="#5b6675"/><circle cx="38" cy="18" r="5" fill="#5b6675"/><circle cx="56" cy="18" r="5" fill="#5b6675"/>
<g clip-path="url(#w)">
${texts.filter((one) => one !== "").join("\n")}
</g>
</svg>
`
}

/** What a recording says, without what differs from one day to the next: ids, times and durations. */
export const wordsOf = (svg: string): ReadonlyArray<string> =>
  Array.from(svg.matchAll(/<text[^>]*>(.*?)<\/text>/g), ([, words = ""]) =>
    words
      .replace(/<[^>]+>/g, "")
      .replace(/\b(run|txn)_\w+…?/g, "$1_…")
      .replace(/\d{4}-\d\d-\d\d[ T][\d:.]+Z?|\d+(\.\d+)? (ms|s)\b/g, "(time)")
      .replace(/\s+/g, " ")
      .trim()
  )
