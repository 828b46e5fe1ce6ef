/**
 * places.search: businesses and other places on the map.
 *
 * Metered: a base price plus a price per place, never for more than the limit. A search that finds none is not charged.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import * as Locale from "./locale.ts"
import { listOf, onePage, orNull, titleCase } from "./shapes.ts"

/** The default limit. The quote is for as many results, and every adapter requests as many. */
export const placesSearchDefaultLimit = 10

export const placesSearch = capability({
  slug: "places.search",
  title: "Search for places",
  category: "web",
  description:
    "Finds local businesses and other places on the map, with address, phone, website, rating, number of reviews and coordinates. For the ranking of places on a results page, use serp.search with type maps.",
  tags: [
    ...["places", "local business", "google maps", "maps", "near me", "restaurants", "shops", "stores", "address"],
    ...["phone", "reviews", "rating", "coordinates", "latitude", "longitude", "poi", "local leads", "search"],
    ...["google maps", "local businesses", "list of shops", "places nearby", "businesses in a city"]
  ],
  status: "coming_soon",
  billing: {
    model: "metered",
    bills_no_match: false,
    description:
      "Base price plus a price per place delivered, never for more places than the limit (10 by default). A search that finds none costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    query: Field.text("What to look for: a kind of business or a name, such as dentist", 400),
    location: Schema.optionalKey(Field.text("Where: city, region or address, such as Berlin Mitte", 200)),
    country: Schema.optionalKey(Locale.country("Country to look in, two letters such as us")),
    limit: Schema.optionalKey(Field.limit("Maximum number of places, 10 by default", 100))
  }),
  output: listOf("Total number of matching places, if the provider reports it", onePage, {
    name: Schema.NullOr(Schema.String),
    address: Schema.NullOr(Schema.String),
    phone: Schema.NullOr(Schema.String),
    website: Schema.NullOr(Schema.String),
    rating: orNull(Schema.Finite, "Average of the reviews, 1 to 5"),
    reviews: orNull(Schema.Int, "Number of reviews"),
    lat: orNull(Schema.Finite, "Latitude in degrees, north is positive"),
    lng: orNull(Schema.Finite, "Longitude in degrees, east is positive"),
    place_id: orNull(Schema.String, "The place's id on the map"),
    category: Schema.NullOr(Schema.String)
  }),
  example: { query: "dentist", location: "Berlin", limit: 5 },
  side_effect: false,
  simulate: ({ input, seed, partial }) => {
    const count = (input.limit ?? placesSearchDefaultLimit) - (partial ? 1 : 0)
    const kind = titleCase(input.query) || "Place"
    return {
      items: Array.from({ length: count }, (_, index) => ({
        name: `${kind} Sample ${index + 1}`,
        address: `${index + 1} Placeholder Street, ${input.location ?? "Berlin"}`,
        phone: `+120255501${String((seed + index) % 100).padStart(2, "0")}`,
        website: `https://place-${index + 1}.example`,
        rating: 3 + ((seed + index) % 20) / 10,
        reviews: (seed + index) % 500,
        lat: 52.5 + index / 1000,
        lng: 13.4 + index / 1000,
        place_id: `sim_${seed}_${index + 1}`,
        category: input.query
      })),
      total: count,
      next_cursor: null
    }
  },
  missHints: (input) => [
    ...(input.location === undefined
      ? ["Give a location: the search looks for places near it."]
      : ["Widen location to the city or region."]),
    "Name a kind of business, such as dentist, instead of a description."
  ]
})
