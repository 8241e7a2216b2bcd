import test from 'ava'
import { notAsked, serving } from '../../console/domains/serving.ts'

test('which nameservers serve a domain is told by name or number, and how many were not asked', (t) => {
  const at = (name: string, status = 'INSYNC') => ({ name, status })
  t.is(serving([at('ns1.shop.test.')]), 'ns1.shop.test')
  t.is(serving([at('ns1.shop.test.', 'PENDING')]), '0 of 1 nameserver')
  t.is(serving([at('ns1.shop.test.'), at('ns2.shop.test.', 'UNREACHABLE')]), '1 of 2 nameservers')
  t.is(notAsked([at('ns1.shop.test.')], ['NS1.shop.test']), '')
  t.is(notAsked([at('ns1.shop.test.')], ['ns1.shop.test', 'ns2.shop.test']), ', 1 not asked')
})
