/**
 * Decides the payment part of a turn: facts about payments, settings of automatic top-up, and the charges that low balances trigger.
 *
 * Commands of a turn apply in order, each on the result of the one before. An event that was already applied changes nothing.
 */
import type { TurnCommand, TurnView } from "../../layers/ledger/Turn.ts"
import type { NewCharge, PaymentEffects } from "../../layers/ledger/PaymentTurn.ts"
import * as Auto from "../../schema/wallet/AutoTopup.ts"
import type { AutoTopup } from "../../schema/wallet/AutoTopup.ts"
import {
  decidePayment,
  type DepositBonus,
  type Outcome,
  type Payment,
  type Reversal
} from "../../schema/wallet/Payment.ts"
import type { Entry, Wallet } from "../../schema/wallet/Wallet.ts"
import { decodeAutoTopup, decodePay } from "../mailbox/Commands.ts"

interface Paid {
  readonly wallet: Wallet
  readonly entries: ReadonlyArray<Entry>
  readonly outcome: Outcome
}

export const decidePayments = (view: TurnView, newPaymentId: () => string) => {
  const payments = new Map<string, Payment>()
  const reversals = new Map(view.payments.reversals.map((one) => [one.reversal_id, one]))
  const changedReversals = new Map<string, Reversal>()
  const bonuses = new Map(view.payments.bonuses)
  const changedBonuses = new Map<string, DepositBonus>()
  const takenCards = new Set(view.payments.cards)
  const autos = new Map(view.autos)
  const changedAutos = new Map<string, AutoTopup & { readonly org_id: string }>()
  const events = new Map<string, PaymentEffects["events"][number]>()
  const methods = new Map<string, PaymentEffects["methods"][number]>()
  const charges: Array<NewCharge> = []

  const keepAuto = (org_id: string, auto: AutoTopup | null) => {
    if (auto === null || auto === autos.get(org_id)) return
    autos.set(org_id, auto)
    changedAutos.set(org_id, { ...auto, org_id })
  }

  const pay = (mail: TurnCommand, wallet: Wallet): Paid => {
    const { payment_id, event_id, fact } = decodePay(mail.payload)
    const { org_id } = mail
    const payment = payments.get(payment_id) ?? view.payments.payments.get(payment_id)
    const seen = view.payments.seen.has(event_id) || events.has(event_id)
    if (seen || payment === undefined || payment.org_id !== org_id) return { wallet, entries: [], outcome: "repeated" }
    const card = payment.card ?? (fact._tag === "Paid" ? fact.card : null) ?? null
    const book = {
      payment,
      reversals: [...reversals.values()].filter((one) => one.payment_id === payment_id),
      bonus: bonuses.get(org_id) ?? null,
      card_taken: card !== null && takenCards.has(card),
      auto: autos.get(org_id) ?? null
    }
    const { wallet: after, entries, book: now, outcome } = decidePayment(wallet, book, fact, view.now_micros)
    if (now.payment !== payment) payments.set(payment_id, now.payment)
    for (const reversal of now.reversals) {
      if (reversals.get(reversal.reversal_id) !== reversal) changedReversals.set(reversal.reversal_id, reversal)
      reversals.set(reversal.reversal_id, reversal)
    }
    if (now.bonus !== null && now.bonus !== book.bonus) {
      bonuses.set(org_id, now.bonus)
      changedBonuses.set(org_id, now.bonus)
      if (now.bonus.card !== null) takenCards.add(now.bonus.card)
    }
    keepAuto(org_id, now.auto)
    events.set(event_id, { event_id, payment_id, org_id, fact: fact._tag, outcome })
    if (outcome === "credited" && fact._tag === "Paid") keepMethod(now.payment, fact.customer)
    return { wallet: after, entries, outcome }
  }

  /** A paid checkout saves a payment method. An automatic charge only uses the saved one. */
  const keepMethod = ({ kind, org_id, payment_intent }: Payment, customer: string | null) => {
    if (kind === "auto" || customer === null || payment_intent === null) return
    methods.set(org_id, { org_id, customer, payment_intent })
  }

  const setAuto = (mail: TurnCommand) => {
    const command = decodeAutoTopup(mail.payload)
    const auto = autos.get(mail.org_id) ?? null
    if (command._tag === "Set") keepAuto(mail.org_id, Auto.set(auto, command))
    else if (auto !== null) keepAuto(mail.org_id, Auto.wake(auto, view.now_micros))
  }

  /** Runs after all commands: charges wallets whose balance is now below their threshold. */
  const charge = (wallets: ReadonlyMap<string, Wallet>) => {
    for (const [org_id, auto] of autos) {
      const wallet = wallets.get(org_id)
      if (wallet === undefined || !Auto.isDue(auto, wallet.balance)) continue
      const begun = Auto.begin(auto, view.day, view.auto_topup_daily_max)
      keepAuto(org_id, begun.auto)
      if (begun.charge !== null) charges.push({ payment_id: newPaymentId(), org_id, amount: begun.charge })
    }
  }

  const effects = (): PaymentEffects => ({
    payments: [...payments.values()],
    reversals: [...changedReversals.values()],
    bonuses: [...changedBonuses.values()],
    autos: [...changedAutos.values()],
    charges,
    events: [...events.values()],
    methods: [...methods.values()]
  })
  return { pay, setAuto, charge, effects }
}
