/** The signed receipt of a run: what it says, the signed text itself, and how to verify it without this service. */
import { SaveButton } from "../../actions/Actions.tsx"
import { addressOf, ApiError, request, useRead } from "../../data/api.ts"
import { save } from "../../data/save.ts"
import { Loaded, OutLink } from "../../parts/Page.tsx"
import { CodeBlock } from "../../parts/Values.tsx"
import { Json } from "./Tabs.tsx"
import type { Run } from "./useRun.ts"

const mediaType = "application/jose"

/** The middle part of a JWS is the payload, in base64url. Null for a text of another form. */
const payloadOf = (jws: string): unknown => {
  try {
    const part = (jws.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")
    const bytes = Uint8Array.from(atob(part), (letter) => letter.codePointAt(0) ?? 0)
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return null
  }
}

const useReceipt = (run_id: string, isDone: boolean) =>
  useRead(
    ["run", run_id, "receipt"],
    async ({ signal }) => {
      const address = addressOf("/v1/runs/:run_id/receipt", { params: { run_id } })
      const response = await request("GET", address, {}, { signal, headers: { accept: mediaType } })
      return response.text()
    },
    {
      enabled: isDone,
      // Each receipt is signed anew, and says the same.
      staleTime: Number.POSITIVE_INFINITY,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.status === 0
    }
  )

const Signed = ({ run_id, jws }: { readonly run_id: string; readonly jws: string }) => (
  <div className="space-y-4">
    <div className="flex flex-wrap items-center justify-between gap-3">
      <span className="text-muted">
        Signed by this service over the facts below. Keep it: it can be verified without the service.{" "}
        <OutLink href="/.well-known/jwks.json">Public keys</OutLink>
      </span>
      <SaveButton send={async () => save(jws, `${run_id}.jws`, mediaType)}>Save the receipt</SaveButton>
    </div>
    <Json value={payloadOf(jws)} label="what the receipt says" />
    <section>
      <h3 className="mb-2 font-medium">Verify it</h3>
      <CodeBlock
        label="commands that verify the receipt"
        text={`rungate receipt ${run_id}\nrungate receipt keys\nrungate receipt verify ${run_id}.jws --jwks jwks.json`}
      />
    </section>
    <section>
      <h3 className="mb-2 font-medium">Signed text (JWS)</h3>
      <CodeBlock label="the signed receipt" text={jws} />
    </section>
  </div>
)

export const ReceiptTab = ({ run }: { readonly run: Run }) => {
  const receipt = useReceipt(run.run_id, run.done)
  if (!run.done) return <p className="text-muted">A run has a receipt as soon as it has ended.</p>
  return <Loaded query={receipt}>{(jws) => <Signed run_id={run.run_id} jws={jws} />}</Loaded>
}
