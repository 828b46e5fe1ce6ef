/** Whether the books add up, recomputed by the service from the ledger's entries, and the sums to follow it by hand. */
import { CircleCheck, CircleX } from "lucide-react"
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { counted } from "../../data/words.ts"
import { Bullets } from "../../lists/Facts.tsx"
import { Button, Failed, Loaded, Panel, Skeleton } from "../../parts/Page.tsx"
import { Id, Money, Time } from "../../parts/Values.tsx"

type Audited = AnswerOf<"wallet", "audit">
type Line = readonly [words: string, amount: string, isTotal: boolean]

const balanceLines = ({ sums, balance_from_ledger, balance }: Audited): ReadonlyArray<Line> => [
  ["Top-ups", sums.topup, false],
  ["Bonuses", sums.bonus, false],
  ["Refunds", sums.refund, false],
  ["Charges", sums.settle, false],
  ["Balance by the ledger", balance_from_ledger, true],
  ["Balance of the wallet", balance, true]
]

/** Charges are negative, and each of them ends a hold: so holds and releases beside them leave what is still held. */
const holdLines = ({ sums, reserved_from_ledger, reserved }: Audited): ReadonlyArray<Line> => [
  ["Charges", sums.settle, false],
  ["Holds, subtracted", sums.reserve, false],
  ["Releases, subtracted", sums.release, false],
  ["Held by the ledger", reserved_from_ledger, true],
  ["Held in the wallet", reserved, true]
]

const Sums = ({ caption, lines }: { readonly caption: string; readonly lines: ReadonlyArray<Line> }) => (
  <table className="w-full text-small">
    <caption className="mb-1 text-left font-medium">{caption}</caption>
    <tbody>
      {lines.map(([words, amount, isTotal]) => (
        <tr key={words} className={isTotal ? "border-t border-line font-semibold" : ""}>
          <th scope="row" className={`py-1 text-left ${isTotal ? "" : "font-normal text-muted"}`}>
            {words}
          </th>
          <td className="py-1 text-right">
            <Money amount={amount} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const Verdict = ({ audited }: { readonly audited: Audited }) => {
  const Shape = audited.adds_up ? CircleCheck : CircleX
  return (
    <p
      role="status"
      className={`flex items-center gap-2 text-title font-semibold ${audited.adds_up ? "text-green" : "text-red"}`}
    >
      <Shape size={20} aria-hidden="true" className="shrink-0" />
      {audited.adds_up ? "Your books add up" : "Your books do not add up"}
    </p>
  )
}

const Proof = ({ audited }: { readonly audited: Audited }) => {
  const { entries, checked_at, chain_verified, violations, head, last_full_check } = audited
  return (
    <div className="space-y-4">
      <Verdict audited={audited} />
      <p className="text-muted">
        {counted(entries, "entry was", "entries were")} added up <Time at={checked_at} />.{" "}
        {chain_verified
          ? "All hashes were computed again, and match."
          : "The hashes of the entries do not match. Report this to the operator of the service."}
        {last_full_check !== null && (
          <>
            {" "}
            The operator's audit of all wallets {last_full_check.adds_up ? "added up" : "did not add up"}{" "}
            <Time at={last_full_check.checked_at} />.
          </>
        )}
      </p>
      {violations.length > 0 && (
        <Bullets
          items={violations.map((one) => `${one.equation}, ${one.subject}: ${one.detail} (in millionths of a dollar)`)}
          className="pl-5 text-red"
        />
      )}
      <details>
        <summary className="font-medium">The sums</summary>
        <div className="mt-3 grid gap-6 sm:grid-cols-2">
          <Sums caption="Balance: the sum of these entries" lines={balanceLines(audited)} />
          <Sums caption="Held: charges less holds and releases" lines={holdLines(audited)} />
        </div>
      </details>
      {head !== null && (
        <p className="text-muted">
          While entry {head.seq.toLocaleString("en")} has this hash, no entry up to it was changed:{" "}
          <Id id={head.hash} what="the hash of the newest entry" />
        </p>
      )}
    </div>
  )
}

export const Audit = () => {
  const audit = useRead(["audit"], () => api.wallet.audit({}), { staleTime: 60_000 })
  return (
    <Panel
      title="Audit"
      actions={
        <Button busy={audit.isFetching} onClick={() => void audit.refetch()}>
          Recompute now
        </Button>
      }
    >
      <Loaded query={audit} skeleton={<Skeleton lines={4} height={20} />}>
        {(audited) => (
          <>
            <Proof audited={audited} />
            {audit.error !== null && <Failed error={audit.error} />}
          </>
        )}
      </Loaded>
    </Panel>
  )
}
