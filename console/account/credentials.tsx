import { useState } from 'preact/hooks'
import type { Account } from '../api/account.ts'
import { isLogin } from '../api/me.ts'
import { signed } from '../api/passkeys.ts'
import { type Action, Code, Field } from '../kit/form.tsx'

/** The kinds of second factors that an account has. */
export interface Kinds {
  codes: boolean
  passkeys: boolean
}

/** The fields with which somebody who has signed in proves who they are. */
interface Credentials {
  /** Returns members of the request; perhaps a passkey signs for them. */
  body: () => Promise<{ email: string; password: string; code?: string; passkey?: Awaited<ReturnType<typeof signed>> }>
  fields: preact.ComponentChildren
  /** Forgets what was typed. */
  clear: () => void
}

/** Asks for the password, and for a code or a passkey where the account has a second factor. */
export function useCredentials(account: Account, kinds: Kinds, action: Action): Credentials {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  // API tokens cannot see which factors there are: the service asks for one then.
  const asksFor = (member: string) => action.of(member).length > 0
  const needsCode = kinds.codes || code !== '' || asksFor('code')
  const hasPasskey = kinds.passkeys || asksFor('passkey')
  return {
    async body() {
      const body = { email: account.email, password }
      if (hasPasskey && code === '') return { ...body, passkey: await signed(isLogin() ? 'token' : 'login') }
      return { ...body, ...(needsCode && { code }) }
    },
    fields: (
      <>
        <Field
          label="Password"
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onText={setPassword}
          problems={action.of('password')}
        />
        {needsCode && (
          <Code
            value={code}
            onText={setCode}
            problems={action.of('code')}
            required={!hasPasskey}
            hint={`The six digits of one of your second factors. Each code works once.${hasPasskey ? ' Without one, your passkey is asked for.' : ''}`}
          />
        )}
        {hasPasskey && !needsCode && <p class="quiet">Your passkey is asked for, too.</p>}
      </>
    ),
    clear: () => {
      setPassword('')
      setCode('')
    },
  }
}
