/** Reads a CSV that somebody chose in this page, and says what is wrong with it. */
import { useState } from "react"
import { announce } from "../../parts/Values.tsx"
import { type Sheet, sheetOf } from "./readFile.ts"

/** `problemWith` is what the page finds wrong with a file that can be read. */
export const useSheetFile = (onSheet: (sheet: Sheet) => void, problemWith?: (sheet: Sheet) => string | null) => {
  const [problem, setProblem] = useState<string | null>(null)
  const take = async (file: File | undefined) => {
    if (file === undefined) return
    try {
      const read = sheetOf(file.name, new Uint8Array(await file.arrayBuffer()))
      const newProblem = "problem" in read ? read.problem : (problemWith?.(read.sheet) ?? null)
      setProblem(newProblem)
      if (newProblem !== null || "problem" in read) return
      announce(`${read.sheet.name}: ${read.sheet.rows.length} rows.`)
      onSheet(read.sheet)
    } catch {
      setProblem(`${file.name} can't be read. Choose it again; it may have been changed or moved.`)
    }
  }
  return { take, problem }
}

export const FileProblem = ({ problem }: { readonly problem: string | null }) =>
  problem !== null && (
    <p role="alert" className="mt-2 break-words text-red">
      {problem}
    </p>
  )
