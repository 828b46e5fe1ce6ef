/** The fields of a request, by part, or the same as JSON; and below them the options of routing. */
import { Checkbox } from "../../forms/Checkbox.tsx"
import { Disclosure } from "../../forms/Disclosure.tsx"
import { labelWords } from "../../forms/providerText.ts"
import { choicesOf } from "../../forms/schema.ts"
import { SchemaForm } from "../../forms/SchemaForm.tsx"
import { Button } from "../../parts/Button.tsx"
import { Field, Select, TextArea } from "../../parts/Field.tsx"
import { type Inspected, type InspectedCapability, isCapability, type Part } from "./requestParts.ts"
import type { Form } from "./useForm.ts"

interface Shared {
  readonly form: Form
  readonly problems: ReadonlyMap<string, string>
}

const sentence = (names: ReadonlyArray<string>) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`

const oneOf = (ways: ReadonlyArray<ReadonlyArray<string>>) =>
  ways.every(({ length }) => length === 1)
    ? sentence(ways.map(([name = ""]) => labelWords(name))).replace(/ and (?=[^,]*$)/, " or ")
    : ways.map((names) => sentence(names.map(labelWords))).join(", or ")

/** Which fields go together, such as a full name or its parts. */
const Groups = ({ groups }: { readonly groups: Part["groups"] }) => {
  if (groups.length === 0) return null
  const choices = choicesOf(groups) ?? [groups]
  return <p className="mb-3 break-words text-muted">Needs {choices.map(oneOf).join("; and ")}.</p>
}

const PartFields = ({ part, isOnly, form, problems }: Shared & { readonly part: Part; readonly isOnly: boolean }) => {
  const { name, title, field, groups } = part
  const fields = (
    <>
      <Groups groups={groups} />
      <SchemaForm
        field={field}
        draft={form.drafts[name]}
        onChange={(draft) => form.setDraft(name, draft)}
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
      onChange={({ target }) => form.setJson(target.value)}
      aria-invalid={problems.size > 0}
      hint={
        <>
          <p>An object with {sentence(form.parts.map(({ name }) => name))}.</p>
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

const strategies: ReadonlyArray<readonly [string, string]> = [
  ["", "Best value (default)"],
  ["cheapest", "Cheapest first"],
  ["fastest", "Fastest first"],
  ["highest_success_rate", "Highest success rate first"]
]

const RoutingOptions = ({ inspected, form, problems }: Shared & { readonly inspected: Inspected }) => {
  const { options, setOptions } = form
  const cap = problems.get("routing.max_cost") ?? null
  return (
    <Disclosure title="Routing and limits" needed={cap !== null}>
      <Field
        label="Most that it may cost (USD)"
        inputMode="decimal"
        autoComplete="off"
        value={options.max_cost}
        hint="Without one, the amount on the button is the limit."
        problem={cap}
        onChange={({ target }) => setOptions({ max_cost: target.value })}
      />
      {isCapability(inspected) && (
        <>
          <Select
            label="Provider"
            value={options.provider}
            options={[
              ["", "The service chooses"],
              ...inspected.offers.flatMap(({ provider, executable }) =>
                executable ? [[provider, `${provider} only`] as const] : []
              )
            ]}
            onChange={({ target }) => setOptions({ provider: target.value })}
          />
          <Select
            label="Order of providers"
            value={options.strategy}
            options={strategies}
            onChange={({ target }) => setOptions({ strategy: target.value })}
          />
          <div className="sm:self-end sm:pb-1.5">
            <Checkbox
              label="Keep the provider's own answer too"
              checked={options.include_raw}
              onChange={({ target }) => setOptions({ include_raw: target.checked })}
            />
          </div>
        </>
      )}
    </Disclosure>
  )
}

const AcceptOptions = ({
  accept,
  form: { options, setOptions },
  problems
}: Shared & { readonly accept: NonNullable<InspectedCapability["accept"]> }) => {
  const problem = (name: string) => problems.get(`accept.${name}`) ?? null
  const needed = [...problems.keys()].some((path) => path.startsWith("accept"))
  return (
    <Disclosure title="What counts as a match" needed={needed}>
      <Field
        label="Fields that it must have"
        autoComplete="off"
        value={options.accept}
        hint={`Some of ${accept.fields.join(", ")}. ${accept.description}`}
        problem={problem("fields")}
        onChange={({ target }) => setOptions({ accept: target.value })}
      />
      {accept.phone_types.length > 0 && (
        <Select
          label="Type of the phone"
          value={options.phone_type}
          options={[["", "Any"], ...accept.phone_types.map((type) => [type, labelWords(type)] as const)]}
          onChange={({ target }) => setOptions({ phone_type: target.value })}
        />
      )}
      {accept.max_age_days !== null && (
        <Field
          label="Greatest age in days"
          inputMode="numeric"
          autoComplete="off"
          value={options.max_age_days}
          problem={problem("max_age_days")}
          onChange={({ target }) => setOptions({ max_age_days: target.value })}
        />
      )}
      {accept.agree && (
        <div className="sm:self-end sm:pb-1.5">
          <Checkbox
            label="Two providers have to give the same, and both are paid"
            checked={options.agree}
            onChange={({ target }) => setOptions({ agree: target.checked })}
          />
          {problem("agree") !== null && <p className="text-small text-red">{problem("agree")}</p>}
        </div>
      )}
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
      {isCapability(inspected) && inspected.accept !== undefined && (
        <AcceptOptions accept={inspected.accept} form={form} problems={problems} />
      )}
      <RoutingOptions inspected={inspected} form={form} problems={problems} />
    </div>
  )
}
