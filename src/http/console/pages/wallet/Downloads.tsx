/** Files to keep, with which somebody can prove the ledger without this service: receipts, signed heads, and the chain of hashes. */
import { Download } from "lucide-react"
import { addressOf, api } from "../../data/api.ts"
import { SaveButton, useAction } from "../../actions/Actions.tsx"
import { save, saveAnswer } from "../../data/save.ts"
import { counted } from "../../../client/Words.ts"
import { allRows } from "../../lists/PagedList.tsx"
import { OutLink, Panel } from "../../parts/Page.tsx"
import { CodeBlock } from "../../parts/Values.tsx"

const verifyHeads = "rungate receipt verify --head ledger-heads.json --jwks jwks.json"
/** A browser holds the file in memory. */
const rowsMax = 100_000

/** As `rungate wallet heads` writes it, so that `rungate receipt verify --head` reads it. */
const asOneObject = (items: ReadonlyArray<unknown>) => `${JSON.stringify({ items }, null, 2)}\n`
const asLines = (items: ReadonlyArray<unknown>) => items.map((one) => `${JSON.stringify(one)}\n`).join("")

const saveAll = async (
  name: string,
  read: Parameters<typeof allRows>[0],
  write: (items: ReadonlyArray<unknown>) => string
) => {
  const { items, isAll } = await allRows(read, rowsMax)
  if (items.length === 0) return "There is nothing to save yet."
  save(write(items), name, "application/json")
  return `${counted(items.length, "row")} saved${isAll ? "." : ". There are more; the API has all of them."}`
}

/** A run's receipt as a file. The service signs it, and answers it as text. */
export const Receipt = ({ run_id }: { readonly run_id: string }) => {
  const address = addressOf("/v1/runs/:run_id/receipt", { params: { run_id } })
  const fetched = useAction(() => saveAnswer(address, "application/jose", `${run_id}.jws`), {
    says: "The receipt is saved.",
    fails: ""
  })
  return (
    <button
      type="button"
      disabled={fetched.isPending}
      aria-label={`Save the receipt of ${run_id}`}
      title={fetched.error === null ? "Save the receipt" : fetched.error.message}
      onClick={() => fetched.mutate()}
      className="inline-flex min-h-6 items-center gap-1 rounded px-1 text-muted hover:bg-hover hover:text-text"
    >
      <Download size={14} aria-hidden="true" /> receipt
    </button>
  )
}

export const Downloads = () => (
  <Panel title="Prove later that no entry was changed">
    <p className="mb-3 max-w-prose text-muted">
      Each entry has a hash that covers the one before it, and the service signs the newest hash of each day. Keep these
      files: who has them needs not trust this service. Its keys are at{" "}
      <OutLink href="/.well-known/jwks.json">/.well-known/jwks.json</OutLink>.
    </p>
    <div className="flex flex-wrap items-start gap-2">
      <SaveButton send={() => saveAll("ledger-heads.json", (from) => api.receipts.heads({ query: from }), asOneObject)}>
        Save the signed hash of each day
      </SaveButton>
      <SaveButton send={() => saveAll("ledger-chain.jsonl", (from) => api.receipts.chain({ query: from }), asLines)}>
        Save all entries with their hashes
      </SaveButton>
    </div>
    <details className="mt-3">
      <summary className="text-muted">Compare saved hashes with the ledger of a later day</summary>
      <div className="mt-2">
        <CodeBlock
          label="the command that compares saved hashes"
          text={["rungate receipt keys -o jwks.json", verifyHeads].join("\n")}
        />
      </div>
    </details>
  </Panel>
)
