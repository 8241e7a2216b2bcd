import { ChangeEmail } from '../account/change-email.tsx'
import { DeleteAccount } from '../account/delete-account.tsx'
import { Factors } from '../account/factors.tsx'
import { OtherSessions } from '../account/other-sessions.tsx'
import { Outreach } from '../account/outreach.tsx'
import { Passkeys } from '../account/passkeys.tsx'
import { ResetPassword } from '../account/reset-password.tsx'
import { SignOnLink } from '../account/sign-on.tsx'
import type { Account, Factor } from '../api/account.ts'
import { api, ask } from '../api/client.ts'
import { bearer, isLogin, mayChangeAccount, me } from '../api/me.ts'
import type { Passkey } from '../api/passkeys.ts'
import { Loaded, useAsked } from '../kit/loading.tsx'
import { Panel } from '../kit/panel.tsx'
import { Ago } from '../kit/time.tsx'
import { OwnMemberships } from '../members/own-memberships.tsx'
import { counted } from '../rrsets/rrset.ts'

/** The account of the session: its address, password, second factors, passkeys and sessions, and its end. */
export function AccountPage() {
  return (
    <div class="reading settings">
      <h1 tabIndex={-1}>Account</h1>
      {mayChangeAccount() ? (
        <Sections />
      ) : (
        <p>
          {bearer()} may not see or change the account. Only {me.value!.membership ? 'its own log-ins' : 'log-ins'} may.
        </p>
      )}
    </div>
  )
}

function Sections() {
  const asked = useAsked(async () => {
    const [account, offer, factors, passkeys] = await Promise.all([
      ask(api.GET('/api/v1/auth/account/')),
      ask(api.GET('/api/v1/service/')),
      // API tokens may not see them.
      isLogin() ? ask(api.GET('/api/v1/auth/totp/')) : [],
      isLogin() ? ask(api.GET('/api/v1/auth/passkeys/')) : [],
    ])
    return { account, offer, factors: factors as Factor[], passkeys: passkeys as Passkey[] }
  }, [])
  return (
    <Loaded asked={asked}>
      {({ account, offer, factors, passkeys }) => {
        const kinds = { codes: factors.some((factor) => factor.last_used !== null), passkeys: passkeys.length > 0 }
        return (
          <>
            <p class="facts">
              <span>{domainsOf(account)}</span>
              <span>
                Created{' '}
                <b>
                  <Ago at={account.created} />
                </b>
              </span>
            </p>
            <Panel title="E-mail">
              <ChangeEmail account={account} kinds={kinds} />
              <Outreach account={account} />
            </Panel>
            <Panel title="Change the password">
              <p>Only a link that we mail to {account.email} can set a new password. It signs you out everywhere.</p>
              <ResetPassword email={account.email} />
            </Panel>
            <Panel title="Second factors">
              <Factors email={account.email} factors={factors} onChange={asked.reload} />
            </Panel>
            {isLogin() && (offer.passkeys || kinds.passkeys) && (
              <Panel title="Passkeys">
                <Passkeys
                  email={account.email}
                  passkeys={passkeys}
                  isOffered={offer.passkeys}
                  onChange={asked.reload}
                />
              </Panel>
            )}
            {isLogin() && offer.single_sign_on !== null && (
              <Panel title="Single sign-on">
                <SignOnLink name={offer.single_sign_on} />
              </Panel>
            )}
            <OwnMemberships />
            <Panel title="Other sign-ins">
              <OtherSessions />
            </Panel>
            <Panel title="Delete the account" isDanger>
              <DeleteAccount account={account} kinds={kinds} />
            </Panel>
          </>
        )
      }}
    </Loaded>
  )
}

/** **3 domains** of 15 at most */
function domainsOf({ domains_under_management: count, limit_domains: limit }: Account) {
  return (
    <>
      <b>{counted(count, 'domain')}</b>{' '}
      {limit === null ? 'without a limit' : `of ${limit.toLocaleString('en')} at most`}
    </>
  )
}
