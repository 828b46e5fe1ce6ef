/** All API keys: what each may do, what of its budget is spent, and when it was last used. Those of allowances have a list of their own. */
import { scopeWords } from "../../../client/Words.ts"
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useDenied } from "../../data/session.ts"
import { FilterSelect } from "../../lists/Filters.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { NewLink, PageHead } from "../../parts/Page.tsx"
import { Allowances } from "./Allowances.tsx"
import { BudgetBar, isUsable, KeyName, KeyState } from "./KeyState.tsx"

const columns = columnsOf("ApiKey", {
  name: (key) => <KeyName {...key} />,
  revoked: (key) => <KeyState apiKey={key} />,
  budget: ({ budget }) => <BudgetBar budget={budget} />,
  allow: (key) => scopeWords(key, 1)
})

const Keys = () => {
  const [search] = useFilters()

  const shown = search["show"] === "all" ? "all" : ""
  const paged = usePaged(["keys", "paged"], (from) => api.keys.list({ query: from }), { pageSize: 100 })
  const items = paged.items?.filter((key) => !key.allowance && (shown === "all" || isUsable(key))) ?? null

  return (
    <>
      <PageHead
        actions={
          <NewLink operation="keys.create" to="/settings/keys/new" look="primary">
            Create a key
          </NewLink>
        }
      >
        Programs and agents call Rungate with a key. People sign in. {useDenied("keys.create")}
      </PageHead>
      <div className="mb-4 flex">
        <FilterSelect
          name="show"
          label="Which keys"
          any="Keys in use"
          options={{ all: "All, with revoked and expired ones" }}
        />
      </div>
      <PagedTable
        paged={{ ...paged, items }}
        label="API keys"
        columns={columns}
        toOf={({ id }) => `/settings/keys/${id}`}
        empty={shown === "all" ? "Keys will be here." : "No key is in use."}
        hint={
          <>
            <p className="text-muted">A key can have a budget, and limits on what it may run.</p>
            <NewLink operation="keys.create" to="/settings/keys/new">
              Create a key
            </NewLink>
          </>
        }
      />
      <Allowances />
    </>
  )
}

export default Keys
