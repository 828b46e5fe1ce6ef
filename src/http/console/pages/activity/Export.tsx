/** Saves a list with its present filters as CSV, up to 10,000 rows. */
import { useMutation } from "@tanstack/react-query"
import { Download } from "lucide-react"
import { addressOf } from "../../../client/Browser.ts"
import { request } from "../../data/api.ts"
import { save } from "../../data/save.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"

export const Export = ({
  path,
  query,
  name
}: {
  readonly path: string
  readonly query: Record<string, string>
  readonly name: string
}) => {
  const fetched = useMutation({
    mutationFn: async () => {
      const response = await request("GET", addressOf(path, { query }), {}, { headers: { accept: "text/csv" } })
      save(await response.blob(), name)
      return response.headers.get("link") !== null
    },
    onSuccess: (hasMore) => announce(hasMore ? "Saved the first 10,000 rows. Narrow the time for the rest." : "Saved."),
    onError: (error) => announce(error.message)
  })
  return (
    <Button busy={fetched.isPending} onClick={() => fetched.mutate()}>
      <Download size={14} aria-hidden="true" /> Export CSV
    </Button>
  )
}
