/** Saves a list with its present filters as CSV, up to 10,000 rows. */
import { addressOf, request } from "../data/api.ts"
import { SaveButton } from "../actions/Actions.tsx"
import { save } from "../data/save.ts"

export const Export = ({
  path,
  query,
  name
}: {
  readonly path: string
  readonly query: Record<string, string>
  readonly name: string
}) => {
  const send = async () => {
    const response = await request("GET", addressOf(path, { query }), {}, { headers: { accept: "text/csv" } })
    save(await response.blob(), name)
    const hasMore = response.headers.get("link") !== null
    return hasMore ? "Saved the first 10,000 rows. Narrow the time for the rest." : undefined
  }
  return <SaveButton send={send}>Export CSV</SaveButton>
}
