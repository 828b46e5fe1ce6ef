/**
 * What a refused run says to a key that reads its own runs only: nothing of the organization's balance, its spending, or another key's runs.
 * Pure.
 *
 * The wallet's turn stores one message for everybody (schema/wallet/Wallet.ts, schema/guards), so it is shortened where it is shown.
 */

/** Other keys spend from the budget of a label too. A value may contain any text, so the amount after it is the last one. */
const ofLabel =
  /^this run holds up to .*? it would exceed (the budget of the label .*), \$[\d.]+ ((?:in total|per \w+); .*)$/s

const shown = new Map<string | null, (message: string) => string>(
  Object.entries({
    insufficient_balance: () =>
      "the organization's wallet has too little for this; nothing was held. Ask for less, or ask a person to top up",
    budget_exceeded: (message: string) =>
      ofLabel.test(message)
        ? message.replace(ofLabel, "this run would exceed $1 $2")
        : message.includes("the daily limit of $")
          ? `this run would exceed the daily limit of the organization; ${/it resets at [^,]+/.exec(message)?.[0]}, or a person raises it`
          : message,
    cost_limit_exceeded: (message: string) =>
      message.replace(/the per-run limit of \$[\d.]+/, "the organization's per-run limit"),
    rate_limited: (message: string) =>
      message.replace(/(?<= per day for your organization): .*(?=; the limit resets)/, ""),
    contact_guard: (message: string) =>
      message
        .replace(/ by run_[0-9a-z]+(?= at )/, "")
        .replace(/ by run_[0-9a-z]+ if that is approved/, " if another run is approved")
  })
)

/** The message of an error with this code. */
export const ownMessage = <M extends string | null>(code: string | null, message: M): M | string =>
  message === null ? message : (shown.get(code)?.(message) ?? message)

const failure = new RegExp(
  `("error":\\s*\\{\\s*"code":\\s*"(${[...shown.keys()].join("|")})",\\s*"message":\\s*)("(?:[^"\\\\]|\\\\.)*")`
)

/** The same for the JSON text of an event. */
export const ownEventText = (text: string): string =>
  text.replace(
    failure,
    (_, head: string, code: string, message: string) =>
      `${head}${JSON.stringify(ownMessage(code, String(JSON.parse(message))))}`
  )
