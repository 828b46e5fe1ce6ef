/** Icons of pages by name. Each stands beside a word, or beside a label for screen readers, so screen readers skip the icon itself. */
import {
  Activity,
  Bell,
  BookCheck,
  BookOpen,
  Boxes,
  Building2,
  ChartColumn,
  CircleHelp,
  CircleUser,
  Clock,
  CreditCard,
  FileCode,
  Gift,
  House,
  Key,
  Layers,
  LayoutDashboard,
  type LucideIcon,
  Mail,
  MailPlus,
  Plug,
  ScrollText,
  Settings,
  ShieldCheck,
  Tag,
  Undo2,
  Users,
  Wallet
} from "lucide-react"
import type { PageIcon } from "../data/page.ts"

const shapes: Readonly<Record<PageIcon, LucideIcon>> = {
  home: House,
  activity: Activity,
  batches: Boxes,
  catalog: BookOpen,
  history: Clock,
  wallet: Wallet,
  usage: ChartColumn,
  settings: Settings,
  key: Key,
  guard: ShieldCheck,
  label: Tag,
  senders: Mail,
  webhooks: Bell,
  members: Users,
  audit: ScrollText,
  referrals: Gift,
  provider: Plug,
  account: CircleUser,
  code: FileCode,
  overview: LayoutDashboard,
  organizations: Building2,
  books: BookCheck,
  queues: Layers,
  payments: CreditCard,
  unknown: CircleHelp,
  disputes: Undo2,
  invitations: MailPlus
}

export const Icon = ({ name, size = 16 }: { readonly name: PageIcon; readonly size?: number }) => {
  const Shape = shapes[name]
  return <Shape size={size} strokeWidth={1.75} aria-hidden="true" className="shrink-0" />
}
