import { useState } from 'preact/hooks'
import {
  awaitOutcome,
  changeWebhook,
  type Delivery,
  deliveryPage,
  redeliver,
  testWebhook,
  type Webhook,
} from '../api/webhooks.ts'
import { Act, Refusal, useAction } from '../kit/form.tsx'
import { Loaded, useMore } from '../kit/loading.tsx'
import { Opened } from '../kit/opened.tsx'
import { State } from '../kit/state.tsx'
import { Ago, Time } from '../kit/time.tsx'
import { Deliveries } from './deliveries.tsx'
import { CONFIRMED, type Deed } from './forms.tsx'
import { failureOf, lastReceived, outcomeWords, reasonWords, topicWords, webhookState } from './webhooks.ts'

interface Props {
  webhook: Webhook
  /** Called when something of it has changed. */
  onChange: () => void
  onDeed: (deed: Deed) => void
}

/** A webhook: how it is, what it hears of, and what one can do with it. */
export function WebhookCard({ webhook, onChange, onDeed }: Props) {
  const { id, url, enabled, disabled, failing_since: failing } = webhook
  const deliveries = useMore((cursor) => deliveryPage(id, cursor), [id])
  const [said, setSaid] = useState('')
  const action = useAction()
  const { mood, words } = webhookState(webhook)
  /** Lets something be sent, and says what comes of it. */
  const send = async (ask: () => Promise<Delivery>) => {
    setSaid('')
    const delivery = await ask()
    setSaid('Waiting for the receiver…')
    try {
      setSaid(outcomeWords(delivery.id, await awaitOutcome(id, delivery.id)))
    } finally {
      deliveries.reload()
      onChange()
    }
  }
  const turnOn = async () => {
    await changeWebhook(id, { enabled: true })
    setSaid('It is on: what happens from now on is sent.')
    onChange()
  }
  return (
    <li class="panel">
      <div class="head">
        <h2 class="url">{url}</h2>
        <State mood={mood}>{words}</State>
      </div>
      {disabled !== null && (
        <p>
          Off since <Time at={disabled} />. {reasonWords(webhook)} What happens meanwhile is not sent later.
        </p>
      )}
      {failing !== null && (
        <p class="problem">
          It began to fail <Ago at={failing} />. {failureOf(deliveries.value ?? [])} <Next webhook={webhook} />
        </p>
      )}
      <div class="facts">
        <span>{topicWords(webhook)}</span>
        <Loaded asked={{ ...deliveries, more: undefined }}>{(list) => <Last delivery={lastReceived(list)} />}</Loaded>
      </div>
      <Opened summary="Deliveries of the last 7 days">
        <Deliveries
          asked={deliveries}
          onSend={
            enabled && !action.isBusy
              ? (delivery) => {
                  action.run(() => send(() => redeliver(id, delivery.id)))
                }
              : undefined
          }
        />
      </Opened>
      <p class="buttons">
        {enabled ? (
          <Act
            class="small"
            aria-label={`Send a test to ${url}`}
            action={action}
            work={() => send(() => testWebhook(id))}
          >
            Send a test
          </Act>
        ) : (
          <Act class="small" aria-label={`Turn on ${url}`} action={action} work={turnOn}>
            Turn on
          </Act>
        )}
        {(['Change', ...CONFIRMED] as const)
          .filter((deed) => enabled || deed !== 'Turn off')
          .map((deed) => (
            <button
              key={deed}
              class="small"
              aria-label={`${deed} ${url}`}
              onClick={() => {
                onDeed(deed)
              }}
            >
              {deed}
            </button>
          ))}
      </p>
      <Refusal of={action} />
      <p role="status">{said}</p>
    </li>
  )
}

function Last({ delivery }: { delivery: Delivery | undefined }) {
  if (delivery === undefined) return <span>Nothing delivered in the last 7 days</span>
  return (
    <span>
      Last delivery <Ago at={delivery.attempted!} />
    </span>
  )
}

/** When a webhook that fails is tried again. */
function Next({ webhook: { retry_at: retry } }: { webhook: Webhook }) {
  const isSoon = retry === null || Date.parse(retry) < Date.now() + 60_000
  return <>It is tried again {isSoon ? 'within a minute' : <Ago at={retry} />}; what waits follows in its order.</>
}
