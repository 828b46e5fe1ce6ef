/** The form of a page, filled with the request of an earlier run if the address names one (`?from=run_…`). */
import { useFilters } from "../../data/address.ts"
import { api, useRead } from "../../data/api.ts"
import { Skeleton } from "../../parts/Page.tsx"
import { type Inspected, valuesOf } from "./requestParts.ts"
import { TryIt } from "./TryIt.tsx"
import { optionsFrom } from "./useForm.ts"

const useEarlier = (run_id: string) =>
  useRead(["run", run_id, "request"], async () => (await api.runs.details({ params: { run_id } })).request, {
    enabled: run_id !== "",
    staleTime: Number.POSITIVE_INFINITY,
    retry: false
  })

export const TryFrom = ({ inspected }: { readonly inspected: Inspected }) => {
  const [{ from = "" }] = useFilters()
  const earlier = useEarlier(from)
  if (from !== "" && earlier.isPending) return <Skeleton lines={6} height={24} />
  return (
    <>
      {from !== "" && earlier.data !== null && earlier.data !== undefined && (
        <p className="mb-3 text-muted">The form has the request of the run {from}. Change what you like.</p>
      )}
      {earlier.error !== null && (
        <p role="alert" className="mb-3 text-red">
          The request of the run {from} can't be read: {earlier.error.message}
        </p>
      )}
      <TryIt
        key={from}
        inspected={inspected}
        initial={valuesOf(earlier.data ?? null)}
        options={optionsFrom(earlier.data)}
      />
    </>
  )
}
