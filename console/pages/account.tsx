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
import { Time } from '../parts/time.tsx'

/** The account of the session: its address, password, second factors and sessions, and its end. */
export function AccountPage() {
  return (
    <div class="narrow">
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
            <p>
              {domainsOf(account)} Created <Time at={account.created} />.
            </p>
            <h2>E-mail</h2>
            <ChangeEmail account={account} hasFactor={hasFactor} />
            <Outreach account={account} />
            <h2>Password</h2>
            <p>Only a link that we mail to {account.email} can set a new password. It signs you out everywhere.</p>
            <ResetPassword email={account.email} />
            <h2>Second factors</h2>
            <Factors email={account.email} factors={factors} onChange={asked.reload} />
            <h2>Other sign-ins</h2>
            <OtherSessions />
            <h2>Delete the account</h2>
            <DeleteAccount account={account} hasFactor={hasFactor} />
          </>
        )
      }}
    </Loaded>
  )
}

/** `3 domains, of 15 at most.` */
function domainsOf({ domains_under_management: count, limit_domains: limit }: Account): string {
  const domains = counted(count, 'domain')
  return limit === null ? `${domains}, without a limit.` : `${domains}, of ${limit.toLocaleString('en')} at most.`
}
