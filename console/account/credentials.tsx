import { useState } from 'preact/hooks'
import type { Account } from '../api/account.ts'
import { type Action, Code, Field } from '../parts/form.tsx'

/** The fields with which somebody who has signed in proves who they are. */
interface Credentials {
  /** Members of the request. */
  body: { email: string; password: string; code?: string }
  fields: preact.ComponentChildren
  /** Forgets what was typed. */
  clear: () => void
}

/** Asks for the password, and for a code where the account has a second factor. */
export function useCredentials(account: Account, hasFactor: boolean, action: Action): Credentials {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  // API tokens cannot see whether there is a factor: the service asks for a code then.
  const needsCode = hasFactor || code !== '' || action.of('code').length > 0
  return {
    body: { email: account.email, password, ...(needsCode && { code }) },
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
            hint="The six digits of one of your second factors. Each code works once."
          />
        )}
      </>
    ),
    clear: () => {
      setPassword('')
      setCode('')
    },
  }
}
