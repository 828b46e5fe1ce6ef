/**
 * Where lines of the request log go: standard output, many lines in one write.
 *
 * Lines wait at most some milliseconds. A reader that is too slow loses lines, and a line says how many: the memory of the process is
 * limited and no request waits for its log line.
 */
import { Context } from "effect"

export interface LogSinkShape {
  /** Takes one line with its line break. */
  readonly write: (line: string) => void
  /** Writes what waits, at the end of the process. */
  readonly flush: () => void
}

/** The end of a file or a pipe. */
export interface Output {
  /** Bytes that wait to be written. */
  readonly writableLength: number
  readonly write: (text: string) => unknown
}

const waitMillis = 50
/** Characters after which lines are written at once. */
const batchMax = 64 * 1024
/** Bytes that may wait for a slow reader. */
const waitingMax = 8 * 1024 * 1024

export const bufferedSink = (output: () => Output): LogSinkShape => {
  let waiting = ""
  let lost = 0
  let timer: ReturnType<typeof setTimeout> | null = null
  const flush = () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (waiting === "") return
    const said = lost === 0 ? "" : `{"level":"warning","message":"request log lines were lost","lines":${lost}}\n`
    lost = 0
    const text = said + waiting
    waiting = ""
    output().write(text)
  }
  return {
    flush,
    write: (line) => {
      if (waiting === "" && output().writableLength > waitingMax) {
        lost += 1
        return
      }
      waiting += line
      if (waiting.length > batchMax) flush()
      else timer ??= setTimeout(flush, waitMillis)
    }
  }
}

export const LogSink = Context.Reference<LogSinkShape>("rungate/layers/observability/LogSink", {
  defaultValue: () => {
    // A reader that went away, such as `head`, must not end the service. Its lines are lost.
    process.stdout.on("error", () => undefined)
    return bufferedSink(() => process.stdout)
  }
})
