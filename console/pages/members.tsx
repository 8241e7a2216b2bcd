import { useState } from 'preact/hooks'
import { mayChangeAccount, mayManageMembers } from '../api/me.ts'
import { type Member, memberPage } from '../api/members.ts'
import { Loaded, useMore } from '../kit/loading.tsx'
import { type Deed, MemberCard } from '../members/card.tsx'
import { MemberForm, Removal } from '../members/forms.tsx'
import { Requirements } from '../members/requirements.tsx'

/** The form that is open, and the member; without one, an invitation. */
interface Open {
  deed: Deed
  member?: Member
}

/** Who else may act for the account, and as what. */
export function MembersPage() {
  return (
    <div class="reading">
      {mayManageMembers() ? (
        <Members />
      ) : (
        <>
          <h1 tabIndex={-1}>Members</h1>
          <p>Only log-ins of the account itself and of its admins may see its members.</p>
        </>
      )}
    </div>
  )
}

function Members() {
  const asked = useMore(memberPage, [])
  const [open, setOpen] = useState<Open>()
  const [said, setSaid] = useState('')
  const close = () => {
    setOpen(undefined)
  }
  const done = (text: string) => {
    close()
    setSaid(text)
    asked.reload()
  }
  const Opened = open?.deed === 'Remove' ? Removal : MemberForm
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>Members</h1>
        <div class="rest">
          <button
            class="main"
            onClick={() => {
              setOpen({ deed: 'Change' })
            }}
          >
            Invite a member
          </button>
        </div>
      </div>
      <p class="quiet">Members act for this account with accounts of their own. The history says who did what.</p>
      <p role="status">{said}</p>
      <Loaded asked={asked}>
        {(members) => (
          <ul class="cards">
            {members.length === 0 && <li>No members yet.</li>}
            {members.map((member) => (
              <MemberCard
                key={member.id}
                member={member}
                onDeed={(deed) => {
                  setOpen({ deed, member })
                }}
              />
            ))}
          </ul>
        )}
      </Loaded>
      {mayChangeAccount() && <Requirements />}
      {open && <Opened member={open.member} onDone={done} onClose={close} />}
    </>
  )
}
