/** What an import adds, changes and removes, and what it could not read. Long lists open on a click. */
import type { AnswerOf } from "../../../data/api.ts"

type Compared = AnswerOf<"operatorCatalog", "import">

/** A provider may have thousands of endpoints. The command shows all of them. */
const linesMax = 500

const Lines = ({ title, lines }: { readonly title: string; readonly lines: ReadonlyArray<string> }) =>
  lines.length === 0 ? (
    <p className="text-muted">{title}: none</p>
  ) : (
    <details open={lines.length <= 20}>
      <summary className="cursor-pointer font-medium">
        {title}: {lines.length}
      </summary>
      <ul className="mt-1 ml-6 list-disc font-mono text-small break-words">
        {lines.slice(0, linesMax).map((line, index) => (
          <li key={`${index} ${line}`}>{line}</li>
        ))}
      </ul>
      {lines.length > linesMax && (
        <p className="mt-1 text-muted">
          The first {linesMax}. <code>rungate catalog import --dry-run --all</code> shows every one.
        </p>
      )}
    </details>
  )

export const Diff = ({ compared }: { readonly compared: Compared }) => (
  <div className="grid gap-3">
    <p>
      {compared.endpoints} endpoints, {compared.unchanged} of them unchanged. Calls go to{" "}
      {compared.base_url === null ? (
        "the address that the provider's adapter has"
      ) : (
        <code className="wrap-anywhere">{compared.base_url}</code>
      )}
      .
    </p>
    <Lines title="Added" lines={compared.added} />
    <Lines title="Changed" lines={compared.changed} />
    <Lines title="Removed" lines={compared.removed} />
    <Lines title="Warnings" lines={compared.warnings} />
  </div>
)
