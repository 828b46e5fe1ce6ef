/** The parts of a CSV of opt-outs, each small enough for one request. */
import { Effect } from "effect"
import { unparse } from "papaparse"
import { batchRowsMax } from "../../../schema/batches/Batch.ts"
import { linesOf } from "../batches/BatchProgress.ts"

export interface Added {
  readonly added: number
  readonly already: number
  readonly refused: number
}

/** The texts of the requests. */
export const partsOf = (file: string) =>
  Effect.map(linesOf(file), ({ header, rows }) =>
    Array.from({ length: Math.ceil(rows.length / batchRowsMax) }, (_, part) =>
      unparse([header, ...rows.slice(part * batchRowsMax, (part + 1) * batchRowsMax)])
    )
  )

/** Sends one part after the other, and adds up their answers. */
export const imported = <E, R>(parts: ReadonlyArray<string>, send: (text: string) => Effect.Effect<Added, E, R>) =>
  Effect.map(Effect.forEach(parts, send), (answers) => {
    const sum = (name: keyof Added) => answers.reduce((all, one) => all + one[name], 0)
    return { added: sum("added"), already: sum("already"), refused: sum("refused") }
  })

export const addedText = ({ added, already, refused }: Added): string =>
  `Added ${added}. The list had ${already} already.${refused === 0 ? "" : ` ${refused} rows have no value that can be read.`}`
