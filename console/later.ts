// Pages that few people look at, and seldom: one file, which comes when the first of them is shown.
export { ActivityPage } from './pages/activity.tsx'
export { NameserversPage } from './pages/nameservers.tsx'
// All else is then in one chunk, which is smaller than two that share names.
import './app.tsx'
export { WebhooksPage } from './pages/webhooks.tsx'
