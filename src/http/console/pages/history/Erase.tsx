/** Erases a subject for good. It counts the runs anew when somebody asks, and says what stays. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, queries } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Confirm, Dialog } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { Failed, Skeleton } from "../../parts/States.tsx"
import { erasable, type Known, knownOf, runsInWords } from "./useHistory.ts"

const Subject = ({ subject }: { readonly subject: Known["subject"] }) => (
  <strong className="break-all">
    {subject.normalized}
    {subject.kind === "domain" && " or an address or page there"}
  </strong>
)

const Asking = ({ subject, onClose }: { readonly subject: Known["subject"]; readonly onClose: () => void }) => {
  const { normalized, kind } = subject
  const fresh = useQuery({
    queryKey: ["history", "erase", normalized, kind],
    queryFn: () => knownOf(normalized, kind, 1),
    staleTime: 0,
    gcTime: 0
  })
  const erase = useMutation({
    mutationFn: () => api.history.erase({ query: { q: normalized, kind } }),
    onSuccess: ({ erased }) => {
      announce(`Erased ${runsInWords(erased)}.`)
      for (const key of ["history", "run", "runs"]) void queries.invalidateQueries({ queryKey: [key] })
    }
  })
  if (erase.data !== undefined) {
    const { erased, in_flight } = erase.data
    return (
      <Dialog open onClose={onClose} title={`Erased ${runsInWords(erased)}`}>
        <p>Their charges and ledger entries stay.</p>
        {in_flight > 0 && (
          <p className="mt-2 text-amber">
            {runsInWords(in_flight)} {in_flight === 1 ? "has" : "have"} not ended and {in_flight === 1 ? "was" : "were"}{" "}
            not erased. Erase again when {in_flight === 1 ? "it has" : "they have"} ended.
          </p>
        )}
        <Button className="mt-4" onClick={onClose}>
          Close
        </Button>
      </Dialog>
    )
  }
  if (fresh.data === undefined || fresh.isFetching)
    return (
      <Dialog open onClose={onClose} title="Erase a subject">
        {fresh.error === null || fresh.isFetching ? (
          <Skeleton lines={2} />
        ) : (
          <Failed error={fresh.error} retry={() => void fresh.refetch()} />
        )}
      </Dialog>
    )
  const { ended, open } = erasable(fresh.data)
  if (ended === 0)
    return (
      <Dialog open onClose={onClose} title="Nothing can be erased">
        <p>
          No ended run names <Subject subject={subject} />.
          {open > 0 && ` ${runsInWords(open)} that ${open === 1 ? "does has" : "do have"} not ended yet.`}
        </p>
        <Button className="mt-4" onClick={onClose}>
          Close
        </Button>
      </Dialog>
    )
  return (
    <Confirm
      open
      title={`Erase ${runsInWords(ended)}?`}
      action={`Erase ${runsInWords(ended)}`}
      busy={erase.isPending}
      onClose={onClose}
      onConfirm={() => erase.mutate()}
    >
      <p>
        This erases input, result and labels of {runsInWords(ended)} that {ended === 1 ? "names" : "name"}{" "}
        <Subject subject={subject} />, also where a run only mentions it. It can't be undone.
      </p>
      <p>
        Charges and ledger entries stay. Afterwards this page does not know that the subject was contacted, so add it to
        your own list of people who must not be written to.
      </p>
      {open > 0 && (
        <p className="text-amber">
          {runsInWords(open)} {open === 1 ? "has" : "have"} not ended, and will not be erased.
        </p>
      )}
      <FormProblem error={erase.error} />
    </Confirm>
  )
}

export const Erase = ({ subject }: { readonly subject: Known["subject"] }) => {
  const [asks, setAsks] = useState(false)
  const may = useMay("admin")
  if (!may) return <p className="text-small text-muted">An owner or an admin of the organization can erase this.</p>
  return (
    <>
      <Button look="danger" onClick={() => setAsks(true)}>
        Erase this subject
      </Button>
      {asks && <Asking subject={subject} onClose={() => setAsks(false)} />}
    </>
  )
}
