/** Allowances, as a list and on the page of their key: what each has spent, holds and has left, who gave it, and revoking it. */
import { scopeWords } from "../../../client/Words.ts"
import { ConfirmAction } from "../../actions/Actions.tsx"
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useKeyNames } from "../../data/lists.ts"
import { amountOf, exactDollars, microsOf } from "../../data/money.ts"
import { useMay } from "../../data/session.ts"
import { Meter } from "../../lists/Facts.tsx"
import { PagedTable } from "../../lists/PagedList.tsx"
import { columnsOf, NounFacts } from "../../lists/nouns.tsx"
import { LoadedPanel, NewLink, Panel, Skeleton } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"
import { KeyLink, KeyName } from "./KeyState.tsx"
import { type Allowance, type ApiKey, useAllowance, useAllowances, useMayEnd } from "./keys.ts"

export const Spent = ({ spent, amount }: Pick<Allowance, "spent" | "amount">) => (
  <div className="space-y-1">
    <div>
      <Money amount={spent} /> of <Money amount={amount} />
    </div>
    <Meter spent={spent} limit={amount} label="Part of the allowance that is spent" />
  </div>
)
const columnsFor = (names: ReadonlyMap<string, string>, may: boolean) =>
  columnsOf("Allowance", {
    name: (key) => <KeyName {...key} />,
    spent: (allowance) => <Spent {...allowance} />,
    allow: (one) => scopeWords(one, 1),
    parent_id: ({ parent_id: id }) => (id === null ? "a person" : <KeyLink id={id} name={names.get(id) ?? "a key"} />),
    actions: may && ((allowance) => allowance.status === "active" && <RevokeAllowance allowance={allowance} />)
  })

export const Allowances = () => {
  const showsEnded = useFilters()[0]["show"] === "all"
  const may = useMay("allowances.create")
  const paged = useAllowances()
  const names = useKeyNames(paged.items?.some(({ parent_id }) => parent_id !== null) === true)
  const items = paged.items?.filter(({ status }) => showsEnded || status === "active") ?? null
  return (
    <Panel
      title="Allowances"
      className="mt-6"
      actions={
        <NewLink operation="allowances.create" to="/settings/keys/new-allowance">
          Give an allowance
        </NewLink>
      }
    >
      <p className="mb-3 text-muted">
        An allowance is a key with an amount of the wallet's money, which is held for it at once. What is unused returns
        when it ends.
      </p>
      <PagedTable
        paged={{ ...paged, items }}
        label="Allowances of the organization"
        columns={columnsFor(names, may)}
        empty={showsEnded ? "Allowances will be here." : "No allowance is in use."}
        hint="Give one to each agent that may spend some of your money."
      />
    </Panel>
  )
}

const Returns = ({ listed }: { readonly listed: Allowance }) => {
  // It may have spent more since the page was read.
  const { parent_id, held, available } = useAllowance(listed.id, { placeholderData: listed }).data ?? listed
  const inUse = (microsOf(held) ?? 0n) - (microsOf(available) ?? 0n)
  return (
    <p>
      <Money amount={available} /> returns at once to{" "}
      {parent_id === null ? "the wallet" : "what the key that gave it may spend"}.
      {inUse > 0n && (
        <>
          {" "}
          Its open runs and the allowances under it hold <Money amount={amountOf(inUse)} /> more. What they do not cost
          returns when they end.
        </>
      )}
    </p>
  )
}

export const RevokeAllowance = ({ allowance }: { readonly allowance: Allowance }) => (
  <ConfirmAction
    send={() => api.allowances.revoke({ params: { allowance_id: allowance.id } })}
    says={({ spent, amount }) =>
      `The allowance is revoked. It spent ${exactDollars(spent)} of ${exactDollars(amount)}.`
    }
    changes={["keys", "wallet"]}
    word="Revoke"
    label={`Revoke the allowance ${allowance.name}`}
    title={`Revoke ${allowance.display}?`}
    confirm="Revoke the allowance"
    cancel="Keep it"
  >
    <Returns listed={allowance} />
    <p>
      Calls with <span className="break-words font-medium">{allowance.name}</span> fail at once, and so do those of
      allowances under it. It can't be undone. Runs that have started go on.
    </p>
  </ConfirmAction>
)
export const AllowancePanel = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  const may = useMayEnd(apiKey)
  return (
    <LoadedPanel title="Allowance" query={useAllowance(apiKey.id)} skeleton={<Skeleton lines={4} />}>
      {(allowance) => (
        <div className="space-y-4">
          <Spent {...allowance} />
          <NounFacts
            noun="Allowance"
            one={allowance}
            only={["held", "available", "parent_id"]}
            cells={{ parent_id: ({ parent_id: id }) => (id === null ? "a person" : <KeyLink id={id} />) }}
          />
          <p className="text-muted">
            An allowance can't be changed or rotated. To give another amount or scope, revoke it and give a new one.
          </p>
          {may && allowance.status === "active" && <RevokeAllowance allowance={allowance} />}
        </div>
      )}
    </LoadedPanel>
  )
}
