import { useState } from 'preact/hooks'
import type { Account } from '../api/account.ts'
import { api, ask } from '../api/client.ts'
import { Checkbox, Refusal, useAction } from '../kit/form.tsx'

/** Whether the operator may send more than the necessary mails. It is saved at once. */
export function Outreach({ account }: { account: Account }) {
  const [isWelcome, setWelcome] = useState(account.outreach_preference)
  const action = useAction()
  const change = (wanted: boolean) => {
    setWelcome(wanted)
    action.run(async () => {
      try {
        await ask(api.PATCH('/api/v1/auth/account/', { body: { outreach_preference: wanted } }))
      } catch (reason) {
        setWelcome(!wanted)
        throw reason
      }
    })
  }
  return (
    <>
      <Checkbox label="Also send me news, not only the necessary mails" checked={isWelcome} onCheck={change} />
      <Refusal of={action} />
    </>
  )
}
