import { useEffect } from 'preact/hooks'
import type { Delivery } from '../api/webhooks.ts'
import { type Asked, Loaded } from '../kit/loading.tsx'
import { State } from '../kit/state.tsx'
import { Ago } from '../kit/time.tsx'
import { counted } from '../rrsets/rrset.ts'
import { answerWords, deliveryState, typeWords } from './webhooks.ts'

interface Props {
  asked: Asked<Delivery[]>
  /** Sends one again; undefined: nothing is sent. */
  onSend: ((delivery: Delivery) => void) | undefined
}

/** What a webhook was told in the last days, and what waits: as it is when this opens. */
export function Deliveries({ asked, onSend }: Props) {
  const { reload } = asked
  useEffect(reload, [reload])
  return (
    <Loaded asked={asked}>
      {(deliveries) =>
        deliveries.length === 0 ? (
          <p>None in the last 7 days.</p>
        ) : (
          <ol class="entries">
            {deliveries.map((delivery) => (
              <li key={delivery.id}>
                <Line delivery={delivery} onSend={onSend} />
              </li>
            ))}
          </ol>
        )
      }
    </Loaded>
  )
}

function Line({ delivery, onSend }: { delivery: Delivery } & Pick<Props, 'onSend'>) {
  const { created, type, domain, entry, status, attempts, attempted } = delivery
  const { mood, words } = deliveryState(delivery)
  const answer = answerWords(delivery)
  return (
    <>
      <State mood={mood}>{words}</State>
      <span>
        {typeWords(type)}{' '}
        {domain !== null &&
          (type === 'rrsets_changed' ? (
            <a class="mono" href={`domains/${domain}/history?entry=${entry}`}>
              {domain}
            </a>
          ) : (
            <span class="mono">{domain}</span>
          ))}
      </span>
      <span class="quiet">
        <Ago at={created} />
      </span>
      {onSend !== undefined && status !== 'gone' && (
        <button
          class="small"
          onClick={() => {
            onSend(delivery)
          }}
        >
          {status === 'waiting' ? 'Try now' : 'Redeliver'}
        </button>
      )}
      {(answer !== '' || attempted !== null) && (
        <p class="quiet">
          {answer}{' '}
          {attempted !== null && (
            <>
              {counted(attempts, 'attempt')}
              {attempts > 1 && ', the last'} <Ago at={attempted} />.
            </>
          )}
        </p>
      )}
    </>
  )
}
