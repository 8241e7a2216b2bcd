import { useState } from 'preact/hooks'
import type { Factor } from '../api/account.ts'
import { api, ask } from '../api/client.ts'
import { loadMe } from '../api/me.ts'
import { signOut } from '../api/me.ts'
import { signed } from '../api/passkeys.ts'
import { Card } from '../kit/card.tsx'
import { Act, Code, Form, Refusal, useAction } from '../kit/form.tsx'
import { Loaded, useAsked } from '../kit/loading.tsx'

/** Asks for the code or passkey that the log-in still lacks. */
export function SecondFactorPage() {
  const asked = useAsked(
    () => Promise.all([ask(api.GET('/api/v1/auth/totp/')), ask(api.GET('/api/v1/auth/passkeys/'))]),
    [],
  )
  return (
    <Card title="Second factor">
      <Loaded asked={asked}>
        {([all, passkeys]) => {
          const factors = all.filter((factor) => factor.last_used !== null)
          return (
            <>
              {passkeys.length > 0 && <WithPasskey />}
              {passkeys.length > 0 && factors.length > 0 && <p class="or">or</p>}
              {factors.length > 0 && <SecondFactor factors={factors} />}
            </>
          )
        }}
      </Loaded>
      <p class="ways">
        <button class="plain" onClick={() => void signOut()}>
          Back to sign-in
        </button>
      </p>
    </Card>
  )
}

function WithPasskey() {
  const action = useAction()
  const verify = async () => {
    await ask(api.POST('/api/v1/auth/token/passkey/', { body: { passkey: await signed('token') } }))
    await loadMe()
  }
  return (
    <>
      <Refusal of={action} />
      <Act class="way" action={action} work={verify}>
        Use a passkey
      </Act>
    </>
  )
}

function SecondFactor({ factors }: { factors: Factor[] }) {
  const [id, setId] = useState(factors[0]!.id)
  const [code, setCode] = useState('')
  const action = useAction()
  const verify = async () => {
    await ask(api.POST('/api/v1/auth/totp/{id}/verify/', { params: { path: { id } }, body: { code } }))
    await loadMe()
  }
  return (
    <Form action={action} fields={['code']} submit="Continue" onSubmit={verify}>
      {factors.length > 1 && (
        <div class="field">
          <label for="factor">Factor</label>
          <select
            id="factor"
            value={id}
            onChange={(event) => {
              setId(event.currentTarget.value)
            }}
          >
            {factors.map((factor) => (
              <option key={factor.id} value={factor.id}>
                {factor.name}
              </option>
            ))}
          </select>
        </div>
      )}
      <Code value={code} onText={setCode} problems={action.of('code')}
        hint={`The six digits that ${factors.length === 1 ? `“${factors[0]!.name}”` : 'it'} shows. Each code works once.`} />
    </Form>
  ) // prettier-ignore
}
