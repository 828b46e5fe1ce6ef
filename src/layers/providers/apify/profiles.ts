/**
 * Profiles of the professional network through an Apify actor.
 */
import { networkProfile } from "../../../schema/capabilities/network.profile.ts"
import { person } from "../../../schema/capabilities/shapes.ts"
import { failure } from "../../../schema/catalog/Provider.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { match, noMatch } from "../kit/outcome.ts"
import { flag, list, placeIn, text, texts, whole } from "../kit/read.ts"
import { actorOffer } from "./runs.ts"

const actor = "thescrappa/linkedin-profile-scraper"

/** Whether a position with this end is a current one. The network shows "Present". */
export const isOngoing = (end: string | null): boolean => end === null || /^present$/i.test(end)

const experienceOf = (position: unknown) => {
  const end = text(position, "end_date")
  return {
    title: text(position, "title"),
    company_name: text(position, "company"),
    company_domain: null,
    start_date: text(position, "start_date"),
    end_date: isOngoing(end) ? null : end,
    // Without an end the position may be a current one, or the network may show no dates for it.
    is_current: end === null ? null : isOngoing(end)
  }
}

const educationOf = (study: unknown) => ({
  school: text(study, "school"),
  degree: text(study, "degree"),
  field: text(study, "field"),
  start_date: text(study, "start_date"),
  end_date: text(study, "end_date")
})

const profilePage = /^(https?:\/\/)?((www|m|[a-z]{2,3})\.)?linkedin\.com\/in\/[a-zA-Z0-9._-]+/i

export const networkPage = actorOffer(networkProfile, {
  // 1 profile × $0.0003
  price: inUsd.flat("0.0003"),
  note: "The actor publishes $0.30 per 1,000 results.",
  actors: [actor],
  serves: (input) => profilePage.test(input.network_url ?? ""),
  start: (input) => ({
    actor,
    input: { urls: [input.network_url] },
    price: 0.0003,
    itemsMax: 1
  }),
  read: ([item], input, cost) => {
    if (item === undefined) return noMatch("nothing on record", cost)
    if (flag(item, "success") === false)
      return whole(item, "status_code") === 404
        ? noMatch("the profile does not exist", cost)
        : failure("provider_error", text(item, "error")?.slice(0, 200) ?? "the actor could not read the profile")
    const full_name = text(item, "name")
    if (full_name === null) return noMatch("the profile shows no name", cost)
    const experience = list(item, "experience")?.map(experienceOf) ?? null
    const current = experience?.find((position) => position.is_current === true)
    const profile = person({
      full_name,
      title: current?.title ?? text(item, "job_titles", 0),
      company_name: current?.company_name ?? null,
      location: placeIn(text(item, "location")),
      network_url: text(item, "url") ?? input.network_url ?? null
    })
    return match(
      {
        ...profile,
        about: text(item, "about"),
        followers: whole(item, "followers"),
        connections: whole(item, "connections"),
        experience,
        education: list(item, "education")?.map(educationOf) ?? null,
        skills: texts(item, "skills"),
        is_connected: null
      },
      cost
    )
  }
})
