import test from 'ava'
import { Denied } from '../../src/errors.ts'
import { groupsOf, hasGroups } from '../../src/service/sign-on/groups.ts'
import { ConfigError, readConfig } from '../../src/settings/config.ts'

// The claim that has the groups (contract §11.4).

const ENVIRONMENT = {
  OIDC_ISSUER: 'https://login.example.net',
  OIDC_CLIENT_ID: 'zoneplane',
  OIDC_CLIENT_SECRET: 'secret',
  PUBLIC_URL: 'https://dns.example.net',
  OIDC_NAME: 'Example Company',
  OIDC_GROUPS: 'admins=ops@example.net:admin; CN=readers,OU=dns=ops@example.net:viewer; /a b=two@example.net:editor',
}

const config = (path = 'groups', rows = ENVIRONMENT.OIDC_GROUPS) =>
  readConfig({ ...ENVIRONMENT, OIDC_GROUPS: rows, OIDC_GROUPS_CLAIM: path })

test('rows name a group of any name, an account and a role', (t) => {
  t.deepEqual(config().oidcGroups, [
    { group: 'admins', account: 'ops@example.net', role: 'admin' },
    { group: 'CN=readers,OU=dns', account: 'ops@example.net', role: 'viewer' },
    { group: '/a b', account: 'two@example.net', role: 'editor' },
  ])
  for (const rows of [';', 'a', 'a=b:viewer', 'a=b@c.test:owner', '=b@c.test:viewer', 'a=b@c.test']) {
    t.regex(t.throws(() => config('groups', rows), { instanceOf: ConfigError }).message, /^OIDC_GROUPS: must /)
  }
})

for (const [title, path, claims, expected] of [
  ['a list', 'groups', { groups: ['others', 'admins'] }, ['admins']],
  ['a text', 'groups', { groups: 'admins' }, ['admins']],
  ['several', 'groups', { groups: ['/a b', 'CN=readers,OU=dns'] }, ['CN=readers,OU=dns', '/a b']],
  ['a claim within another', 'realm_access.roles', { realm_access: { roles: ['admins'] } }, ['admins']],
  ['a name with dots', 'https://example.net/groups', { 'https://example.net/groups': ['admins'] }, ['admins']],
  ['a name with dots above', 'a.b.c', { 'a.b': { c: ['admins'] } }, ['admins']],
] as const) {
  test(`groups are found: ${title}`, (t) => {
    t.deepEqual(groupsOf(config(path), claims), [...expected])
    t.true(hasGroups(config(path), claims))
  })
}

const ONLY = /^Only members of these groups may use this service: admins, CN=readers,OU=dns, \/a b\. /

for (const [title, path, claims, expected] of [
  ['no claim', 'groups', {}, /Example Company tells no groups of you \(claim “groups”\)\.$/],
  ['no group', 'groups', { groups: [] }, /You are in none of them\.$/],
  ['other groups', 'groups', { groups: ['admin', 'Admins', 'admins '] }, /You are in none of them\.$/],
  ['a text with several', 'groups', { groups: 'admins others' }, /You are in none of them\.$/],
  ['a property of all objects', 'constructor.name', {}, /tells no groups/],
  ['a claim within a text', 'groups.a', { groups: 'admins' }, /tells no groups/],
] as const) {
  test(`nobody is let in: ${title}`, (t) => {
    const { message } = t.throws(() => groupsOf(config(path), claims), { instanceOf: Denied })
    t.regex(message, ONLY)
    t.regex(message, expected)
  })
}

test('a claim that only links to the groups, or has another form, is named', (t) => {
  for (const claims of [
    { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.example.net' } } },
    { hasgroups: true },
  ]) {
    t.regex(
      t.throws(() => groupsOf(config(), claims)).message,
      /only where your groups are, not which \(claim “groups”\)/,
    )
  }
  for (const groups of [{ admins: true }, [{ name: 'admins' }], 1, null]) {
    t.regex(t.throws(() => groupsOf(config(), { groups })).message, /“groups” of Example Company is neither a text nor/)
  }
})

test('without the setting, everybody is let in', (t) => {
  const without = readConfig({ ...ENVIRONMENT, OIDC_GROUPS: '' })
  t.is(groupsOf(without, {}), undefined)
  t.true(hasGroups(without, {}))
})
