import { useState } from 'preact/hooks'
import { me } from '../api/me.ts'
import { deleteToken, listTokens } from '../api/tokens.ts'
import { Act, Refusal, useAction } from '../kit/form.tsx'
import { counted } from '../rrsets/rrset.ts'

/** Ends all sessions of the account that began with its password, except this one. */
export function OtherSessions() {
  const [ended, setEnded] = useState<number>()
  const action = useAction()
  const end = async () => {
    const ids = await otherSessions()
    for (const id of ids) await deleteToken(id)
    setEnded(ids.length)
  }
  return (
    <>
      <p>This ends whatever was begun with your password elsewhere. Programs with API tokens go on.</p>
      <Refusal of={action} />
      <Act action={action} work={end}>
        Sign out everywhere else
      </Act>
      <p role="status">
        {ended !== undefined && (ended === 0 ? 'There was no other one.' : `Ended ${counted(ended, 'session')}.`)}
      </p>
    </>
  )
}

/** The ids of the other log-in tokens of the account. */
async function otherSessions(): Promise<string[]> {
  const tokens = await listTokens()
  return tokens.filter(({ id, mfa }) => mfa !== null && id !== me.value!.token.id).map(({ id }) => id)
}
