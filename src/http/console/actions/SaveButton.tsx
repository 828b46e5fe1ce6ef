/** A button that saves a file. Screen readers hear that it is saved, or why not. */
import { useMutation } from "@tanstack/react-query"
import { Download } from "lucide-react"
import { announce } from "../parts/Announcer.tsx"
import { Button } from "../parts/Button.tsx"

export const SaveButton = ({
  send,
  children
}: {
  /** Reads and saves. Resolves to what there is to say of it. */
  readonly send: () => Promise<string | void>
  readonly children: string
}) => {
  const saved = useMutation({
    mutationFn: send,
    onSuccess: (words) => announce(words ?? "Saved."),
    onError: (error) => announce(error.message)
  })
  return (
    <Button busy={saved.isPending} title={saved.error?.message} onClick={() => saved.mutate()}>
      <Download size={14} aria-hidden="true" /> {children}
    </Button>
  )
}
