/**
 * What a refused run says to a key that reads its own runs only: the message without the organization's balance and spending. Pure.
 *
 * The wallet's turn stores one message for everybody (Wallet.ts), so it is shortened where it is shown.
 */
const dailyLimit = "the daily limit of $"

/** The message of an error with this code. */
export const withoutBalance = <M extends string | null>(code: string | null, message: M): M | string => {
  if (code === "insufficient_balance")
    return "the organization's wallet has too little for this; nothing was held. Ask for less, or ask a person to top up"
  if (code === "budget_exceeded" && message?.includes(dailyLimit) === true)
    return "this run would exceed the daily limit of the organization; it resets at 00:00 UTC, or a person raises it"
  return message
}

const failure =
  /("error":\s*\{\s*"code":\s*"(insufficient_balance|budget_exceeded)",\s*"message":\s*)("(?:[^"\\]|\\.)*")/

/** The same for the JSON text of an event. */
export const eventWithoutBalance = (text: string): string =>
  text.replace(
    failure,
    (_, head: string, code: string, message: string) =>
      `${head}${JSON.stringify(withoutBalance(code, String(JSON.parse(message))))}`
  )
