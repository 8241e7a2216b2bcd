import * as parse from './parsers.ts'
import { optional, secret, setting, unset } from './setting.ts'
import * as signOn from './sign-on-parsers.ts'

/** The largest limit of the octets of a domain's records: repair sends long RRsets in one request of 64 MiB at most. */
const RECORD_OCTETS_MAX = 48 * 1024 * 1024

/** The settings of accounts: who gets one, and what it can have. */
export const ACCOUNTS = {
  registration: setting('REGISTRATION', (text) => parse.oneOf(['open', 'closed'])(text) === 'open', 'closed')`
    "open": everybody can sign up; "closed": only the command line creates accounts`,
  emailConfirmation: setting('EMAIL_CONFIRMATION', parse.isOn, 'on')`
    "off": a new account is active at once, and nobody checks that the address is the user's`,
  confirmationValidity: setting('CONFIRMATION_VALIDITY', parse.integer(60, 30 * 86_400), '43200')`
    validity of links in mails, 60 to 2592000 seconds`,
  captcha: setting('CAPTCHA', parse.isOn, 'off')`
    "on": strangers have to solve a captcha`,
  limitDomains: setting('LIMIT_DOMAINS', parse.integerOrNone(0, 2 ** 31 - 1), '15')`
    default limit of domains of a new account, or "none"`,
  limitOctets: setting('LIMIT_OCTETS', parse.integer(65_536, RECORD_OCTETS_MAX), '33554432')`
    octets of records that a domain can have, 65536 to 50331648`,
  limitHistoryOctets: optional('LIMIT_HISTORY_OCTETS', parse.integer(65_536, 2 ** 53 - 1), '32 times "LIMIT_OCTETS"')`
    octets of history that the domains of an account can have, with those that it deleted. Beyond it, the oldest
    entries go`,
  invitations: setting('INVITATIONS', parse.isOn, 'on')`
    "on": whoever is invited to an account without having one gets one, also where registration is closed`,
  limitMembers: setting('LIMIT_MEMBERS', parse.integer(0, 100_000), '200')`
    members and invitations that an account can have`,
  token: secret(optional('ZONEPLANE_TOKEN', parse.secret, 'made once and kept in the data folder')`
    secret of the demo account's token, at least 8 characters. With DATABASE_URL, there is a demo account only if this
    is set`),
}

/** The settings of single sign-on, and of passwords, which it can replace. */
export const SINGLE_SIGN_ON = {
  oidcIssuer: optional('OIDC_ISSUER', signOn.issuer, 'none: no single sign-on')`
    issuer of OpenID Connect, such as "https://login.example.net" (docs/operators/accounts.md). Register there the
    callback "PUBLIC_URL/api/v1/auth/oidc/callback/"`,
  oidcClientId: optional('OIDC_CLIENT_ID', String, 'none, required with OIDC_ISSUER')`
    name under which the issuer knows Zoneplane`,
  oidcClientSecret: secret(optional('OIDC_CLIENT_SECRET', String, 'none, required with OIDC_ISSUER')`
    secret that the issuer has for it`),
  oidcName: setting('OIDC_NAME', String, 'Single sign-on')`
    text of the button of the sign-in page`,
  oidcSignUp: setting('OIDC_SIGN_UP', signOn.signUp, 'off')`
    whether the first sign-in of an address without an account creates one: "on", "off", or only for addresses at these
    domains, such as "example.net, example.org"`,
  oidcTrustEmail: setting('OIDC_TRUST_EMAIL', parse.isOn, 'off')`
    "on": whoever has an address at the issuer gets the account of this address at once; otherwise only after its owner
    has signed in there once`,
  oidcGroups: unset('OIDC_GROUPS', signOn.groups, [])`
    groups of the issuer, and the accounts of which they make members, such as
    "dns-admins=ops@example.net:admin; dns-readers=ops@example.net:viewer". Once set, nobody else can sign in there`,
  oidcGroupsClaim: setting('OIDC_GROUPS_CLAIM', String, 'groups')`
    claim that has the groups, as a text or a list; "realm_access.roles" is one within another`,
  oidcMfa: setting('OIDC_MFA', parse.oneOf(['claims', 'trust']), 'claims')`
    which sign-ins count as with a second factor: "claims", those of which the issuer says so, or "trust", all`,
  oidcSession: setting('OIDC_SESSION', parse.integer(60, 30 * 86_400), '43200')`
    seconds after which a sign-in ends, 60 to 2592000`,
  passwords: setting('PASSWORDS', parse.isOn, 'on')`
    "off": nobody signs in with a password, only by single sign-on or a passkey; needs OIDC_ISSUER`,
}
