/** The result of a run, the whole answer of the API, and its labels. */
import * as Radix from "@radix-ui/react-tabs"
import type { ReactNode } from "react"
import { CodeBlock } from "../../parts/Copy.tsx"
import type { Run } from "./useRun.ts"

export interface Tab {
  readonly name: string
  readonly content: ReactNode
}

export const Tabs = ({ label, tabs }: { readonly label: string; readonly tabs: ReadonlyArray<Tab> }) => (
  <Radix.Root defaultValue={tabs[0]?.name ?? ""}>
    <Radix.List aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map(({ name }) => (
        <Radix.Trigger
          key={name}
          value={name}
          className="border-b-2 border-transparent px-3 py-2 whitespace-nowrap text-muted hover:text-text data-[state=active]:border-accent data-[state=active]:font-semibold data-[state=active]:text-text"
        >
          {name}
        </Radix.Trigger>
      ))}
    </Radix.List>
    {tabs.map(({ name, content }) => (
      <Radix.Content key={name} value={name} className="pt-4">
        {content}
      </Radix.Content>
    ))}
  </Radix.Root>
)

/** Larger JSON is shown from its beginning; it can be copied and saved in full. */
const shownMax = 200_000
export const Json = ({ value, label }: { readonly value: unknown; readonly label: string }) => {
  const text = JSON.stringify(value, null, 2) ?? "null"
  return <CodeBlock label={label} text={text.length > shownMax ? `${text.slice(0, shownMax)}\n…` : text} />
}

const Labels = ({ metadata }: { readonly metadata: Readonly<Record<string, string>> }) => (
  <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
    {Object.entries(metadata).map(([name, value]) => (
      <div key={name} className="contents">
        <dt className="text-muted">{name}</dt>
        <dd className="break-words">{value}</dd>
      </div>
    ))}
  </dl>
)

export const RunTabs = ({ run }: { readonly run: Run }) => {
  const labels = run.metadata ?? {}
  return (
    <Tabs
      label="Parts of the run"
      tabs={[
        {
          name: "Result",
          content:
            run.result === undefined ? (
              <p className="text-muted">
                {run.done ? "This run has no result." : "The result comes when the run ends."}
              </p>
            ) : (
              <Json value={run.result} label="the result" />
            )
        },
        { name: "Answer of the API", content: <Json value={run} label="the answer" /> },
        ...(Object.keys(labels).length === 0 ? [] : [{ name: "Labels", content: <Labels metadata={labels} /> }])
      ]}
    />
  )
}
