/**
 * A modal dialog, on the browser's own element: it traps the focus, closes with escape, and gives the focus back.
 *
 * Dialogs confirm what can't be undone, and hold the palette. Details are pages.
 */
import { type ReactNode, useEffect, useId, useRef } from "react"

interface DialogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  readonly children: ReactNode
  readonly hideTitle?: boolean
  readonly wide?: boolean
}

export const Dialog = ({ open, onClose, title, children, hideTitle = false, wide = false }: DialogProps) => {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = element.current
    if (dialog === null) return
    if (open && !dialog.open) dialog.showModal()
    if (!open && dialog.open) dialog.close()
  }, [open])
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose()
      }}
      className={`w-[calc(100vw-2rem)] ${wide ? "max-w-xl" : "max-w-md"} m-auto rounded border border-line bg-panel p-0 text-left text-base whitespace-normal text-inherit shadow-float backdrop:bg-[#00000073]`}
    >
      {open && (
        <div className={hideTitle ? "" : "p-5"}>
          <h2 id={id} className={hideTitle ? "sr-only" : "mb-3 text-title font-semibold break-words"}>
            {title}
          </h2>
          {children}
        </div>
      )}
    </dialog>
  )
}
