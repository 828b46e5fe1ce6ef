/** Guesses which column fills which field of an input, by their names. */
import type { InputField, Mapping } from "./inputs.ts"

const lettersOf = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")

/** Names that spreadsheets and CRMs give to these fields. */
const others: Readonly<Record<string, ReadonlyArray<string>>> = {
  full_name: ["name", "contact", "contactname", "person", "fullname"],
  first_name: ["firstname", "givenname", "forename"],
  last_name: ["lastname", "surname", "familyname"],
  email: ["mail", "emailaddress", "workemail", "businessemail"],
  company_domain: ["domain", "website", "companywebsite", "companydomain", "companyurl"],
  company_name: ["company", "organization", "organisation", "account", "employer", "companyname", "accountname"],
  domain: ["website", "companydomain", "companywebsite"],
  network_url: ["linkedin", "linkedinurl", "profile", "profileurl", "personlinkedinurl"],
  phone: ["phonenumber", "mobile", "telephone", "tel"],
  url: ["website", "link", "page", "address"]
}

/** An equal name wins over another name, and no column fills two fields. */
export const guessed = (fields: ReadonlyArray<InputField>, header: ReadonlyArray<string>): Mapping => {
  const mapping: Record<string, string> = {}
  const taken = new Set<string>()
  const take = (field: string, isMeant: (letters: string) => boolean) => {
    if (mapping[field] !== undefined) return
    const column = header.find((name) => name !== "" && !taken.has(name) && isMeant(lettersOf(name)))
    if (column === undefined) return
    mapping[field] = column
    taken.add(column)
  }
  for (const { name } of fields) take(name, (letters) => letters === lettersOf(name))
  for (const { name } of fields) take(name, (letters) => others[name]?.includes(letters) === true)
  return mapping
}
