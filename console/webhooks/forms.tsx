import { useState } from 'preact/hooks'
import { addWebhook, changeWebhook, deleteWebhook, rotateSecret, type Webhook } from '../api/webhooks.ts'
import { DomainsInput } from '../domains/domains-input.tsx'
import { Field, Form, useAction } from '../kit/form.tsx'
import { Dialog } from '../kit/review.tsx'
import { Secret } from '../tokens/new-secret.tsx'
import { type Group, GROUPS } from './webhooks.ts'

/** What is done with a webhook once it is confirmed. */
export const CONFIRMED = ['Make a new secret', 'Turn off', 'Delete'] as const

/** What one can do with a webhook in a dialog. */
export type Deed = 'Change' | (typeof CONFIRMED)[number]

/** What has been done, and the secret if there is a new one. */
export interface Done {
  said: string
  secret?: string
}

interface Props {
  onDone: (done: Done) => void
  onClose: () => void
}

/** Adds a webhook, or changes one. @param webhook undefined: it is to be added */
export function WebhookForm({ webhook, onDone, onClose }: Props & { webhook: Webhook | undefined }) {
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [events, setEvents] = useState<Group[]>(webhook?.events ?? ['rrsets', 'domains'])
  const [domains, setDomains] = useState(webhook?.domains ?? null)
  const action = useAction()
  const save = async () => {
    const body = { url, events, domains }
    if (webhook === undefined) {
      const { url: stored, secret } = await addWebhook(body)
      onDone({ said: `${stored} is added.`, secret })
    } else {
      await changeWebhook(webhook.id, body)
      onDone({ said: `${url} is changed.` })
    }
  }
  return (
    <Dialog title={webhook ? 'Change the webhook' : 'Add a webhook'} onClose={onClose}>
      <Form action={action} fields={['url', 'domains']} submit={webhook ? 'Save' : 'Add'}
        isReady={events.length > 0 && domains?.length !== 0} onSubmit={save} onCancel={onClose}>
        <Field label="URL" hint="An https address, such as https://hooks.example.com/dns" required autocomplete="off"
          value={url} onText={setUrl} problems={action.of('url')} />
        <fieldset class="choices">
          <legend>What shall it hear of?</legend>
          {Object.entries(GROUPS).map(([group, { title, text }]) => (
            <label key={group}>
              <input type="checkbox" checked={events.includes(group as Group)}
                onChange={({ currentTarget: { checked } }) => {
                  setEvents(checked ? [...events, group as Group] : events.filter((each) => each !== group))
                }} />
              <span>
                {title}
                <span class="quiet">{text}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <DomainsInput legend="In which domains?" domains={domains} problems={action.of('domains')}
          onChange={setDomains} />
        {domains !== null && events.includes('account') && (
          <p class="note">Of the account, it then hears only what is about these domains: no sign-ins, for example.</p>
        )}
      </Form>
    </Dialog>
  ) // prettier-ignore
}

/** What each of these does, and its button says. */
const TEXTS: Record<(typeof CONFIRMED)[number], { title: string; text: string; submit: string }> = {
  'Make a new secret': {
    title: 'Make a new secret',
    text: 'For 24 hours, the present secret signs, too, so that the receiver can change over. Earlier ones end now.',
    submit: 'Make it',
  },
  'Turn off': {
    title: 'Turn off the webhook',
    text: 'What waits is not sent by itself any more. What happens until you turn it on again is not sent at all.',
    submit: 'Turn off',
  },
  Delete: {
    title: 'Delete the webhook',
    text: 'What waits is not sent, and its deliveries are forgotten.',
    submit: 'Delete',
  },
}

/** Does something with a webhook that one confirms. */
export function Confirmation({
  deed,
  webhook,
  onDone,
  onClose,
}: Props & { deed: keyof typeof TEXTS; webhook: Webhook }) {
  const { id, url } = webhook
  const { title, text, submit } = TEXTS[deed]
  const action = useAction()
  const work = async () => {
    if (deed === 'Make a new secret') {
      onDone({ said: `${url} has a new secret.`, secret: (await rotateSecret(id)).secret })
    } else if (deed === 'Delete') {
      await deleteWebhook(id)
      onDone({ said: `${url} is deleted.` })
    } else {
      await changeWebhook(id, { enabled: false })
      onDone({ said: `${url} is off.` })
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form action={action} submit={submit} isDangerous={deed === 'Delete'} onSubmit={work} onCancel={onClose}>
        <p class="url">{url}</p>
        <p>{text}</p>
      </Form>
    </Dialog>
  )
}

/** Shows a new secret. It is in this component alone, and gone with it. */
export function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog title="Copy the secret now" onClose={onClose}>
      <p>
        With it, the receiver checks the signature of each message, so that nobody else can send it any: in its header{' '}
        <code>webhook-signature</code>, as libraries of Standard Webhooks do.
      </p>
      <Secret text={secret} />
      <p class="buttons">
        <button class="main" onClick={onClose}>
          Done
        </button>
      </p>
    </Dialog>
  )
}
