/** The file of a batch that was started in this tab, so that its results can stand beside its own columns. A reload forgets it. */
import type { Sheet } from "./readFile.ts"

const files = new Map<string, Sheet>()

export const keepFile = (batch_id: string, sheet: Sheet): void => {
  files.set(batch_id, sheet)
}
export const keptFile = (batch_id: string): Sheet | null => files.get(batch_id) ?? null
