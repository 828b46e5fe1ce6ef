/** Erases a subject for good. It counts the runs anew when somebody asks, and says what stays. */
import { useState } from "react"
import { useAction } from "../../actions/Actions.tsx"
import { api, useRead } from "../../data/api.ts"
import { Allowed, Button, Failed, Skeleton } from "../../parts/Page.tsx"
import { Dialog } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { erasable, type Known, knownOf, runsInWords } from "./useHistory.ts"

type Subject = Known["subject"]

const Name = ({ subject }: { readonly subject: Subject }) => (
  <strong className="wrap-anywhere">
    {subject.normalized}
    {subject.kind === "domain" && " or an address or page there"}
  </strong>
)

const Question = ({ subject, ended, open }: ReturnType<typeof erasable> & { readonly subject: Subject }) =>
  ended === 0 ? (
    <>
      <p>
        No run that has ended has <Name subject={subject} /> in its input or result. This erases runs whose labels name
        it, and what batches keep of it. It can't be undone.
      </p>
      {open > 0 && <p className="text-amber">Still under way, and not erased: {runsInWords(open)}.</p>}
    </>
  ) : (
    <>
      <p>
        This erases input, result and labels of {runsInWords(ended)} that {ended === 1 ? "names" : "name"}{" "}
        <Name subject={subject} />, also where a run only mentions it. It can't be undone.
      </p>
      <p>
        Charges and ledger entries stay. Afterwards this page does not know that the subject was contacted, so put it on
        your own list of people who must not be written to.
      </p>
      {open > 0 && <p className="text-amber">Still under way, and not erased: {runsInWords(open)}.</p>}
    </>
  )

const Erased = ({ in_flight }: { readonly in_flight: number }) => (
  <>
    <p>Their charges and ledger entries stay.</p>
    {in_flight > 0 && (
      <p className="text-amber">
        Still under way, and not erased: {runsInWords(in_flight)}. Erase again when they have ended.
      </p>
    )}
  </>
)

export const Erase = ({ subject }: { readonly subject: Subject }) => {
  const { normalized, kind } = subject
  const [asks, setAsks] = useState(false)
  const fresh = useRead(["erasure", normalized, kind], () => knownOf(normalized, kind, 1), {
    enabled: asks,
    staleTime: 0,
    gcTime: 0
  })
  const erase = useAction(() => api.history.erase({ query: { q: normalized, kind } }), {
    says: ({ erased }) => `Erased ${runsInWords(erased)}.`,
    changes: ["history", "run", "runs"]
  })
  const counted = fresh.data === undefined || fresh.isFetching ? null : erasable(fresh.data)
  const done = erase.data
  const ended = counted?.ended ?? 0
  // The count does not have labels and batches.
  const what = ended > 0 ? runsInWords(ended) : "labels and batch rows"
  const title = done === undefined ? `Erase ${what}?` : `Erased ${runsInWords(done.erased)}`
  const close = () => {
    setAsks(false)
    erase.reset()
  }
  return (
    <Allowed operation="history.erase">
      <Button look="danger" onClick={() => setAsks(true)}>
        Erase this subject
      </Button>
      <Dialog open={asks} onClose={close} title={title}>
        <div className="space-y-2">
          {done !== undefined ? (
            <Erased in_flight={done.in_flight} />
          ) : counted !== null ? (
            <Question subject={subject} {...counted} />
          ) : fresh.error !== null && !fresh.isFetching ? (
            <Failed error={fresh.error} retry={() => void fresh.refetch()} />
          ) : (
            <Skeleton lines={2} />
          )}
          <FormProblem error={erase.error} />
        </div>
        <div className="mt-5 flex flex-wrap justify-end gap-2">
          <Button onClick={close}>{done === undefined ? "Keep it" : "Close"}</Button>
          {done === undefined && counted !== null && (
            <Button look="danger" busy={erase.isPending} onClick={() => erase.mutate()}>
              Erase {what}
            </Button>
          )}
        </div>
      </Dialog>
    </Allowed>
  )
}
