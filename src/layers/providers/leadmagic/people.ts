/**
 * LeadMagic's offers for people: mobile numbers, and profiles with the texts that the professional network shows.
 */
import { networkProfile } from "../../../schema/capabilities/network.profile.ts"
import { phoneFind } from "../../../schema/capabilities/phone.find.ts"
import { type Location, location, person } from "../../../schema/capabilities/shapes.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { offer } from "../../../schema/catalog/Provider.ts"
import { consumed, note } from "./report.ts"
import { match, noMatch, unreadable } from "../kit/outcome.ts"
import { international } from "../kit/phone.ts"
import { host, list, providerIds, text, webAddress, whole } from "../kit/read.ts"
import { defined } from "../../../schema/defined.ts"

export const findPhone = offer(phoneFind, {
  price: inCredits.flat("5"),
  note,
  wraps: ["POST /v1/people/mobile-finder"],
  serves: (input) => input.network_url !== undefined || input.email !== undefined,
  request: (input) => ({ body: defined({ profile_url: input.network_url, work_email: input.email }) }),
  response: (reply) => {
    const phone = international(text(reply.body, "mobile_number"))
    if (phone !== null) return match({ phone, phone_type: "mobile", confidence: null })
    const free = consumed(reply)
    return free === null && text(reply.body, "message") === null
      ? unreadable("mobile_number")
      : noMatch("no number found", free)
  }
})

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/** Converts "Jan 2020" to "2020-01", and keeps "2020". */
const day = (printed: string): string | null => {
  const [, name, year] = /^(?:([A-Z][a-z]{2})[a-z]* )?(\d{4})$/.exec(printed.trim()) ?? []
  if (year === undefined) return null
  const month = name === undefined ? -1 : months.indexOf(name)
  return month < 0 ? year : `${year}-${String(month + 1).padStart(2, "0")}`
}

/** Reads the dates in a caption such as "2000 - Present · 25 yrs 5 mos". */
const span = (caption: string | null) => {
  const [from = "", to = ""] = (caption ?? "").split("·")[0]?.split(" - ") ?? []
  const current = to.trim() === "Present"
  return { start_date: day(from), end_date: current ? null : day(to), is_current: to === "" ? null : current }
}

/** Splits "Seattle, Washington, United States". A text with fewer parts is ignored, because it does not say which parts it names. */
const placeOf = (printed: string | null, country: string | null): Location | null => {
  const parts = (printed ?? "").split(", ")
  const [city = null, region = null, land = null] = parts.length === 3 ? parts : []
  return location(city, region, country ?? land)
}

/** Positions and studies have other names in live answers of 2026-07 than in the specification. */
const positionOf = (position: unknown) => ({
  title: text(position, "title") ?? text(position, "position_title"),
  company_name: text(position, "subtitle")?.split(" · ")[0] ?? text(position, "company_name"),
  company_domain: host(text(position, "company_website")),
  ...span(text(position, "caption") ?? text(position, "employment_period"))
})

const studyOf = (study: unknown) => {
  const { start_date, end_date } = span(text(study, "caption") ?? text(study, "attendance_period"))
  return {
    school: text(study, "title") ?? text(study, "institution_name"),
    degree: text(study, "subtitle") ?? text(study, "degree"),
    field: null,
    start_date,
    end_date
  }
}

export const networkPage = offer(networkProfile, {
  price: inCredits.flat("1"),
  note,
  wraps: ["POST /v1/people/profile-search"],
  serves: (input) => input.network_url !== undefined,
  request: (input) => ({ body: { profile_url: input.network_url } }),
  response: (reply) => {
    const body = reply.body
    const full_name = text(body, "full_name")
    if (full_name === null) {
      const free = consumed(reply)
      return free === null && text(body, "message") === null
        ? unreadable("full_name")
        : noMatch("no profile found", free)
    }
    return match({
      ...person({
        full_name,
        first_name: text(body, "first_name"),
        last_name: text(body, "last_name"),
        headline: text(body, "headline") ?? text(body, "professional_title"),
        title: text(body, "experiences", 0, "title") ?? text(body, "current_position", "position_title"),
        company_name: text(body, "company_name"),
        company_domain: host(text(body, "company_website")),
        network_url: webAddress(text(body, "profile_url")),
        location: placeOf(text(body, "location"), text(body, "country")),
        provider_ids: providerIds("leadmagic", body, "public_identifier")
      }),
      about: text(body, "about") ?? text(body, "bio"),
      followers: whole(body, "followers"),
      connections: whole(body, "connections"),
      experience: (list(body, "experiences") ?? list(body, "work_experience"))?.map(positionOf) ?? null,
      education: (list(body, "educations") ?? list(body, "education"))?.map(studyOf) ?? null,
      skills: null,
      is_connected: null
    })
  }
})
