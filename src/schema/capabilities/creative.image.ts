/**
 * creative.image: images generated from a prompt.
 *
 * Metered per image. Generating costs money and can't be undone, so it acts at most once.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import * as Field from "./fields.ts"
import { orNull } from "./shapes.ts"

/** The default count. The quote is for as many images, and every adapter requests as many. */
export const creativeImageDefaultCount = 1
const countMax = 4
/** No model reads more characters of a prompt. */
export const promptLengthMax = 4_000
const seedMax = 4_294_967_295

export const creativeImageModels = ["fal-ai/flux/schnell", "fal-ai/flux/dev"] as const

export const aspectRatios = ["1:1", "4:3", "3:4", "16:9", "9:16"] as const

const sizes = {
  "1:1": { width: 1024, height: 1024 },
  "4:3": { width: 1024, height: 768 },
  "3:4": { width: 768, height: 1024 },
  "16:9": { width: 1024, height: 576 },
  "9:16": { width: 576, height: 1024 }
} as const

export const creativeImage = capability({
  slug: "creative.image",
  title: "Generate images",
  category: "creative",
  description:
    "Generates images (pictures, illustrations, photos) from a text prompt with a generative AI model such as FLUX, in a chosen aspect ratio.",
  tags: [
    ...["creative", "image", "images", "picture", "photo", "illustration", "generate", "generation", "text to image"],
    ...["ai image", "art", "graphic", "design", "ad creative", "thumbnail", "flux", "stable diffusion", "dall-e"],
    ...["midjourney", "prompt"],
    ...["text to image", "txt2img", "image generator", "generate a picture", "16:9 image"]
  ],
  status: "live",
  billing: {
    model: "metered",
    bills_no_match: false,
    description:
      "Base price plus a price per image delivered, never for more images than asked for (1 by default). A call that makes no image costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    prompt: Field.text("What the image should show", promptLengthMax),
    model: Schema.optionalKey(
      Schema.Literals(creativeImageModels).annotate({
        description: "The model: schnell is fast and cheap, dev gives better quality; routing chooses one by default"
      })
    ),
    aspect_ratio: Schema.optionalKey(
      Schema.Literals(aspectRatios).annotate({ description: "Ratio of width to height, 1:1 by default" })
    ),
    count: Schema.optionalKey(Field.limit("Number of images, 1 by default", countMax)),
    seed: Schema.optionalKey(
      Schema.Int.annotate({ description: "The same seed, prompt and model make the same image" }).check(
        Schema.isBetween({ minimum: 0, maximum: seedMax })
      )
    ),
    reference_image_url: Schema.optionalKey(Field.text("URL of an image to start from", 2048))
  }),
  output: Schema.Struct({
    items: Schema.Array(
      Schema.Struct({
        url: orNull(Schema.String, "URL of the image; providers keep it for a limited time"),
        width: orNull(Schema.Int, "Width in pixels"),
        height: orNull(Schema.Int, "Height in pixels"),
        content_type: Schema.NullOr(Schema.String)
      })
    ),
    total: orNull(Schema.Int, "Number of images"),
    next_cursor: orNull(Schema.String, "Always null: ask for a higher count"),
    seed: orNull(Schema.Int, "The seed that was used"),
    model: orNull(Schema.String, "The model that was used"),
    nsfw_flagged: orNull(Schema.Boolean, "Whether the provider flagged an image as not safe for work")
  }),
  example: { prompt: "A lighthouse at dawn, watercolour", aspect_ratio: "16:9", count: 2 },
  requested: (input) => input.count ?? creativeImageDefaultCount,
  side_effect: true,
  simulate: ({ input, seed, partial }) => {
    const count = (input.count ?? creativeImageDefaultCount) - (partial ? 1 : 0)
    const used = input.seed ?? Math.abs(seed)
    return {
      items: Array.from({ length: count }, (_, index) => ({
        url: `https://media.example/image/${used}-${index + 1}.jpg`,
        ...sizes[input.aspect_ratio ?? "1:1"],
        content_type: "image/jpeg"
      })),
      total: count,
      next_cursor: null,
      seed: used,
      model: input.model ?? "fal-ai/flux/schnell",
      nsfw_flagged: false
    }
  },
  missHints: (input) => [
    "Describe more clearly what the image should show.",
    ...(input.reference_image_url === undefined ? [] : ["Leave out reference_image_url, or check that it is public."])
  ]
})
