import { useState } from 'preact/hooks'
import { maySee } from '../api/me.ts'
import { type Webhook, webhookPage } from '../api/webhooks.ts'
import { Loaded, useMore } from '../kit/loading.tsx'
import { WebhookCard } from '../webhooks/card.tsx'
import { Confirmation, type Deed, type Done, SecretDialog, WebhookForm } from '../webhooks/forms.tsx'

/** What is open: a deed with a webhook, the form of a new one without, or a new secret. */
type Open = { deed: Deed; webhook: Webhook } | { deed: 'Add'; webhook?: undefined } | { secret: string }

/** Addresses that are told what happens in the account. */
export function WebhooksPage() {
  if (!maySee('webhooks')) return <p>Only log-ins of the account itself and of its admins may see its webhooks.</p>
  return <Webhooks />
}

function Webhooks() {
  const asked = useMore(webhookPage, [])
  const [open, setOpen] = useState<Open>()
  const [said, setSaid] = useState('')
  if (asked.problem?.status === 404) return <p>The operator of this service has turned webhooks off.</p>
  const close = () => {
    setOpen(undefined)
  }
  const done = ({ said: text, secret }: Done) => {
    setOpen(secret === undefined ? undefined : { secret })
    setSaid(text)
    asked.reload()
  }
  return (
    <div class="reading">
      <p class="quiet">
        Webhooks tell other systems what happens in this account: a chat, a ticket system, a pipeline that checks what
        is served. Each gets signed messages at a URL of its own, in the format of{' '}
        <a href="https://www.standardwebhooks.com/" target="_blank" rel="noreferrer">
          Standard Webhooks
        </a>
        .
      </p>
      <p>
        <button
          class="main"
          onClick={() => {
            setOpen({ deed: 'Add' })
          }}
        >
          Add a webhook
        </button>
      </p>
      <p role="status">{said}</p>
      <Loaded asked={asked}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <p>No webhooks yet.</p>
          ) : (
            <ul class="cards whole">
              {webhooks.map((webhook) => (
                <WebhookCard
                  key={webhook.id}
                  webhook={webhook}
                  onChange={asked.reload}
                  onDeed={(deed) => {
                    setOpen({ deed, webhook })
                  }}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {open !== undefined &&
        ('secret' in open ? (
          <SecretDialog secret={open.secret} onClose={close} />
        ) : open.deed === 'Add' || open.deed === 'Change' ? (
          <WebhookForm webhook={open.webhook} onDone={done} onClose={close} />
        ) : (
          <Confirmation deed={open.deed} webhook={open.webhook} onDone={done} onClose={close} />
        ))}
    </div>
  )
}
