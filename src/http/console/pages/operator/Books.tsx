/** The books of all wallets: every equation recomputed now, audits before, and how far the ledger's heads are signed. */
import { type AnswerOf, api, queries, useRead } from "../../data/api.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { counted } from "../../../client/Words.ts"
import { Button, Loaded, LoadedPanel, Page, Panel, Skeleton } from "../../parts/Page.tsx"
import { Money, Time } from "../../parts/Values.tsx"
import { Ask, SmallTable, Verdict } from "./parts.tsx"

type BooksAudit = AnswerOf<"operatorBooks", "audit">

const auditKey = ["operator", "audit"]

const sheetWords: ReadonlyArray<readonly [keyof BooksAudit["sheet"], string]> = [
  ["topups", "Top-ups"],
  ["clawed_back", "Refunds and disputes of top-ups"],
  ["bonuses", "Bonuses, including referrals"],
  ["refunds", "Refunds"],
  ["charged", "Charged to runs"],
  ["balances", "Balance of all wallets"],
  ["provider_cost", "Cost of providers"],
  ["losses", "Losses (cost above charge)"]
]

const Sheet = ({ sheet }: { readonly sheet: BooksAudit["sheet"] }) => (
  <Panel title="Where the money came from and went">
    <SmallTable
      label="Sums over all wallets"
      rows={sheetWords}
      none="Nothing was booked."
      columns={[
        { title: "Sum", cell: ([, words]) => words },
        { title: "USD", cell: ([name]) => <Money amount={String(sheet[name])} />, align: "right" }
      ]}
    />
    {sheet.cost_unknown > 0 && (
      <p className="mt-3 text-muted">The cost of {sheet.cost_unknown} charged runs is unknown and counts as 0.</p>
    )}
  </Panel>
)

const Equations = ({ audit }: { readonly audit: BooksAudit }) => (
  <ul className="grid gap-3">
    {audit.equations.map(({ id, title, violations }) => (
      <li key={id}>
        <Verdict good={violations.length === 0}>
          <span className="font-mono text-small">{id}</span> {title}
        </Verdict>
        {violations.length > 0 && (
          <ul className="mt-1 ml-6 list-disc space-y-1 text-small break-words">
            {violations.map(({ subject, detail }) => (
              <li key={`${subject} ${detail}`}>
                <span className="font-mono">{subject}</span>: {detail}
              </li>
            ))}
          </ul>
        )}
      </li>
    ))}
  </ul>
)

const Live = () => {
  const audit = useRead(auditKey, () => api.operatorBooks.audit({}), {
    // It reads the whole ledger, so it runs when the page opens and when somebody asks, and not by itself.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false
  })
  return (
    <>
      <Panel
        title="Equations"
        actions={
          <Button busy={audit.isFetching} onClick={() => void audit.refetch()}>
            Audit again
          </Button>
        }
      >
        <Loaded query={audit} skeleton={<Skeleton lines={10} />}>
          {(data) => (
            <>
              <div className="mb-4 font-semibold">
                <Verdict good={data.adds_up}>
                  {data.adds_up ? "The books add up" : "The books do not add up"}: {counted(data.wallets, "wallet")},{" "}
                  {counted(data.entries, "ledger entry", "ledger entries")} and {counted(data.runs, "run")}, recomputed{" "}
                  <Time at={data.checked_at} />.
                </Verdict>
              </div>
              <Equations audit={data} />
            </>
          )}
        </Loaded>
      </Panel>
      {audit.data !== undefined && <Sheet sheet={audit.data.sheet} />}
    </>
  )
}

const Recorded = () => (
  <LoadedPanel title="Recorded audits" query={useRead(["operator", "books"], () => api.operatorBooks.get({}))}>
    {({ checks, heads }) => (
      <>
        <SmallTable
          label="Recorded audits"
          rows={checks}
          none="None yet. Customers see the newest one beside the audit of their own wallet."
          columns={columnsOf("BooksCheck")}
        />
        <p className="mt-3 text-muted">
          {heads.complete_day === null
            ? "No day has signed heads of the ledger yet."
            : `The heads of the ledger are signed up to ${heads.complete_day} (UTC).`}{" "}
          {heads.due_day !== null && `A worker makes those of ${heads.due_day} next.`}
        </p>
      </>
    )}
  </LoadedPanel>
)

const Record = () => {
  const audit = queries.getQueryData<BooksAudit>(auditKey)
  return (
    <Ask
      send={() => api.operatorBooks.check({})}
      says="The audit is recorded."
      word="Record an audit…"
      buttonLook="primary"
      title="Record an audit of all wallets?"
      confirm="Audit and record"
    >
      <p>Every customer sees its time and whether the books added up.</p>
      {audit?.adds_up === false && <Verdict good={false}>Right now the books do not add up.</Verdict>}
      <p>
        It does not compare top-ups with the payment processor. <code>rungate audit</code> on the server does.
      </p>
    </Ask>
  )
}

const Books = () => (
  <Page actions={<Record />}>
    <Live />
    <Recorded />
  </Page>
)

export default Books
