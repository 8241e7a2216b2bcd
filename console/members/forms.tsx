import { useState } from 'preact/hooks'
import { changeMember, invite, type Member, removeMember } from '../api/members.ts'
import { listTokens } from '../api/tokens.ts'
import { Checkbox, Field, Form, useAction } from '../kit/form.tsx'
import { Loaded, useAsked } from '../kit/loading.tsx'
import { Dialog } from '../kit/review.tsx'
import { tokenName } from '../tokens/token.tsx'
import { type Rights, RightsInput } from './rights-input.tsx'

interface Props {
  /** Undefined: one who is to be invited. */
  member: Member | undefined
  /** Called with what has been done. */
  onDone: (said: string) => void
  onClose: () => void
}

/** Invites somebody, or changes what a member may do, and where. */
export function MemberForm({ member, onDone, onClose }: Props) {
  const [email, setEmail] = useState('')
  const [{ role, domains }, setRights] = useState<Rights>(member ?? { role: 'viewer', domains: null })
  const fate = useFate(member)
  const action = useAction()
  const save = async () => {
    if (member === undefined) {
      await invite({ email, role, domains })
      onDone(`We have sent a mail to ${email}. Its link accepts the invitation, for 7 days.`)
    } else {
      await changeMember(member.id, fate.tokens, { role, domains })
      onDone(`What ${member.email} may do is changed.`)
    }
  }
  return (
    <Dialog title={member ? `Change ${member.email}` : 'Invite a member'} onClose={onClose}>
      <Form action={action} fields={['email', 'domains']} submit={member ? 'Save' : 'Send the invitation'}
        isReady={domains?.length !== 0} onSubmit={save} onCancel={onClose}>
        {member === undefined && (
          <Field label="E-mail" type="email" autocomplete="off" required value={email} onText={setEmail}
            problems={action.of('email')} />
        )}
        <RightsInput rights={{ role, domains }} action={action} onChange={setRights} />
        {member?.role === 'admin' && role !== 'admin' && fate.shown}
      </Form>
    </Dialog>
  ) // prettier-ignore
}

/** What an admin leaves behind (contract §19.2). */
const LEFT =
  'What an admin has changed stays: transfers to servers, rights of tokens, and members whom the admin invited.'

/** Removes a member, or deletes an invitation. */
export function Removal({ member, onDone, onClose }: Props) {
  const { id, email, role, state } = member!
  const fate = useFate(member)
  const action = useAction()
  const remove = async () => {
    await removeMember(id, fate.tokens)
    onDone(`${email} is removed.`)
  }
  return (
    <Dialog title={`Remove ${email}`} onClose={onClose}>
      <Form action={action} submit="Remove" isDangerous onSubmit={remove} onCancel={onClose}>
        <p>
          {state === 'invited'
            ? 'The link of the invitation ends.'
            : `All log-ins of the member for this account end at once. ${role === 'admin' ? LEFT : ''}`}
        </p>
        {fate.shown}
      </Form>
    </Dialog>
  )
}

/** What becomes of the tokens that a member has made for the account, and the choice that shows them. */
function useFate(member: Member | undefined) {
  const [keeps, setKeeps] = useState(false)
  const asked = useAsked(
    async () => (member ? (await listTokens()).filter(({ maker }) => maker === member.email).map(tokenName) : []),
    [],
  )
  const shown = (
    <Loaded asked={asked}>
      {(names) =>
        names.length > 0 && (
          <>
            <p>API tokens that the member has made, and whose secrets it may know:</p>
            <ul>
              {names.map((name, i) => (
                <li key={i}>{name}</li>
              ))}
            </ul>
            <Checkbox label="Keep these tokens" checked={keeps} onCheck={setKeeps} />
          </>
        )
      }
    </Loaded>
  )
  return { tokens: keeps ? ('keep' as const) : ('end' as const), shown }
}
