/** The fields of a request, by part, or the same as JSON; and below them the options of routing. */
import { OwnForm, type Wording } from "../../forms/Inputs.tsx"
import { Disclosure, SchemaForm } from "../../forms/SchemaForm.tsx"
import { meaningOf, membersOf } from "../../forms/draft.ts"
import { labelWords } from "../../forms/providerText.ts"
import { choicesOf } from "../../forms/schema.ts"
import { TextArea } from "../../parts/Field.tsx"
import { Button } from "../../parts/Page.tsx"
import { type Form, type Inspected, isCapability, optionsOf, type Part } from "./useForm.ts"

interface Shared {
  readonly form: Form
  /** Of the form, or what the service says instead. */
  readonly problems: ReadonlyMap<string, string>
}

const all = new Intl.ListFormat("en-GB")
const either = new Intl.ListFormat("en-GB", { type: "disjunction" })

const oneOf = (ways: ReadonlyArray<ReadonlyArray<string>>) =>
  ways.every(({ length }) => length === 1)
    ? either.format(ways.flat().map(labelWords))
    : ways.map((names) => all.format(names.map(labelWords))).join(", or ")

/** Which fields go together, such as a full name or its parts. */
const Groups = ({ groups }: { readonly groups: Part["groups"] }) => {
  if (groups.length === 0) return null
  const choices = choicesOf(groups) ?? [groups]
  return <p className="mb-3 break-words text-muted">Needs {choices.map(oneOf).join("; and ")}.</p>
}

const PartFields = ({ part, isOnly, form, problems }: Shared & { readonly part: Part; readonly isOnly: boolean }) => {
  const { name, title, field, groups } = part
  const drafts = membersOf(form.draft)
  const fields = (
    <>
      <Groups groups={groups} />
      <SchemaForm
        field={field}
        draft={drafts[name]}
        onChange={(draft) => form.change({ draft: { ...drafts, [name]: draft } })}
        path={name}
        problems={problems}
      />
      {problems.has(name) && <p className="mt-2 text-small text-red">{problems.get(name)}</p>}
    </>
  )
  return isOnly ? (
    <div>{fields}</div>
  ) : (
    <fieldset className="min-w-0">
      <legend className="mb-2 font-semibold">{title}</legend>
      {fields}
    </fieldset>
  )
}

const AsJson = ({ form, problems }: Shared) => {
  const own = problems.get("json")
  const others = [...problems].filter(([path]) => path !== "json")
  return (
    <TextArea
      label="Request as JSON"
      rows={12}
      value={form.json ?? ""}
      onChange={({ target }) => form.change({ json: target.value })}
      aria-invalid={problems.size > 0}
      hint={
        <>
          <p>An object with {all.format(form.parts.map(({ name }) => name))}.</p>
          {own !== undefined && <p className="text-red">The request {own}</p>}
          {others.map(([path, message]) => (
            <p key={path} className="break-words text-red">
              {path} {message}
            </p>
          ))}
        </>
      }
    />
  )
}

const words: Readonly<Record<string, Wording>> = {
  routing: { open: true },
  "routing.max_cost": {
    label: "Most that it may cost (USD)",
    hint: "Without one, the amount on the button is the limit."
  },
  "routing.max_total": { label: "Most that the prices of all its attempts may add up to (USD)" },
  "routing.strategy": {
    label: "Order of providers",
    options: {
      "": "Best value (default)",
      cheapest: "Cheapest first",
      fastest: "Fastest first",
      highest_success_rate: "Highest success rate first"
    }
  },
  "routing.allow_fallback": {
    label: "When a provider fails",
    options: { "": "Try the next one (default)", false: "Try one provider only" }
  },
  accept: { label: "What counts as a match", hint: "" },
  "accept.phone_type": { label: "Type of the phone" },
  "accept.max_age_days": { label: "Greatest age in days" },
  "accept.agree": {
    label: "Providers that have to give the same",
    options: [
      ["", "One"],
      ["2", "Two, and both are paid"]
    ]
  },
  response: { label: "Result" },
  "response.include_raw": { label: "Keep the provider's own answer too" },
  reuse: { label: "Reuse of an earlier result" },
  "reuse.max_age_seconds": { label: "Oldest result, in seconds", hint: "30 days by default." },
  unless_contacted_within_seconds: {
    label: "Seconds within which a recipient may not have been contacted",
    hint: "For runs that contact people: a run that would contact somebody again is blocked."
  },
  metadata: { label: "Labels" }
}

const optionsIn = (names: ReadonlyArray<string> = []) => names.map((name) => [name, name] as const)

const RoutingOptions = ({ inspected, form, problems }: Shared & { readonly inspected: Inspected }) => {
  const options = optionsOf(inspected)
  const own = options.kind === "object" ? options.fields : []
  const isWrong = own.some(({ name }) => [...problems.keys()].some((path) => path.split(".")[0] === name))
  const offers = isCapability(inspected) ? inspected.offers.filter(({ executable }) => executable) : []
  const others = offers.map(({ provider }) => [provider, `${provider} only`] as const)
  const provider = { options: [["", "The service chooses"] as const, ...others] }
  const accept = isCapability(inspected) ? inspected.accept : undefined
  const acceptFields = { label: "Fields that it must have", hint: accept?.description ?? "" }
  return (
    <Disclosure
      title="Routing and limits"
      needed={isWrong || JSON.stringify(meaningOf(options, form.options).value) !== "{}"}
    >
      <div className="sm:col-span-2">
        <OwnForm
          value={{
            words: {
              ...words,
              "routing.provider": provider,
              "accept.fields": { ...acceptFields, options: optionsIn(accept?.fields) }
            },
            disabled: false
          }}
        >
          <SchemaForm
            field={options}
            draft={form.options}
            onChange={(draft) => form.change({ options: draft })}
            path=""
            problems={problems}
          />
        </OwnForm>
      </div>
    </Disclosure>
  )
}

export const RequestForm = ({ inspected, form, problems }: Shared & { readonly inspected: Inspected }) => {
  const { parts, json, canUseForm } = form
  return (
    <div className="space-y-5">
      {json !== null ? (
        <AsJson form={form} problems={problems} />
      ) : parts.length === 0 ? (
        <p className="text-muted">It takes no input.</p>
      ) : (
        parts.map((part) => (
          <PartFields key={part.name} part={part} isOnly={parts.length === 1} form={form} problems={problems} />
        ))
      )}
      {parts.length > 0 && (
        <div className="flex flex-wrap items-center gap-2">
          <Button disabled={!canUseForm} onClick={form.toggleJson}>
            {json === null ? "Edit as JSON" : "Back to the form"}
          </Button>
          {!canUseForm && <span className="text-small text-muted">The form can't show all of this JSON.</span>}
        </div>
      )}
      <RoutingOptions inspected={inspected} form={form} problems={problems} />
    </div>
  )
}
