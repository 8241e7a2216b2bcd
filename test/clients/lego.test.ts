import { test } from '../support/serial.ts'
import { usePlace } from './support/clients.ts'
import { getsCertificate } from './support/lego.ts'

const place = usePlace()

test('lego gets a certificate for a name and its wildcard with a token for only that RRset, and deletes its records', async (t) => {
  await getsCertificate(t, place(), 'lego.test', 'lego 4', 0)
})

test("lego 4 does so by PowerDNS' API", async (t) => {
  await getsCertificate(t, place(), 'lego4.test', "lego with PowerDNS' API", 1)
})
