/** Ends the session in the cookie, and shows the start page. */
import { useMutation } from "@tanstack/react-query"
import { api } from "../data/api.ts"
import { sessionChanged } from "../data/session.ts"
import { announce } from "../parts/Announcer.tsx"

export const useSignOut = () =>
  useMutation({
    mutationFn: () => api.auth.signOut({}),
    onSuccess: () => sessionChanged("/"),
    onError: (error) => announce(`You are still signed in. ${error.message}`)
  })
