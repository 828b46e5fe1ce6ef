/** What the head of each frame has: the theme to choose, and whether this is a sandbox. */
import { Moon, Sun, SunMoon } from "lucide-react"
import { useState } from "react"
import { useService } from "../data/session.ts"
import { chooseTheme, chosenTheme, type Theme, themes } from "../look/themes.ts"
import { Menu } from "../parts/Menu.tsx"
import { Badge } from "../parts/Values.tsx"

const words: Readonly<Record<Theme, string>> = { system: "As the system", light: "Light", dark: "Dark" }
const shapes = { system: SunMoon, light: Sun, dark: Moon } as const

export const ThemeMenu = () => {
  const [theme, setTheme] = useState(chosenTheme)
  const Shape = shapes[theme]
  return (
    <Menu
      label={`Theme: ${words[theme]}`}
      className="min-h-8 rounded px-1.5 text-muted hover:bg-hover"
      actions={themes.map((one) => ({
        word: words[one],
        chosen: one === theme,
        run: () => {
          chooseTheme(one)
          setTheme(one)
        }
      }))}
    >
      <Shape size={16} aria-hidden="true" />
    </Menu>
  )
}

/** Whether money and providers are real here: `test` is amber, `live` is green. */
export const Environment = () => {
  const environment = useService().data?.environment
  if (environment === undefined) return null
  return <Badge tone={environment === "test" ? "amber" : "green"}>{environment}</Badge>
}
