/** Allowances: what each has spent, holds and has left, when it ends, and who gave it. */
import { scopeWords } from "../../../client/Words.ts"
import { useMay } from "../../data/session.ts"
import { Meter } from "../../forms/Meter.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable } from "../../lists/PagedList.tsx"
import { ButtonLink, Empty, Panel } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"
import { KeyLink, KeyName } from "./KeyName.tsx"
import { RevokeAllowance } from "./RevokeAllowance.tsx"
import { type Allowance, useAllowances } from "./useAllowances.ts"

export const Spent = ({ spent, amount }: Pick<Allowance, "spent" | "amount">) => (
  <div className="space-y-1">
    <div>
      <Money amount={spent} /> of <Money amount={amount} />
    </div>
    <Meter spent={spent} limit={amount} label="Part of the allowance that is spent" />
  </div>
)

/** `names` are those of keys, by their ids. */
const columnsFor = (names: ReadonlyMap<string, string>, may: boolean) =>
  columnsOf("Allowance", {
    name: (key) => <KeyName {...key} />,
    spent: (allowance) => <Spent {...allowance} />,
    allow: (one) => scopeWords(one, 1),
    parent_id: ({ parent_id: id }) => (id === null ? "a person" : <KeyLink id={id} name={names.get(id) ?? "a key"} />),
    actions: may && ((allowance) => allowance.status === "active" && <RevokeAllowance allowance={allowance} />)
  })

export const Allowances = ({
  names,
  showsEnded
}: {
  readonly names: ReadonlyMap<string, string>
  readonly showsEnded: boolean
}) => {
  const may = useMay("allowances.create")
  const paged = useAllowances()
  const items = paged.items?.filter(({ status }) => showsEnded || status === "active") ?? null
  return (
    <Panel
      title="Allowances"
      className="mt-6"
      actions={may && <ButtonLink to="/settings/keys/new-allowance">Give an allowance</ButtonLink>}
    >
      <p className="mb-3 text-muted">
        An allowance is a key with an amount of the wallet's money, which is held for it at once. What is unused returns
        when it ends.
      </p>
      <PagedTable
        paged={{ ...paged, items }}
        label="Allowances of the organization"
        columns={columnsFor(names, may)}
        empty={
          <Empty title={showsEnded ? "Allowances will be here." : "No allowance is in use."}>
            Give one to each agent that may spend some of your money.
          </Empty>
        }
      />
    </Panel>
  )
}
