import './style/style.css'
import { render } from 'preact'
import { App, type Page } from './app.tsx'
import { later } from './kit/later.tsx'
import { startRouting } from './router.ts'

/** The pages that are not in the bundle: they import what all pages share from the app, so it does not name them. */
const LATER: Record<string, Page> = {
  activity: later(async () => (await import('./later.ts')).ActivityPage, 'Activity'),
  webhooks: later(async () => (await import('./later.ts')).WebhooksPage, 'Webhooks'),
  'domains/:name/nameservers': later(async () => (await import('./later.ts')).NameserversPage as Page),
}

startRouting()
render(<App later={LATER} />, document.getElementById('console')!)
