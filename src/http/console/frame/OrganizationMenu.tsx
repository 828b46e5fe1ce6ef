/** The organization of this session, the person's others, and signing out. */
import { useSignOut } from "../account/useSignOut.ts"
import { useAction } from "../actions/Actions.tsx"
import { api } from "../data/api.ts"
import { sessionChanged, useSession } from "../data/session.ts"
import { Menu } from "../parts/Menu.tsx"

export const OrganizationMenu = ({ iconOnly = false }: { readonly iconOnly?: boolean }) => {
  const session = useSession()
  const signOut = useSignOut()
  const change = useAction((organization_id: string) => api.browser.switch({ payload: { organization_id } }), {
    fails: "",
    after: () => sessionChanged("/")
  })
  if (session === null) return null
  const { organization, organizations, user } = session
  return (
    <Menu
      label={`Organization ${organization.name}, signed in as ${user.email}`}
      className="min-h-8 min-w-0 rounded px-2 py-1 font-semibold hover:bg-hover"
      actions={[
        ...organizations.map(({ id, name }) => ({
          word: name,
          chosen: id === organization.id,
          run: () => {
            if (id !== organization.id) change.mutate(id)
          }
        })),
        { word: `Sign out ${user.email}`, run: () => signOut.mutate() }
      ]}
    >
      <span className={iconOnly ? "font-semibold" : "truncate"}>
        {iconOnly ? organization.name.slice(0, 1).toUpperCase() : organization.name}
      </span>
    </Menu>
  )
}
