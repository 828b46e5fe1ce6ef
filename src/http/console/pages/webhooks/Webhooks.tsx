/** Webhook endpoints: where events are posted, and whether they arrive. */
import { useDenied } from "../../data/session.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { Loaded, type Look, NewLink, Page, RowLink, Skeleton } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { EndpointState, useEndpoints } from "./endpoints.tsx"

const columns = columnsOf("WebhookEndpoint", {
  url: ({ id, url }) => (
    <RowLink to={`/settings/webhooks/${id}`} className="wrap-anywhere">
      {url}
    </RowLink>
  ),
  status: (endpoint) => <EndpointState endpoint={endpoint} />
})

const Add = ({ look }: { readonly look?: Look }) => (
  <NewLink operation="webhooks.create" to="/settings/webhooks/new" look={look}>
    Add an endpoint
  </NewLink>
)

const Webhooks = () => {
  const denied = useDenied("webhooks.create") ?? ""
  return (
    <Page
      actions={<Add look="primary" />}
      lead={`Events are posted to your endpoints, signed by the Standard Webhooks specification. ${denied}`}
    >
      <Loaded query={useEndpoints()} skeleton={<Skeleton lines={5} height={28} />}>
        {({ items }) => (
          <DataTable
            label="Webhook endpoints"
            rows={items}
            columns={columns}
            toOf={({ id }) => `/settings/webhooks/${id}`}
            empty="Endpoints will be here, each with its deliveries."
            hint={
              <>
                <p className="text-muted">An endpoint is told when a run ends, or when the balance is low.</p>
                <Add />
              </>
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

export default Webhooks
