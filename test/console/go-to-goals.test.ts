import test from 'ava'
import { goalsFor } from '../../console/frame/goals.ts'

const RIGHTS = { mayCreate: true, mayManageTokens: true, mayChange: () => true, maySee: () => true }
const texts = (typed: string, domains: string[], rights: Parameters<typeof goalsFor>[2] = RIGHTS) =>
  goalsFor(typed, domains, rights).map(({ text }) => text)

test('before anything is typed, there are the domains in their order, the pages, and acts of the first domain', (t) => {
  t.deepEqual(texts('', ['b.example', 'a.example']), [
    ...['b.example', 'a.example'],
    ...[
      'Domains',
      'Add domain',
      'Import zone file',
      'Search',
      'Activity',
      'Tokens',
      'Create token',
      'Members',
      'Webhooks',
      'Account',
    ],
    ...['Add record to b.example', 'History of b.example', 'DNSSEC of b.example'],
    ...['Nameservers of b.example', 'Zone file of b.example', 'Settings of b.example'],
  ])
})

test('words in any order and case find domains, pages and acts', (t) => {
  const domains = ['shop.example', 'blog.example']
  t.deepEqual(texts('SHOP zone', domains), ['Zone file of shop.example'])
  t.deepEqual(texts('add blog', domains), ['Add record to blog.example'])
  t.deepEqual(texts('token', domains), ['Tokens', 'Create token'])
  t.deepEqual(texts('log.ex', domains)[0], 'blog.example')
  t.deepEqual(texts('nothing of this', domains), [])
})

test('what the token may not do is not offered', (t) => {
  const rights = {
    mayCreate: false,
    mayManageTokens: false,
    mayChange: (name: string) => name !== 'read.example',
    maySee: (part: string) => part !== 'members',
  }
  t.deepEqual(texts('add', ['read.example', 'write.example'], rights), ['Add record to write.example'])
  t.deepEqual(texts('create', ['read.example'], rights), [])
  t.deepEqual(texts('members', [], rights), [])
})

test('of thousands of goals, fifty are offered', (t) => {
  const domains = Array.from({ length: 2_000 }, (_, i) => `d${i}.example`)
  t.is(texts('example', domains).length, 50)
  t.deepEqual(texts('history d1999.', domains), ['History of d1999.example'])
})
