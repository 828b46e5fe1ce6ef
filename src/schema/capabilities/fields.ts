/**
 * The input fields that capabilities share, each with its bounds and the sentence that inspect shows for it.
 *
 * Every string has a maximum length and none may be empty, so adapters need no checks for empty fields.
 */
import { Schema } from "effect"

/** Free text. */
export const text = (description: string, lengthMax: number) =>
  Schema.String.annotate({ description }).check(Schema.isMinLength(1), Schema.isMaxLength(lengthMax))

/** RFC 5321 allows no path longer than 254 characters. */
export const email = (description: string) =>
  Schema.String.annotate({ description, format: "email" }).check(Schema.isMinLength(1), Schema.isMaxLength(254))

export const domain = (description: string) =>
  Schema.String.annotate({ description, format: "hostname" }).check(Schema.isMinLength(1), Schema.isMaxLength(253))

export const texts = (description: string, lengthMax: number, itemsMax: number) =>
  Schema.Array(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(lengthMax)))
    .annotate({ description })
    .check(Schema.isMinLength(1), Schema.isMaxLength(itemsMax))

export const domains = (description: string, itemsMax: number) =>
  Schema.Array(domain("A domain such as example.com"))
    .annotate({ description })
    .check(Schema.isMinLength(1), Schema.isMaxLength(itemsMax))

export const emails = (description: string, itemsMax: number) =>
  Schema.Array(email("A plain e-mail address"))
    .annotate({ description })
    .check(Schema.isMinLength(1), Schema.isMaxLength(itemsMax))

export const limit = (description: string, maximum: number) =>
  Schema.Int.annotate({ description }).check(Schema.isBetween({ minimum: 1, maximum }))

export const networkUrl = text("Professional network profile, such as https://www.linkedin.com/in/jane-doe", 2048)
export const companyDomain = domain("The company's domain without scheme or path, such as example.com")
export const companyName = text("The company's name, used when the domain is not known", 200)
export const fullName = text("The person's full name, given name first", 200)
