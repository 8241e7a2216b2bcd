import { newDomain, type ShownDomain } from '../../support/clients/api.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

/** A name of `length` characters that ends in `own.test`. */
function longName(length: number): string {
  const labels = `${'a'.repeat(60)}.`.repeat(5).slice(0, length - '.own.test'.length)
  return `${labels.replace(/\.$/, 'a')}.own.test`
}

/** A name, and which of the account's domains own.test, sub.own.test and a_b.own.test contains it. */
const ROWS: [qname: string, domain: string | undefined][] = [
  ['own.test', 'own.test'],
  ['OWN.Test', 'own.test'],
  ['www.own.test', 'own.test'],
  ['a.b.c.own.test', 'own.test'],
  ['*.own.test', 'own.test'],
  ['*.www.own.test', 'own.test'],
  ['_acme-challenge.own.test', 'own.test'],
  ['_acme-challenge.www.own.test', 'own.test'],
  ['_443._tcp.own.test', 'own.test'],
  ['sub.own.test', 'sub.own.test'],
  ['*.sub.own.test', 'sub.own.test'],
  ['a.sub.own.test', 'sub.own.test'],
  ['a_b.own.test', 'a_b.own.test'],
  ['asub.own.test', 'own.test'],
  ['axb.own.test', 'own.test'],
  [longName(191), 'own.test'],
  [longName(192), 'own.test'],
  [longName(253), 'own.test'],
  [longName(254), undefined],
  [`*.${longName(253)}`, 'own.test'],
  ['own.test.', undefined],
  ['@', undefined],
  ['@.own.test', undefined],
  ['*', undefined],
  ['*.', undefined],
  ['*.*.own.test', undefined],
  ['a.*.own.test', undefined],
  ['a*.own.test', undefined],
  ['', undefined],
  ['.own.test', undefined],
  ['a..own.test', undefined],
  [' own.test', undefined],
  ['own.test\0', undefined],
  ['\u00fc.own.test', undefined],
  [`${'a'.repeat(64)}.own.test`, undefined],
  ['own.te_st', undefined],
  ['test', undefined],
  ['xown.test', undefined],
  ['other.test', undefined],
  ['foreign.test', undefined],
  ['www.foreign.test', undefined],
]

test('owns_qname returns the longest own domain that contains the name, without keys, or none', async (t) => {
  const { api } = await service().account()
  const other = await service().account()
  await newDomain(other.api, 'foreign.test')
  for (const name of ['sub.own.test', 'own.test', 'a_b.own.test']) await newDomain(api, name)
  const listed = (await api.get('/domains/')).json as ShownDomain[]
  for (const [qname, name] of ROWS) {
    const answer = await api.get(`/domains/?owns_qname=${encodeURIComponent(qname)}`)
    t.is(answer.status, 200, qname)
    t.is(answer.text, JSON.stringify(listed.filter((domain) => domain.name === name)), qname)
  }
})
