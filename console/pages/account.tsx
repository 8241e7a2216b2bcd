import { ChangeEmail } from '../account/change-email.tsx'
import { DeleteAccount } from '../account/delete-account.tsx'
import { Factors } from '../account/factors.tsx'
import { OtherSessions } from '../account/other-sessions.tsx'
import { Outreach } from '../account/outreach.tsx'
import { ResetPassword } from '../account/reset-password.tsx'
import type { Account, Factor } from '../api/account.ts'
import { api, ask } from '../api/client.ts'
import { isLogin, mayManageAccount } from '../api/me.ts'
import { counted } from '../model/rrset.ts'
import { Loaded, useAsked } from '../parts/loading.tsx'
import { Panel } from '../parts/panel.tsx'
import { Ago } from '../parts/time.tsx'

/** The account of the session: its address, password, second factors and sessions, and its end. */
export function AccountPage() {
  return (
    <div class="reading settings">
      <h1 tabIndex={-1}>Account</h1>
      {mayManageAccount() ? (
        <Sections />
      ) : (
        <p>This token may not see or change the account. Sign in with your password to do so.</p>
      )}
    </div>
  )
}

function Sections() {
  const asked = useAsked(async () => {
    const [account, factors] = await Promise.all([
      ask(api.GET('/api/v1/auth/account/')),
      // API tokens may not see them.
      isLogin() ? ask(api.GET('/api/v1/auth/totp/')) : [],
    ])
    return { account, factors: factors as Factor[] }
  }, [])
  return (
    <Loaded asked={asked}>
      {({ account, factors }) => {
        const hasFactor = factors.some((factor) => factor.last_used !== null)
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
              <ChangeEmail account={account} hasFactor={hasFactor} />
              <Outreach account={account} />
            </Panel>
            <Panel title="Change the password">
              <p>Only a link that we mail to {account.email} can set a new password. It signs you out everywhere.</p>
              <ResetPassword email={account.email} />
            </Panel>
            <Panel title="Second factors">
              <Factors email={account.email} factors={factors} onChange={asked.reload} />
            </Panel>
            <Panel title="Other sign-ins">
              <OtherSessions />
            </Panel>
            <Panel title="Delete the account" isDanger>
              <DeleteAccount account={account} hasFactor={hasFactor} />
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
