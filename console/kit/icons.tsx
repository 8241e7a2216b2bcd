import type { ComponentChildren } from 'preact'

/** The mark of Zoneplane: three planes, each fainter than the one above. */
export function Mark() {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d="M12 12.6 2.5 17.3 12 22l9.5-4.7z" fill="var(--accent)" opacity=".3" />
      <path d="M12 7.8 2.5 12.5l9.5 4.7 9.5-4.7z" fill="var(--accent)" opacity=".55" />
      <path d="M12 2.5 2.5 7.2 12 11.9l9.5-4.7z" fill="var(--accent)" />
    </svg>
  )
}

const SHAPES: Record<string, ComponentChildren> = {
  domains: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M2 8h12M8 2c4 4 4 8 0 12M8 2c-4 4-4 8 0 12" />
    </>
  ),
  import: (
    <>
      <path d="M8 2v8M5 7l3 3 3-3M2.5 10v3.5h11V10" />
    </>
  ),
  activity: <path d="M1.5 8h3l2-5 3 10 2-5h3" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="M10.5 10.5 14 14" />
    </>
  ),
  tokens: (
    <>
      <circle cx="5.5" cy="10.5" r="3" />
      <path d="M7.7 8.3 13.5 2.5M11 5l2 2" />
    </>
  ),
  members: (
    <>
      <circle cx="6" cy="5" r="2.5" />
      <path d="M1.5 13.5c.4-3 2-4.5 4.5-4.5s4.1 1.5 4.5 4.5M10.5 2.75a2.5 2.5 0 0 1 0 4.5M12 9.25c1.5.6 2.3 2 2.5 4.25" />
    </>
  ),
  webhooks: <path d="M1.5 8h8M6.5 5l3 3-3 3M9 2.5h5.5v11H9" />,
  account: (
    <>
      <circle cx="8" cy="5" r="2.75" />
      <path d="M2.75 14c.5-3.5 2.5-5 5.25-5s4.75 1.5 5.25 5" />
    </>
  ),
}

/** An icon, beside the word that it stands for. */
export function Icon({ of }: { of: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[of]}
    </svg>
  )
}
