/** Two dates that bound a list. They live in the address as `from` and `to`; both days belong to the period, in UTC. */
import type { Search } from "../data/address.ts"
import { inputLook } from "../parts/Field.tsx"

export const Period = ({ search, change }: { readonly search: Search; readonly change: (changes: Search) => void }) => (
  <>
    {(["from", "to"] as const).map((name) => (
      <label key={name} className="flex items-center gap-1.5">
        <span className="text-muted">{name === "from" ? "From" : "to"}</span>
        <input
          type="date"
          value={search[name] ?? ""}
          onChange={(event) => change({ [name]: event.target.value })}
          className={inputLook}
        />
      </label>
    ))}
  </>
)
