/** The text of an amount of a request. Browsers read it too, so it stands apart from the schemas. */

/**
 * The largest amount in a request is 9,999,999,999.999999 USD, a small part of what a Postgres bigint holds. Effect publishes only patterns
 * with the flag `u` in a JSON Schema.
 */
export const unsignedPattern = /^(0|[1-9]\d{0,9})(\.\d{1,6})?$/u
