/**
 * network.profile: a person's profile on the professional network (LinkedIn).
 *
 * Charged only when the profile was found.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { location, nameParts, orNull, person, personFields, pick, profileSlug, slug, titleCase } from "./shapes.ts"
import { Education, Experience } from "./people.enrich.ts"

export const networkProfile = capability({
  slug: "network.profile",
  title: "Read a professional network profile",
  category: "network",
  description:
    "Returns a person's professional network (LinkedIn) profile: headline, current job, about text, followers, connections, experience, education and skills, from the profile's address or identifier.",
  tags: [
    ...["network", "profile", "linkedin", "linkedin profile", "professional network", "person", "people", "scraper"],
    ...["experience", "work history", "education", "skills", "headline", "about", "connections", "followers", "resume"],
    ...["cv", "employment", "enrichment", "prospecting", "recruiting"]
  ],
  status: "live",
  billing: {
    model: "on_match",
    bills_no_match: false,
    description: "Charged only when the profile is found. A miss costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    network_url: Schema.optionalKey(Field.networkUrl),
    identifier: Schema.optionalKey(
      Field.text("The last part of the profile's address, such as jane-doe, or the network's own id of the person", 200)
    )
  }),
  anyOf: [["network_url"], ["identifier"]],
  output: Schema.Struct({
    ...personFields,
    about: orNull(Schema.String, "The text that the person wrote about themselves"),
    followers: Schema.NullOr(Schema.Int),
    connections: orNull(Schema.Int, "Connections; the network stops counting at 500"),
    experience: orNull(Schema.Array(Experience), "Positions, latest first; null if the provider does not report them"),
    education: Schema.NullOr(Schema.Array(Education)),
    skills: Schema.NullOr(Schema.Array(Schema.String)),
    is_connected: orNull(Schema.Boolean, "Whether the connected account and the person are connected")
  }),
  example: { network_url: "https://www.linkedin.com/in/jane-doe" },
  matched: (output) => output.full_name !== null,
  side_effect: false,
  simulate: ({ input, provider, seed }) => {
    const named = titleCase(input.identifier ?? profileSlug(input.network_url ?? ""))
    const name = named === "" ? "Sam Sample" : named
    const parts = nameParts({ full_name: name })
    const title = pick(seed, ["Head of Sales", "Product Manager", "Software Engineer", "Marketing Director"])
    return {
      ...person({
        full_name: name,
        first_name: parts?.first_name ?? name,
        last_name: parts?.last_name ?? null,
        headline: `${title} at Sample Company`,
        title,
        company_name: "Sample Company",
        company_domain: "company.example",
        network_url: input.network_url ?? `https://network.example/in/${slug(name, "-") || "sample"}`,
        location: location(
          pick(seed, ["Berlin", "Austin", "Lyon"]),
          null,
          pick(seed, ["Germany", "United States", "France"])
        ),
        provider_ids: { [provider]: `sim_${seed}` }
      }),
      about: `A made-up profile that stands in for ${name}.`,
      followers: 200 + (seed % 5_000),
      connections: 100 + (seed % 400),
      experience: [
        {
          title,
          company_name: "Sample Company",
          company_domain: "company.example",
          start_date: "2021-03",
          end_date: null,
          is_current: true
        }
      ],
      education: [
        { school: "Example University", degree: null, field: "economics", start_date: "2010", end_date: "2014" }
      ],
      skills: ["negotiation", "planning"],
      is_connected: false
    }
  },
  missHints: (input) => [
    ...(input.network_url === undefined
      ? ["Give network_url, the full address of the profile."]
      : ["Check that network_url is a person's profile, with /in/ in it, and not a company's page."]),
    "Look the person up with people.search, or with people.enrich by e-mail address."
  ]
})
