/**
 * What a refused run says to a key that reads its own runs only: nothing of the organization's balance, its spending, or another key's runs.
 * Pure.
 *
 * The wallet's turn stores one message for everybody (schema/wallet/Wallet.ts, schema/guards), so it is shortened where it is shown.
 */
const dailyLimit = "the daily limit of $"
const contactingRun = / by run_[0-9a-z]+(?= at )/

/** The message of an error with this code. */
export const ownMessage = <M extends string | null>(code: string | null, message: M): M | string => {
  if (message === null) return message
  if (code === "insufficient_balance")
    return "the organization's wallet has too little for this; nothing was held. Ask for less, or ask a person to top up"
  if (code === "budget_exceeded" && message.includes(dailyLimit))
    return "this run would exceed the daily limit of the organization; it resets at 00:00 UTC, or a person raises it"
  return code === "contact_guard" ? message.replace(contactingRun, "") : message
}

const failure =
  /("error":\s*\{\s*"code":\s*"(insufficient_balance|budget_exceeded|contact_guard)",\s*"message":\s*)("(?:[^"\\]|\\.)*")/

/** The same for the JSON text of an event. */
export const ownEventText = (text: string): string =>
  text.replace(
    failure,
    (_, head: string, code: string, message: string) =>
      `${head}${JSON.stringify(ownMessage(code, String(JSON.parse(message))))}`
  )
