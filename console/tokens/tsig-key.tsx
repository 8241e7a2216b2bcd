import { useState } from 'preact/hooks'
import { API } from '../api/client.ts'
import { makeKey, removeKey, type Token, type TsigKey } from '../api/tokens.ts'
import { Form, useAction } from '../kit/form.tsx'
import { Panel } from '../kit/panel.tsx'
import { Dialog } from '../kit/review.tsx'
import { Programs, Snippet } from './programs.tsx'
import { type Facts, filledIn, KEY_FILE, KEY_PROGRAMS, type ProgramName } from './snippets.ts'

interface Props {
  token: Token
  place: Facts['place']
  reload: () => void
}

/** The TSIG key of a token: it is made, shown once with the texts of programs, made anew, and removed. */
export function TsigKeyPanel({ token, place, reload }: Props) {
  const [made, setMade] = useState<TsigKey>()
  const [asking, setAsking] = useState<'new' | 'removal'>()
  const action = useAction()
  const hasKey = token.tsig === true
  const close = () => {
    setAsking(undefined)
    action.forget()
  }
  const make = async () => {
    setMade(await makeKey(token.id))
    close()
    reload()
  }
  const remove = async () => {
    await removeKey(token.id)
    setMade(undefined)
    close()
    reload()
  }
  return (
    <Panel title="DNS UPDATE">
      <p>
        {hasKey ? 'This token has a TSIG key' : 'With a TSIG key'}
        {', with which nsupdate, certbot and DHCP servers write what the token may write.'}
      </p>
      {made !== undefined && <NewKey made={made} email={token.owner} place={place} />}
      {asking === undefined && !hasKey ? (
        <Form action={action} submit="Make a TSIG key" onSubmit={make}>
          {null}
        </Form>
      ) : (
        <p class="buttons">
          <button
            onClick={() => {
              setAsking('new')
            }}
          >
            Make a new TSIG key
          </button>
          <button
            class="danger"
            onClick={() => {
              setAsking('removal')
            }}
          >
            Remove the TSIG key
          </button>
        </p>
      )}
      {asking !== undefined && (
        <Dialog title={asking === 'new' ? 'Make a new TSIG key' : 'Remove the TSIG key'} onClose={close}>
          <Form
            action={action}
            submit={asking === 'new' ? 'Make it' : 'Remove'}
            isDangerous
            onSubmit={asking === 'new' ? make : remove}
            onCancel={close}
          >
            <p>Programs that use the present one stop working at once.</p>
          </Form>
        </Dialog>
      )}
    </Panel>
  )
}

/** A key that was just made. Its secret is in this component alone, and gone with it. */
function NewKey({ made, email, place }: { made: TsigKey; email: string; place: Facts['place'] }) {
  const facts = { keyName: made.name.replace(/\.$/, ''), secret: made.secret, email, place }
  const file = filledIn(KEY_FILE, { ...facts, url: API, nameserver: undefined })
  return (
    <>
      <p role="status">
        Copy the key now. Its secret is not shown again. This writes it to a file, which most programs read:
      </p>
      <Snippet text={file} name="The key file" what="the key file" />
      <p>In place of 203.0.113.7 and 5353, write the address and port where DNS UPDATE is taken here.</p>
      <Programs key={made.secret} names={Object.keys(KEY_PROGRAMS) as ProgramName[]} {...facts} />
    </>
  )
}
