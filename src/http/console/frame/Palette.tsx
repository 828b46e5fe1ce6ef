/** The palette: run a capability, open a run by its id, go to a page, copy the id of a key, or search. The operator's has pages and searches. */
import { Command, defaultFilter } from "cmdk"
import { BookOpen, Copy, Search } from "lucide-react"
import { type ReactNode, useState } from "react"
import { useGo } from "../data/address.ts"
import { api, useRead } from "../data/api.ts"
import { useApiKeys, useCapabilities } from "../data/lists.ts"
import { allPages, type Page } from "../data/page.ts"
import { Status, toClipboard } from "../parts/Values.tsx"
import { Icon } from "../parts/Icon.tsx"
import { isRunId, nameOf } from "../running/request.ts"
import { closeOverlay, type FrameKind } from "./openPalette.ts"

interface ItemProps {
  readonly value: string
  readonly onSelect: () => void
  readonly children: ReactNode
}

const Item = ({ onSelect, ...item }: ItemProps) => (
  <Command.Item
    {...item}
    onSelect={() => {
      closeOverlay()
      onSelect()
    }}
    className="flex cursor-pointer items-center gap-2.5 rounded px-2.5 py-2 data-[selected=true]:bg-accent-soft"
  />
)

/** An item that leads to an address of the console. */
const Way = ({ to, ...item }: Omit<ItemProps, "onSelect"> & { readonly to: string }) => {
  const go = useGo()
  return <Item {...item} onSelect={() => go(to)} />
}

const groupLook =
  "px-2 py-1 [&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-small [&_[cmdk-group-heading]]:text-muted"

const Runs = ({ text }: { readonly text: string }) => {
  const runs = useRead(["runs", "palette"], () => api.runs.list({ query: { limit: 8 } }))
  const typed = text.trim()
  const runId = isRunId(typed) ? typed : undefined
  return (
    <Command.Group heading="Runs" className={groupLook}>
      {runId !== undefined && (
        <Way value={runId} to={`/runs/${runId}`}>
          <Search size={16} aria-hidden="true" /> Open <code className="font-mono text-small">{runId}</code>
        </Way>
      )}
      {(runs.data?.items ?? [])
        .filter(({ run_id }) => run_id !== runId)
        .map((run) => (
          <Way key={run.run_id} value={`${run.run_id} ${nameOf(run)}`} to={`/runs/${run.run_id}`}>
            <Status status={run.status} />
            <span className="truncate">{nameOf(run)}</span>
            <code className="ml-auto truncate font-mono text-small text-muted max-sm:hidden">{run.run_id}</code>
          </Way>
        ))}
    </Command.Group>
  )
}

/** Behind everything that has the name: the text as a search of other pages. */
const elsewhere = "search elsewhere "
const lowestScore = 1e-9
const scoreOf = (value: string, text: string, keywords?: Array<string>) =>
  value.startsWith(elsewhere) ? lowestScore : defaultFilter(value, text, keywords)

/** Name, address of the page with the text still missing, and the question that it answers. */
const searches: Readonly<Record<FrameKind, ReadonlyArray<readonly [name: string, address: string, words: string]>>> = {
  session: [
    ["Runs", "/activity?q=", "Find runs"],
    ["History", "/history?q=", "Was it bought or contacted?"],
    ["Catalog", "/catalog?q=", "What can do it?"]
  ],
  operator: [
    ["Organizations", "/operator/organizations?search=", "By name, e-mail address or id"],
    ["Audit log, by who", "/operator/audit-log?actor=", "What did they change?"]
  ]
}

const Elsewhere = ({ frame, text }: { readonly frame: FrameKind; readonly text: string }) => {
  const q = encodeURIComponent(text.trim())
  if (q === "") return null
  return (
    <Command.Group heading={`Search for “${text.trim()}”`} className={groupLook}>
      {searches[frame].map(([name, address, words]) => (
        <Way key={name} value={`${elsewhere}${name}`} to={`${address}${q}`}>
          <Search size={16} aria-hidden="true" />
          {name}
          <span className="ml-auto text-small text-muted max-sm:hidden">{words}</span>
        </Way>
      ))}
    </Command.Group>
  )
}

const Capabilities = () => {
  const capabilities = useCapabilities().data ?? []
  if (capabilities.length === 0) return null
  return (
    <Command.Group heading="Run a capability" className={groupLook}>
      {capabilities.map(({ capability, title }) => (
        <Way key={capability} value={`run ${capability} ${title}`} to={`/catalog/${encodeURIComponent(capability)}`}>
          <Icon of={BookOpen} />
          <span className="truncate">{title}</span>
          <code className="ml-auto font-mono text-small text-muted max-sm:hidden">{capability}</code>
        </Way>
      ))}
    </Command.Group>
  )
}

const Keys = () => {
  const usable = (useApiKeys().data ?? []).filter(({ revoked }) => !revoked)
  if (usable.length === 0) return null
  return (
    <Command.Group heading="Copy the id of a key" className={groupLook}>
      {usable.map(({ id, name, display }) => (
        <Item key={id} value={`key ${name} ${id}`} onSelect={() => void toClipboard(id)}>
          <Copy size={16} aria-hidden="true" />
          <span className="truncate">{name}</span>
          <code className="ml-auto font-mono text-small text-muted">{display}</code>
        </Item>
      ))}
    </Command.Group>
  )
}

const isListed = ({ place }: Page, frame: FrameKind) =>
  place !== undefined && (place === "operator") === (frame === "operator")

const Palette = ({ frame }: { readonly frame: FrameKind }) => {
  const [text, setText] = useState("")
  return (
    <Command filter={scoreOf} label="Go to a page, or search">
      <Command.Input
        value={text}
        onValueChange={setText}
        autoFocus
        placeholder={frame === "session" ? "Capability, page, run id or key" : "Page, or name of an organization"}
        className="w-full border-b border-line bg-transparent px-4 py-3 outline-none"
      />
      <Command.List className="max-h-[60dvh] overflow-y-auto py-1">
        {frame === "session" && (
          <>
            <Capabilities />
            <Runs text={text} />
          </>
        )}
        <Command.Group heading="Go to" className={groupLook}>
          {allPages()
            .filter((page) => isListed(page, frame))
            .map(({ path, title, icon, shortcut }) => (
              <Way key={path} value={`page ${title}`} to={path}>
                <Icon of={icon} />
                {title}
                {shortcut !== undefined && <kbd className="ml-auto text-small text-muted">g {shortcut}</kbd>}
              </Way>
            ))}
        </Command.Group>
        {frame === "session" && <Keys />}
        <Elsewhere frame={frame} text={text} />
      </Command.List>
    </Command>
  )
}

export default Palette
