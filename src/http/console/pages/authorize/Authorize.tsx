/**
 * The consent page of OAuth (`/authorize?client_id=…`): an agent asks to connect, and a person decides.
 *
 * The client's name is its own claim and is shown as text. Where the answer goes is what a person can check.
 */
import { useState } from "react"
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { onForm, useAction } from "../../actions/Actions.tsx"
import { type Search, useFilters } from "../../data/address.ts"
import { Allowed, Button } from "../../parts/Page.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../forms/PayloadFields.tsx"
import { FormError, FormProblem } from "../../parts/Field.tsx"
import { ruleWords } from "../keys/keys.ts"
import { FormPage } from "../start/FormPage.tsx"

type Asked = AnswerOf<"oauth", "asked">

const form = payloadForm("oauth", "decide")
const words = {
  ...ruleWords,
  budget: { hint: "Empty: the wallet and the spend guard are the only limits." },
  lookup_only: {
    label: "Reads and look-ups only",
    hint: "It can start no run that acts outside, such as sending a message."
  }
}

/** The request as the service takes it. Other parameters of the address mean nothing here. */
const requestIn = (search: Search) => {
  const optional = (["scope", "state", "resource"] as const).flatMap((name) =>
    search[name] === undefined || search[name] === "" ? [] : [[name, search[name]] as const]
  )
  const needed = (name: string) => search[name] ?? ""
  return {
    response_type: needed("response_type"),
    client_id: needed("client_id"),
    redirect_uri: needed("redirect_uri"),
    code_challenge: needed("code_challenge"),
    code_challenge_method: needed("code_challenge_method"),
    ...Object.fromEntries(optional)
  }
}
type Request = ReturnType<typeof requestIn>

const exact = "wrap-anywhere font-medium"
const factsOf = ({ organization, on_this_machine, redirect_host, scope }: Asked) =>
  [
    ["Organization whose wallet pays", organization.name, exact],
    ["The answer goes to", on_this_machine ? `a program on your machine (${redirect_host})` : redirect_host, exact],
    [
      "It will be able to",
      scope === "run"
        ? "start runs that spend money, also runs that send messages, and read its own runs and budget"
        : "start runs that look things up and spend money, and read its own runs and budget"
    ]
  ] as const

const Decide = ({ request, consent }: { readonly request: Request; readonly consent: Asked }) => {
  const [isDenied, setIsDenied] = useState(false)
  const decide = useAction(
    ({ sent, approve }: { readonly sent: FormData; readonly approve: boolean }) =>
      api.oauth.decide({
        payload: {
          ...request,
          organization_id: consent.organization.id,
          approve,
          ...(approve ? payloadIn(sent) : {})
        }
      }),
    // The service has checked the address against what the client registered.
    { after: ({ redirect_to }) => location.assign(redirect_to) }
  )
  const choices = consent.scope === "run" ? ["budget", "lookup_only"] : ["budget"]
  const isOver = decide.isPending || decide.isSuccess
  return (
    <form onSubmit={onForm((sent) => decide.mutate({ sent, approve: true }))} className="space-y-5">
      <dl className="space-y-3">
        {factsOf(consent).map(([term, fact, look = ""]) => (
          <div key={term}>
            <dt className="text-small text-muted">{term}</dt>
            <dd className={look}>{fact}</dd>
          </div>
        ))}
      </dl>
      <FormError value={decide.error}>
        <PayloadFields
          form={{ ...form, fields: form.fields.filter(({ name }) => choices.includes(name)) }}
          words={words}
          initial={{ budget: { period: "month" } }}
        />
      </FormError>
      <p className="text-small text-muted">
        The connection is an API key in Settings, API keys. Change its rules or revoke it there at any time.
      </p>
      <FormProblem error={decide.error} />
      <div className="flex gap-3">
        <Button type="submit" look="primary" busy={isOver && !isDenied} disabled={isOver}>
          Allow
        </Button>
        <Button
          busy={isOver && isDenied}
          disabled={isOver}
          onClick={() => {
            setIsDenied(true)
            decide.mutate({ sent: new FormData(), approve: false })
          }}
        >
          Deny
        </Button>
      </div>
    </form>
  )
}

const Authorize = () => {
  const [search] = useFilters()
  const request = requestIn(search)
  const consent = useRead(["authorization", request], () => api.oauth.asked({ query: request }), {
    retry: false,
    staleTime: Number.POSITIVE_INFINITY
  })
  if (consent.error !== null)
    return (
      <FormPage
        title="This request to connect is not valid"
        lead="Nothing was allowed. Start again in the program that sent you here."
      >
        <FormProblem error={consent.error} />
      </FormPage>
    )
  if (consent.data === undefined) return <FormPage />
  const lead = (
    <>
      A program that calls itself <strong className="wrap-anywhere text-text">{consent.data.client_name}</strong> asks
      to use Rungate for you. Allow it only if you started this just now.
    </>
  )
  return (
    <FormPage lead={lead}>
      <Allowed operation="oauth.decide">
        <Decide request={request} consent={consent.data} />
      </Allowed>
    </FormPage>
  )
}

export default Authorize
