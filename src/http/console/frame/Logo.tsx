/** The mark of Rungate. The name stands beside it. */
export const Logo = ({ size = 20 }: { readonly size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" className="shrink-0">
    <rect width="32" height="32" rx="7" fill="#4f46e5" />
    <path
      d="M10 23V9h8a4.5 4.5 0 0 1 1 8.9L23 23M10 18h7"
      fill="none"
      stroke="#fff"
      strokeWidth="2.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
)
