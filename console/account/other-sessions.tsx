import { useState } from 'preact/hooks'
import { api, ask, askWhole, nextCursor } from '../api/client.ts'
import { me } from '../api/me.ts'
import { counted } from '../model/rrset.ts'
import { useAction } from '../parts/form.tsx'
import { Failure } from '../parts/loading.tsx'

/** Ends all sessions of the account that began with its password, except this one. */
export function OtherSessions() {
  const [ended, setEnded] = useState<number>()
  const action = useAction()
  const end = async () => {
    const ids = await otherSessions()
    for (const id of ids) await ask(api.DELETE('/api/v1/auth/tokens/{id}/', { params: { path: { id } } }))
    setEnded(ids.length)
  }
  return (
    <>
      <p>This ends whatever was begun with your password elsewhere. Programs with API tokens go on.</p>
      {action.refused !== undefined && <Failure problem={action.refused} />}
      <button
        disabled={action.isBusy}
        onClick={() => {
          action.run(end)
        }}
      >
        Sign out everywhere else
      </button>
      <p role="status">
        {ended !== undefined && (ended === 0 ? 'There was no other one.' : `Ended ${counted(ended, 'session')}.`)}
      </p>
    </>
  )
}

/** The ids of the other log-in tokens of the account. */
async function otherSessions(): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { data, response } = await askWhole(api.GET('/api/v1/auth/tokens/', { params: { query: { cursor } } }))
    ids.push(...data.filter(({ id, mfa }) => mfa !== null && id !== me.value!.token.id).map(({ id }) => id))
    cursor = nextCursor(response)
  }
  return ids
}
